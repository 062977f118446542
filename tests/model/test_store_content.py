"""Model files whose checksums are right and whose contents are not: what a stranger can write."""

import json
import re
from contextlib import suppress
from functools import partial

import numpy as np
import pytest
from support import forged
from support.commands import ialspp, refuses
from support.forged import changed
from support.models import fitted
from support.stores import IDS, data_of, file_of, small

from ialspp import EpochRecord, ImplicitMF, Interactions, store
from ialspp.cli.info import show_info
from ialspp.cli.output import as_json
from ialspp.data.utf8 import Utf8
from ialspp.errors import IalsppError, SolveError
from ialspp.files.arrays import is_finite
from ialspp.files.container import Container
from ialspp.model.history import MOST_EPOCHS
from ialspp.store import StoreError


@pytest.fixture
def rewrite(tmp_path):
    """Make the small file with one thing changed, and right checksums."""
    return partial(forged.rewrite, tmp_path / "model", file_of(small))


# Numbers


def as_text(strings):
    return lambda _: Utf8.of(strings).data


WRONG_NUMBERS = [
    ("arrays/user_factors", changed(3, np.nan), "the vectors of users must be finite"),
    ("arrays/item_factors", changed(0, np.inf), "the vectors of items must be finite"),
    ("arrays/item_factors", changed(-1, -np.inf), "the vectors of items must be finite"),
    ("arrays/item_ids", changed(0, 3), "the item ids are wrong: item 3 is listed more than once"),
    ("arrays/user_ids.utf8", lambda a: a * 0 + ord("a"), "the user ids are wrong: ids must be distinct"),
    ("arrays/user_ids.utf8", changed(0, 255), "the user ids are wrong: ids must be UTF-8, "),
    ("arrays/user_ids.utf8", changed(0, 0x80), "the user ids are wrong: ids must be UTF-8, "),
    (
        "arrays/user_ids.order",
        lambda a: a[::-1].copy(),
        "the user ids are wrong: ids must be distinct",
    ),
    (
        "arrays/user_ids.order",
        changed(2, 6),
        "the user ids are wrong: the order of ids must have",
    ),
    (
        "arrays/user_ids.order",
        changed(2, -1),
        "the user ids are wrong: the order of ids must have",
    ),
    ("arrays/user_ids.order", lambda a: a * 0, "the user ids are wrong: ids must be distinct and in order"),
    ("arrays/user_ids.order", None, "the user ids are wrong: ids must be distinct and in order"),
    ("arrays/user_ids.offsets", changed(2, 2**62), "the user ids are wrong: offsets must rise from 0"),
    ("arrays/interactions.offsets", changed(2, -5), "the interactions are wrong: offsets must not decrease"),
    ("arrays/interactions.items", changed(0, 5), "the interactions are wrong: columns must be from 0 to 4"),
    ("arrays/interactions.items", changed(0, -1), "the interactions are wrong: columns must be from 0 to 4"),
    ("arrays/interactions.items", lambda a: a * 0, "the interactions are wrong: .* strictly ascend"),
    ("arrays/interactions.items", lambda a: a[::-1].copy(), "the interactions are wrong: .* strictly ascend"),
    ("arrays/interactions.labels", changed(1, np.nan), "the interactions are wrong: label must be finite"),
    ("arrays/interactions.weights", changed(1, np.inf), "the interactions are wrong: weight must be finite"),
    ("arrays/interactions.weights", changed(1, -1), "the interactions are wrong: weight must be >= 0"),
]
places = [f"{n} {wrong[0]}" for n, wrong in enumerate(WRONG_NUMBERS)]


@pytest.mark.parametrize(("place", "value", "message"), WRONG_NUMBERS, ids=places)
def test_every_verification_looks_at_the_numbers(rewrite, place, value, message):
    path = rewrite(place, value)
    says = rf"^{re.escape(str(path))} does not hold a whole model: {message}"
    unverified = ImplicitMF.load(path, verify=False)
    for question in (
        lambda: ImplicitMF.load(path),
        lambda: ImplicitMF.load(path, verify=True),
        lambda: ImplicitMF.load(path, mapped=False),
        lambda: store.verify(path),
        unverified.verify,
        lambda: unverified.save(path.with_name("again")),
        lambda: unverified.trained_on,
    ):
        with pytest.raises(StoreError, match=says):
            question()
    assert not path.with_name("again").exists()
    refuses("does not hold a whole model")(ialspp("info", path, "--verify"))
    assert ialspp("info", path).returncode == 0


@pytest.mark.parametrize(("place", "value"), [wrong[:2] for wrong in WRONG_NUMBERS], ids=places)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # numbers overflow
def test_an_unverified_model_answers_or_says_that_its_file_is_damaged(rewrite, place, value):
    model = ImplicitMF.load(rewrite(place, value), verify=False, threads=1)
    for question in (
        lambda: list(model.recommend(k=3)),
        lambda: list(model.recommend(["z", "", "\n"])),
        lambda: list(model.recommend_for([[5, 3], [1]])),
        lambda: list(model.similar_items([5, 2])),
        lambda: model.similar_users("z", metric="dot"),
        lambda: model.explain("z", 5),
        lambda: model.fold_in([[5]]),
        lambda: model.fold_in_items([["z", "", "a\0"]]),
        lambda: (list(model.users), list(model.items), repr(model)),
        lambda: model.update(Interactions.from_arrays(user=["z", "new"], item=[5, 77])),
    ):
        with suppress(IalsppError):
            question()


def test_a_system_that_only_a_forged_weight_makes_singular_is_an_error_of_ours(rewrite):
    path = rewrite("arrays/item_factors", np.ones_like)
    forged.rewrite(path, path.read_bytes(), "arrays/interactions.weights", lambda a: a * 0 - 2.0**127)
    model = ImplicitMF.load(path, verify=False)
    user = model.users[small().trained_on.by_user.counts.tolist().index(2)]
    with pytest.raises(SolveError, match="has no unique solution"):
        model.explain(user, 5)


@pytest.mark.parametrize("kind", IDS)
def test_a_sound_file_of_any_ids_is_verified(tmp_path, kind):
    model = fitted(data_of(kind))
    model.save(tmp_path / "model")
    store.verify(tmp_path / "model")
    grown = ImplicitMF.load(tmp_path / "model")
    grown.update(Interactions.from_arrays(user=IDS[kind][:1], item=["é!"] if kind == "string" else [11]))
    grown.save(tmp_path / "model")
    store.verify(tmp_path / "model")


@pytest.mark.parametrize("text", ["007", " 7", "1_0", "+7", "x", "٣", "9" * 5000, ""])
def test_large_integers_are_written_as_python_writes_them(tmp_path, text):
    fitted(data_of("digits")).save(tmp_path / "sound")
    strings = [str(value) for value in IDS["digits"]]
    strings[5] = text
    content = (tmp_path / "sound").read_bytes()
    path = forged.rewrite(tmp_path / "model", content, "arrays/item_ids.utf8", as_text(strings))
    path = forged.rewrite(
        path, path.read_bytes(), "arrays/item_ids.offsets", lambda _: Utf8.of(strings).offsets
    )
    for verify in (True, False):
        with pytest.raises(StoreError, match="the item ids are wrong"):
            ImplicitMF.load(path, verify=verify)


def test_numbers_are_finite_or_not():
    assert is_finite(np.empty((0, 3), np.float32))
    assert is_finite(np.array([3.4e38, -3.4e38, 0], np.float32))
    for odd in (np.nan, np.inf, -np.inf):
        for place in range(3):
            numbers = np.ones(3, np.float32)
            numbers[place] = odd
            assert not is_finite(numbers)


# Memory


def overlapping(offsets):
    """Every second row is the whole array."""
    return np.where(np.arange(len(offsets)) % 2, offsets[-1], [*[0] * (len(offsets) - 1), offsets[-1]])


def test_rows_that_overlap_ask_for_no_more_memory_than_there_is_data(rewrite):
    model = ImplicitMF.load(rewrite("arrays/user_ids.offsets", overlapping), verify=False)
    with pytest.raises(
        ValueError, match=r"offsets must rise from 0 to .*: the file that holds them is damaged"
    ):
        model.users.named(np.array([0, 2]))
    with pytest.raises(ValueError, match="offsets must rise"):
        list(model.users)
    model = ImplicitMF.load(rewrite("arrays/interactions.offsets", overlapping), verify=False)
    with pytest.raises(ValueError, match="offsets must rise"):
        model._fitted().data.by_user.take(np.array([0, 2]))


def test_a_row_may_be_asked_for_again_and_again(tmp_path):
    small().save(tmp_path / "model")
    model = ImplicitMF.load(tmp_path / "model")
    assert model.users.named(np.zeros(500, int)) == ["z"] * 500
    rows = model.trained_on.by_user.take(np.zeros(500, int))
    assert rows.counts.tolist() == [model.trained_on.by_user.counts[0]] * 500


def test_a_small_file_cannot_ask_for_a_large_gramian(tmp_path):
    data = Interactions.from_arrays(user=[1], item=[1])
    fitted(data, dim=4, epochs=0).save(tmp_path / "sound")
    content = (tmp_path / "sound").read_bytes()
    path = tmp_path / "model"
    for name in ("user", "item"):
        forged.rewrite(path, content, f"arrays/{name}_factors", lambda a: np.ones((len(a), 50_000), a.dtype))
        content = path.read_bytes()
    with pytest.raises(StoreError, match="vectors of 50000 numbers are too long for no more than 2 users"):
        ImplicitMF.load(path)


@pytest.mark.parametrize("width", [0, 2**16 + 1])
def test_vectors_have_a_width_that_a_model_can_have(rewrite, width):
    path = rewrite("arrays/user_factors", lambda a: np.ones((len(a), width), a.dtype))
    path = forged.rewrite(
        path, path.read_bytes(), "arrays/item_factors", lambda a: np.ones((len(a), width), a.dtype)
    )
    with pytest.raises(StoreError, match=f"vectors must have 1 to 65536 numbers, got {width}"):
        ImplicitMF.load(path, verify=False)


def test_arrays_that_start_at_odd_bytes_are_refused(tmp_path):
    content = file_of(small)
    length = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + length])
    metadata = header["__metadata__"]
    del metadata["checksums"], metadata["header_checksum"]
    text = json.dumps(header).encode()
    for odd in range(64):
        padded = text + b" " * (odd + -(8 + len(text)) % 64)
        (tmp_path / "model").write_bytes(len(padded).to_bytes(8, "little") + padded + content[8 + length :])
        if odd % 8 == 0:
            ImplicitMF.load(tmp_path / "model", verify=False)
        else:
            with pytest.raises(StoreError, match="must start at a multiple of"):
                ImplicitMF.load(tmp_path / "model", verify=False)


# Descriptions


def nested(depth):
    value = []
    for _ in range(depth):
        value = [value]
    return value


NAN = float("nan")
ODD_VALUES = [[], {}, "text", "\ud800", "\x1b[2J", True, 1.5, 10**400, NAN, [1], {"a": 1}, nested(300)]
REFUSED = [
    ("settings", []),
    ("settings/solver", "IALS"),
    ("settings/solver", {}),
    ("settings/solver/name", 5),
    ("settings/objective", None),
    ("settings/objective/exponent", [1]),
    ("settings/dim", [4]),
    ("fitted_solver", "IALS"),
    ("fitted_solver/relaxation", {}),
    ("statistics", [1]),
    ("statistics/users", [1]),
    ("statistics/pairs_per_user/least", [1]),
    ("history", {}),
    ("history", None),
    ("history", [1]),
    ("history", [[]]),
    ("history", [{}]),
    ("history", [{"epoch": 1}]),
    ("history/0/loss", "1"),
    ("history/0/loss", NAN),
    ("history/0/loss", True),
    ("history/0/seconds", 10**400),
    ("history/0/epoch", 1.5),
    ("history/0/precision", 1),
    ("history/0/more", 1),
    ("ids", "string"),
    ("ids/user", 5),
]


@pytest.mark.parametrize(
    ("place", "value"), REFUSED, ids=[f"{n} {wrong[0]}" for n, wrong in enumerate(REFUSED)]
)
def test_a_description_of_other_types_is_refused(rewrite, place, value):
    path = rewrite(f"description/{place}", None if value is None else lambda _: value)
    for question in (store.info, store.verify, ImplicitMF.load):
        with pytest.raises(StoreError, match=rf"^{re.escape(str(path))} does not hold a whole model: "):
            question(path)
    refuses("does not hold a whole model")(ialspp("info", path))


def parts_of(tree, path="description"):
    for key, value in tree.items() if isinstance(tree, dict) else enumerate(tree):
        yield f"{path}/{key}"
        if isinstance(value, (dict, list)):
            yield from parts_of(value, f"{path}/{key}")


@pytest.mark.parametrize("value", ODD_VALUES, ids=range(len(ODD_VALUES)))
def test_any_value_anywhere_is_shown_or_refused(rewrite, value):
    sound = Container.open(rewrite("metadata/more", "nothing"))
    for place in parts_of(json.loads(sound.metadata["description"])):
        if not place.endswith("/0"):  # of a list
            path = rewrite(place, lambda _: value)
            with suppress(StoreError):
                ImplicitMF.load(path)
            with suppress(StoreError):
                show_info({"file": str(path), **store.info(path)})
                as_json(store.info(path))


@pytest.mark.parametrize("name", ["a b", "\ud800", "\x1b[2J", ""])
@pytest.mark.parametrize("part", ["settings", "statistics", "fitted_solver"])
def test_strange_names_in_a_description_are_refused(rewrite, part, name):
    path = rewrite(f"description/{part}", lambda old: {**old, name: 1})
    with pytest.raises(StoreError, match="of its description has a strange name: "):
        store.info(path)


def test_the_records_of_as_many_epochs_as_a_model_may_have_can_be_kept(rewrite):
    names = ("loss", "observed", "unobserved", "regularization", "seconds")
    numbers = {**dict.fromkeys(names, 123456789.12345678), "relaxation": 1.2345678901234567}
    record = {"epoch": MOST_EPOCHS, **numbers}
    path = rewrite("description/history", [{**record, "precision": "single"}] * MOST_EPOCHS)
    assert path.stat().st_size > 5_000_000
    model = ImplicitMF.load(path)
    assert len(model.history) == MOST_EPOCHS
    assert model.history[-1] == EpochRecord(**record)

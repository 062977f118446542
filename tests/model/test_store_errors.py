"""Model files: what a wrong file says, and what cannot be saved."""

import io
import json
import pickle
import re
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import forged
from support.models import fitted, make_model, properties, same_bits
from support.stores import again, data_of, file_of, names, small

from ialspp import (
    IALS,
    ImplicitMF,
    Interactions,
    NotFittedError,
    SolveError,
    store,
)
from ialspp.files import container
from ialspp.model import saving
from ialspp.store import StoreError

# Wrong files


def said(question, path):
    """What an error says of the file, which it must name."""
    with pytest.raises(StoreError) as caught:
        question(path)
    assert str(path) in str(caught.value)
    return str(caught.value).replace(str(path), "")


def npz():
    file = io.BytesIO()
    np.savez(file, user_factors=np.zeros((3, 2), np.float32))
    return file.getvalue()


def safetensors(**metadata):
    """As another tool writes them: without checksums."""
    header = {"weight": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}, "__metadata__": metadata}
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + bytes(8)


OTHER_FILES = {
    "is empty": b"",
    "is cut short": b"ialspp",
    "not a file of ialspp": bytes(1000),
    "it looks like text": b"user,item\n1,2\n",
    "it looks like a zip archive": npz(),
    "it looks like a pickle": pickle.dumps({"user_factors": np.zeros(3)}),
    "not a model of ialspp": safetensors(),
    "is a safetensors file": safetensors(format="pt"),
    "does not say what": safetensors(format="ialspp"),
}
questions = pytest.mark.parametrize("question", [ImplicitMF.load, store.info, store.verify])


@questions
@pytest.mark.parametrize("message", OTHER_FILES)
def test_another_file_is_not_a_model(tmp_path, question, message):
    path = tmp_path / "data.ialspp"
    path.write_bytes(OTHER_FILES[message])
    assert message in said(question, path)


@questions
def test_no_file_and_a_folder_are_errors_that_name_it(tmp_path, question):
    for error, path in (FileNotFoundError, tmp_path / "missing"), (IsADirectoryError, tmp_path):
        with pytest.raises(error, match=re.escape(str(path))):
            question(path)


@questions
def test_a_file_cut_anywhere_is_an_error(tmp_path, question):
    path, whole = tmp_path / "model", file_of(small)
    for size in (*range(0, len(whole), 41), len(whole) - 1):
        path.write_bytes(whole[:size])
        assert re.search("is cut short|is empty", said(question, path))
    path.write_bytes(whole + b"\0")
    assert "has 1 bytes too many" in said(question, path)


def test_every_byte_of_a_small_file_is_checked(tmp_path):
    path, whole = tmp_path / "model", file_of(small)
    start = start_of_arrays(whole)
    for place in (*range(9), *range(9, start, 13), *range(start, len(whole))):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1 << place % 8]) + whole[place + 1 :])
        assert re.search("corrupt|cut short|too many|not a file of ialspp", said(ImplicitMF.load, path))


def start_of_arrays(file):
    return 8 + int.from_bytes(file[:8], "little")


def test_a_wrong_vector_is_found_where_the_file_is_verified(tmp_path, monkeypatch):
    path, whole = tmp_path / "model", bytearray(file_of(small))
    whole[whole.index(small().item_factors.tobytes())] ^= 1
    path.write_bytes(whole)
    message = "is corrupted: the checksum is wrong for 'item_factors'"
    assert message in said(store.verify, path)
    assert not same_bits(ImplicitMF.load(path, verify=False), small())
    monkeypatch.setattr(saving, "VERIFIED", len(whole) - 1)  # as if the file were large
    assert not same_bits(ImplicitMF.load(path), small())
    assert message in said(lambda path: ImplicitMF.load(path, verify=True), path)


def rewrite(path, place, value):
    """The small file with one thing changed, and right checksums."""
    return forged.rewrite(path, file_of(small), place, value)


def fractions(array):
    return array.astype({4: np.float64, 8: np.float32}[array.itemsize])


def one_more_at_the_end(offsets):
    return offsets + (offsets == offsets[-1])


def fall(offsets):
    return np.where(np.arange(len(offsets)) == 2, 0, offsets)


WRONG = [
    ("metadata/format_version", "4", "format 4, written by ialspp .* newer ialspp is required"),
    ("metadata/format_version", "one", "one"),
    ("metadata/format_version", None, "format_version"),
    ("metadata/description", None, "description"),
    ("metadata/description", "{", "what model"),
    ("metadata/description", "[1]", ""),
    ("metadata/description", "[" * 100_000, ""),
    ("description/settings", None, "settings"),
    ("description/settings/speed", lambda _: 1, "speed"),
    ("description/settings/epochs", -1, "epochs must be at least 0, got -1"),
    ("description/settings/solver/name", "Adam", "the solver 'Adam' is not known"),
    ("description/settings/solver", {"name": "IALS", "speed": 1}, "speed"),
    ("description/fitted_solver/name", "Adam", "the solver 'Adam' is not known"),
    ("description/history", None, "history"),
    ("description/history", [1], ""),
    ("description/ids", None, "ids"),
    ("description/ids/item", "uuid", "item"),
    ("arrays/user_factors", None, "user_factors"),
    ("arrays/item_factors", None, "item_factors"),
    ("arrays/item_ids", None, "item_ids"),
    ("arrays/user_ids.utf8", None, "user_ids.utf8"),
    ("arrays/interactions.items", None, "interactions.items"),
    ("arrays/item_ids", lambda a: a[1:], r"4 items do not fit factors of \(5, 2\)"),
    ("arrays/item_ids", fractions, "item"),
    ("arrays/user_factors", lambda a: a[:, :1], r"users .* \(6, 1\)"),
    ("arrays/user_factors", fractions, "user"),
    ("arrays/item_factors", np.ravel, "item"),
    ("arrays/user_ids.offsets", lambda a: a[:0], "user"),
    ("arrays/user_ids.offsets", one_more_at_the_end, "user"),
    ("arrays/user_ids.offsets", fall, "user"),
    ("arrays/user_ids.offsets", fractions, "user"),
    ("arrays/user_ids.order", lambda a: a[1:], "user"),
    ("arrays/interactions.offsets", lambda a: a[1:], "interactions do not fit 6 users"),
    ("arrays/interactions.offsets", one_more_at_the_end, "interactions do not fit 6 users"),
    ("arrays/interactions.offsets", fall, "interactions"),
    ("arrays/interactions.offsets", lambda a: a[None], "interactions"),
    ("arrays/interactions.offsets", fractions, "interactions"),
    ("arrays/interactions.items", fractions, "interactions"),
    ("arrays/interactions.labels", lambda a: a[1:], "interactions"),
    ("arrays/interactions.weights", fractions, "interactions"),
]
places = [f"{n} {wrong[0]}" for n, wrong in enumerate(WRONG)]


@pytest.mark.parametrize(("place", "value", "message"), WRONG, ids=places)
def test_a_file_that_is_whole_but_wrong_says_what_is_wrong(tmp_path, place, value, message):
    assert re.search(message, said(ImplicitMF.load, rewrite(tmp_path / "model", place, value)))


@pytest.mark.parametrize(("place", "value"), [wrong[:2] for wrong in WRONG], ids=places)
def test_info_of_a_wrong_file_is_an_answer_or_an_error_of_the_file(tmp_path, place, value):
    path = rewrite(tmp_path / "model", place, value)
    with suppress(StoreError):
        assert store.info(path)["bytes"] == path.stat().st_size


@contextmanager
def little_memory():
    """An array of absurd length is then an error, not the end of the process."""
    try:
        import resource

        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    except (ImportError, FileNotFoundError):
        yield
        return
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (used + 2**29, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


def ask_all(path):
    """Everything that a file may be asked; an error must speak of ids, of numbers or of the file."""
    new = Interactions.from_arrays(user=["z", "new"], item=[5, 77])
    with little_memory(), suppress(StoreError):
        store.info(path)
        model = ImplicitMF.load(path, verify=False, threads=2)
        for question in (
            lambda: model.recommend(k=3),
            lambda: model.recommend(["z", "", "\n"]),
            lambda: model.recommend_for([[5, 3], [1]]),
            lambda: model.similar_items([5, 2]),
            lambda: model.similar_users("z", metric="dot"),
            lambda: model.explain("z", 5),
            lambda: model.fold_in_items([["z", "", "a\0"]]),
            lambda: (list(model.users), list(model.items), repr(model)),
            lambda: model.save(path.with_name("again")),
            lambda: model.update(new),
        ):
            with suppress(ValueError, KeyError, SolveError):
                question()


@pytest.fixture(scope="module", name="folder")
def shared_folder(tmp_path_factory):
    return tmp_path_factory.mktemp("damaged")


noisy = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # numbers that overflow are among what comes out


@noisy
@given(st.lists(st.tuples(st.integers(0, 2**20), st.integers(1, 255)), min_size=1, max_size=4))
@properties
def test_a_damaged_file_that_is_not_verified_ends_nothing(folder, damage):
    whole = bytearray(file_of(small))
    start = start_of_arrays(whole)
    for place, bits in damage:
        whole[start + place % (len(whole) - start)] ^= bits
    (folder / "bytes").write_bytes(whole)
    ask_all(folder / "bytes")


def places_in(tree, path):
    for key, value in tree.items():
        yield f"{path}/{key}"
        if isinstance(value, dict):
            yield from places_in(value, f"{path}/{key}")


leaves = st.one_of(st.booleans(), st.integers(), st.floats(), st.text(max_size=3), st.just({}))


@noisy
@given(st.randoms(use_true_random=False), st.one_of(st.none(), leaves, st.lists(leaves, max_size=2)))
@properties
def test_a_strange_description_is_a_model_or_an_error(folder, random, value):
    description = json.loads(container.Container.open(written(folder)).metadata["description"])
    place = random.choice(sorted(places_in(description, "description")))
    ask_all(rewrite(folder / "description", place, value))


def written(folder):
    (folder / "small").write_bytes(file_of(small))
    return folder / "small"


SHAPES = [np.ravel, lambda a: a[1:], lambda a: a[None], lambda a: np.concatenate([a, a]), lambda a: a * 0]
dtypes = st.sampled_from([np.uint8, np.int32, np.int64, np.uint64, np.float32, np.float64])


@noisy
@given(st.randoms(use_true_random=False), dtypes, st.sampled_from(SHAPES))
@properties
def test_strange_arrays_are_a_model_or_an_error(folder, random, dtype, shape):
    name = random.choice(sorted(container.Container.open(written(folder)).arrays))
    ask_all(rewrite(folder / "arrays", f"arrays/{name}", lambda array: shape(array).astype(dtype)))


# What cannot be saved


def test_what_is_no_fitted_model_is_not_saved(tmp_path):
    with pytest.raises(NotFittedError, match="not fitted"):
        make_model().save(tmp_path / "model")
    with pytest.raises(TypeError, match="an ImplicitMF is required, got dict"):
        store.save({}, tmp_path / "model")
    assert names(tmp_path) == []


class Own(IALS):
    """A solver that no file can name."""


def test_a_solver_of_ones_own_is_an_error_with_a_way_out(tmp_path):
    model = fitted(data_of(), solver=Own())
    with pytest.raises(ValueError, match=r"SpectralCG, IALSpp, IALS, ICD, not .*set_params\(solver="):
        model.save(tmp_path / "model")
    assert names(tmp_path) == []
    assert same_bits(model, again(model.set_params(solver=IALS()), tmp_path / "model"))


def test_wrong_threads_are_not_the_fault_of_the_file(tmp_path):
    with pytest.raises(ValueError, match=r"^threads must be at least 1, got 0"):
        ImplicitMF.load(written(tmp_path), threads=0)


def test_a_place_that_cannot_be_written_is_an_error_that_names_it(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    for path in (tmp_path, tmp_path / "file" / "model", tmp_path / "missing" / "model"):
        with pytest.raises(OSError, match=re.escape(str(path))):
            small().save(path)
    assert names(tmp_path) == ["file"]

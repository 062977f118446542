"""Checkpoints whose checksums are right and whose contents are not."""

import json
import re
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from support import forged
from support.forged import changed
from support.models import make_data

from ialspp import ImplicitMF, SpectralCG
from ialspp.errors import IalsppError
from ialspp.files.container import Container
from ialspp.model.checkpoint import Checkpoint
from ialspp.model.fitting import fit_with_note
from ialspp.solvers.relaxation import best_relaxation
from ialspp.store import StoreError


def stop(*_):
    raise KeyboardInterrupt


@cache
def data():
    return make_data(n=20, users=8)


@cache
def sound():
    """The bytes of the checkpoint of a fit that was interrupted in its second epoch."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "checkpoint")
        model = ImplicitMF(4, epochs=3, solver=SpectralCG(), threads=1)
        with suppress(KeyboardInterrupt):
            fit_with_note(
                model, data(), until=1e-9, checkpoint=path, every=1, note={"who": [1]}, callbacks=[stop]
            )
        return path.read_bytes()


@pytest.fixture
def rewrite(tmp_path):
    """Make the checkpoint with one thing changed, and right checksums."""
    return partial(forged.rewrite, tmp_path / "checkpoint", sound())


def resume(path):
    return ImplicitMF.resume(path, data(), progress=False, threads=1)


def nested(depth):
    value = {}
    for _ in range(depth):
        value = {"a": value}
    return value


def test_the_checkpoint_goes_on(tmp_path):
    (tmp_path / "checkpoint").write_bytes(sound())
    assert len(resume(tmp_path / "checkpoint").history) == 3


NAN = float("nan")
WRONG = [
    ("arrays/user_factors", changed(0, np.nan), "its factors must be finite"),
    ("arrays/item_factors", changed(0, np.inf), "its factors must be finite"),
    ("arrays/user_factors", lambda a: a[1:], r"factors of the shapes \(7, 4\) and .* do not fit 8 users"),
    ("arrays/item_factors", lambda a: a[:, :3].copy(), "do not fit 8 users, 30 items and 4 dimensions"),
    ("arrays/item_factors", None, "the array 'item_factors' is missing"),
    ("description/data", None, "its description has no 'data'"),
    ("description/data", [], "'data' of its description must be dict, got list"),
    ("description/data/users", "8", "users must be of type int, got '8'"),
    ("description/data/sha256", 5, "sha256 must be of type str, got 5"),
    ("description/settings", [], "'settings' of its description must be dict, got list"),
    ("description/settings/dim", 5, "do not fit 8 users, 30 items and 5 dimensions"),
    ("description/settings/dim", "4", "dim must be an integer, got '4'"),
    ("description/settings/dim", None, "dim"),
    ("description/settings/seed", -1, "seed must be at least 0, got -1"),
    ("description/settings/more", 1, "more"),
    ("description/plan", [1], "'plan' of its description must be dict, got list"),
    ("description/plan/epochs", 1.5, "epochs must be an integer, got 1.5"),
    ("description/plan/earlier", 2, "2 epochs came before its fit, and it has 1"),
    ("description/plan/until", NAN, "until must be finite"),
    ("description/every", 0, "every must be at least 1, got 0"),
    ("description/every", "1", "every must be an integer, got '1'"),
    ("description/history", {}, "'history' of its description must be list, got dict"),
    ("description/history", [1], "an epoch must be a dict, got int"),
    ("description/history/0/loss", NAN, "loss of an epoch must be a number, got NaN"),
    ("description/history/0/relaxation", "auto", "relaxation of an epoch must be a number, got str"),
    ("description/finished", 1, "'finished' of its description must be bool, got int"),
    ("description/note", [], "'note' of its description must be dict, got list"),
    ("description/note", nested(30), "a note may be nested in 20 levels"),
]


@pytest.mark.parametrize(
    ("place", "value", "message"), WRONG, ids=[f"{n} {wrong[0]}" for n, wrong in enumerate(WRONG)]
)
def test_a_wrong_checkpoint_says_what_is_wrong(rewrite, place, value, message):
    path = rewrite(place, value if callable(value) or value is None else lambda _: value)
    with pytest.raises(
        StoreError, match=rf"^{re.escape(str(path))} does not hold a whole checkpoint: .*{message}"
    ):
        resume(path)


@pytest.mark.parametrize("description", ["", "[", "[]", "5", "[" * 5000, '{"a":' * 5000])
def test_a_description_that_is_none_is_refused(rewrite, description):
    path = rewrite("metadata/description", description)
    for question in (resume, Checkpoint.read):
        with pytest.raises(StoreError, match="checkpoint does not say what fit it belongs to: "):
            question(path)


def parts_of(tree, path="description"):
    for key, value in tree.items() if isinstance(tree, dict) else ():
        yield f"{path}/{key}"
        yield from parts_of(value, f"{path}/{key}")


@pytest.mark.parametrize("value", [[], {}, "text", True, -1, 10**400, NAN, [1], nested(300)], ids=range(9))
@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # numbers overflow
def test_any_value_anywhere_goes_on_or_is_refused(rewrite, value):
    content = Container.open(rewrite("metadata/more", "nothing")).metadata["description"]
    for place in parts_of(json.loads(content)):
        path = rewrite(place, lambda _: value)
        with suppress(StoreError):
            Checkpoint.read(path).info()
        with suppress(IalsppError):
            ImplicitMF.resume(path, data(), progress=False, threads=1, callbacks=[lambda *_: True])


def test_a_note_that_could_not_be_read_is_not_written(tmp_path):
    path = tmp_path / "checkpoint"
    for depth in (25, 5000):
        with pytest.raises((TypeError, ValueError), match="note"):
            fit_with_note(
                ImplicitMF(4, epochs=1), data(), until=None, checkpoint=path, every=1, note=nested(depth)
            )
    assert not path.exists()


class Epoch:
    """What a forged history can have."""

    def __init__(self, loss, relaxation):
        self.loss, self.relaxation = loss, relaxation


def test_losses_that_no_fit_has_choose_some_relaxation():
    past = [Epoch(loss, 0.5) for loss in (1e300, 1e-300, 0.0)]
    assert best_relaxation(past) == 0.5

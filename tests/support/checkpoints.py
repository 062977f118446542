"""Fits that are interrupted, and what goes on from their checkpoints."""

import runpy
from pathlib import Path

import numpy as np

from ialspp import ImplicitMF
from ialspp.model.checkpoint import Checkpoint
from ialspp.model.checkpointer import Checkpointer
from support.models import factors, losses, make_model, same_bits

GOLDEN = Path(__file__).parents[1] / "golden"


class Interrupted(KeyboardInterrupt):
    """What a test raises in the middle of a fit."""


def interrupting(*epochs):
    """A callback that interrupts after these epochs."""

    def callback(_model, record):
        if record.epoch in epochs:
            raise Interrupted

    return callback


def interrupted_halves(monkeypatch):
    """Return a list: a fit that keeps half epochs is interrupted after the half of each epoch in it."""
    epochs, keep_half = [], Checkpointer.keep_half

    def keep_and_interrupt(self, users, items, history, seconds):
        keep_half(self, users, items, history, seconds)
        if len(history) + 1 in epochs:
            raise Interrupted

    monkeypatch.setattr(Checkpointer, "keep_half", keep_and_interrupt)
    return epochs


def interrupted(path, data, *, at, every=1, until=None, callbacks=(), **settings):
    """Begin a fit with a checkpoint that is interrupted after an epoch."""
    model = make_model(**settings)
    try:
        model.fit(
            data,
            checkpoint=path,
            every=every,
            until=until,
            callbacks=[*callbacks, interrupting(at)],
            progress=False,
        )
    except Interrupted:
        return model
    raise AssertionError(f"epoch {at} was never reached")


def resumed(path, data, **options):
    return ImplicitMF.resume(path, data, progress=False, **options)


def check_golden(file, folder):
    """A checkpoint after 2 epochs of 4 that was made once goes on; return what was read.

    On another instruction set the last bits of its first epochs differ from those of a fit here.
    """
    made = runpy.run_path(GOLDEN / "make.py")
    data, path = made["interactions"](made["FIRST"]), folder / "c"
    path.write_bytes((GOLDEN / file).read_bytes())
    found, model = Checkpoint.read(path), resumed(path, data)
    whole = ImplicitMF(3, epochs=4, seed=11).fit(data, progress=False)
    assert [record.epoch for record in model.history] == [1, 2, 3, 4]
    assert {**model.get_params(), "threads": None} == whole.get_params()
    for vectors, expected in zip(factors(model), factors(whole), strict=True):
        np.testing.assert_allclose(vectors @ vectors.T, expected @ expected.T, rtol=1e-3, atol=1e-4)
    return found


def epochs_in(path):
    return len(Checkpoint.read(path).history)


def check_equal(model, other):
    """Everything but the seconds is the same."""
    assert same_bits(model, other)
    assert losses(model) == losses(other)
    records = [[(r.epoch, r.relaxation, r.precision) for r in each.history] for each in (model, other)]
    assert records[0] == records[1]
    assert model.fitted_solver == other.fitted_solver
    assert {**model.get_params(), "threads": 0} == {**other.get_params(), "threads": 0}
    assert (model.users, model.items) == (other.users, other.items)

"""Fits that are interrupted, and what goes on from their checkpoints."""

from ialspp import ImplicitMF
from ialspp.model.checkpoint import Checkpoint
from ialspp.model.checkpointer import Checkpointer
from support.models import losses, make_model, same_bits


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

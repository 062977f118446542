"""Training: epoch after epoch, until there are enough or the loss hardly falls."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ..data.csr import Floats, aligned
from ..data.ids import IdMap
from ..data.interactions import Interactions
from ..errors import InvalidValueError, NotFittedError
from ..solvers import Problem, Solver, by_halves, for_epoch, half_epoch_of
from ..solvers.start import PAPERS_STDDEV, random_start
from ..system.checks import checked_integer, checked_share
from .fitted import Embedding, Fitted
from .history import MOST_EPOCHS, EpochRecord


def run_epoch(
    solver: Solver,
    problem: Problem,
    past: Sequence[EpochRecord],
    *,
    last: bool = False,
    spent: float | None = None,
    at_half: Callable[[float], None] | None = None,
) -> EpochRecord:
    """Run the epoch after those given, and compute its loss.

    spent: the seconds of its first half, where that has been run already.
    at_half: called after the first half with its seconds.
    """
    start = time.perf_counter() - (spent or 0.0)
    settled = for_epoch(solver, problem, past, last=last)
    half_epoch = half_epoch_of(settled)
    if half_epoch is None or (spent is None and at_half is None):
        observed = settled.epoch(problem)
    else:
        report = None if at_half is None else lambda: at_half(time.perf_counter() - start)
        observed = by_halves(problem, half_epoch, begun=spent is not None, at_half=report)
    loss = problem.loss(observed)
    return EpochRecord(
        epoch=len(past) + 1,
        loss=loss.total,
        observed=loss.observed,
        unobserved=loss.unobserved,
        regularization=loss.regularization,
        seconds=time.perf_counter() - start,
        relaxation=getattr(settled, "relaxation", 1.0),
        precision=getattr(settled, "precision", "single"),
    )


@dataclass(frozen=True, slots=True)
class Plan:
    """When a fit ends. It depends on the records alone, so that a resumed fit ends where the first would."""

    epochs: int
    until: float | None = None  # stop once the loss falls by less than this share in an epoch
    earlier: int = 0  # epochs of the fits that this one continues

    def __post_init__(self) -> None:
        checked_integer("epochs", self.epochs, 0)
        checked_integer("earlier", self.earlier, 0)
        if self.earlier + self.epochs > MOST_EPOCHS:
            raise InvalidValueError(
                f"a model may have {MOST_EPOCHS:,} epochs, got {self.epochs:,} after {self.earlier:,}"
            )
        if self.until is not None:
            object.__setattr__(self, "until", checked_share("until", self.until))

    def done(self, records: Sequence[EpochRecord]) -> int:
        """Count the epochs of this fit alone."""
        return len(records) - self.earlier

    def is_done(self, records: Sequence[EpochRecord]) -> bool:
        """Tell whether these epochs were all."""
        if self.done(records) >= self.epochs or self._is_settled(records[:-1]):
            return True
        return self._is_settled(records) and records[-1].precision == "single"

    def is_last(self, records: Sequence[EpochRecord]) -> bool:
        """Tell whether the epoch after these is the last, which is one of single precision."""
        return self.done(records) == self.epochs - 1 or self._is_settled(records)

    def _is_settled(self, records: Sequence[EpochRecord]) -> bool:
        """Tell whether the loss hardly fell in the last of these epochs."""
        if self.until is None or self.done(records) < 2:
            return False
        return _fall(*records[-2:]) < self.until


def train(
    solver: Solver,
    problem: Problem,
    past: Sequence[EpochRecord],
    plan: Plan,
    spent: float | None = None,
    at_half: Callable[[float], None] | None = None,
) -> Iterator[EpochRecord]:
    """Run the epochs after those given, to the end of the plan. `run_epoch` has `spent` and `at_half`."""
    records = list(past)
    while not plan.is_done(records):
        last = plan.is_last(records)
        record = run_epoch(solver, problem, records, last=last, spent=spent, at_half=at_half)
        records.append(record.checked())
        spent = None  # later epochs begin at their beginning
        yield record


def _fall(before: EpochRecord, after: EpochRecord) -> float:
    """Return the share by which the loss fell."""
    return (before.loss - after.loss) / before.loss if before.loss > 0 else 0.0


def continued(state: Fitted | None, data: Interactions, dim: int, seed: int) -> tuple[Floats, Floats]:
    """Copy the factors of the last fit, to train them further."""
    if state is None:
        raise NotFittedError("warm_start continues an earlier fit, and there was none")
    state.require_sound()
    sides = state.users, state.items
    for side, new in zip(sides, (data.users, data.items), strict=True):
        if _trained_ids(side, len(new)) != new:
            raise InvalidValueError(
                f"warm_start needs the same {new.name}s in the same order as the last fit: "
                f"it had {side.ids!r}, this data has {new!r}"
            )
        if side.vectors.shape[1] != dim:
            raise InvalidValueError(
                f"warm_start needs the last fit's dim ({side.vectors.shape[1]}), got {dim}"
            )
    copies = aligned((data.n_users, dim)), aligned((data.n_items, dim))
    for copy, side in zip(copies, sides, strict=True):  # arrays handed out before must not change
        copy[:] = side.vectors[: len(copy)]
    _redraw_isolated_rows(data, copies, seed)
    return copies


def _trained_ids(side: Embedding, length: int) -> IdMap:
    """Return the ids of the first rows. A model with features may have others behind them, which are new."""
    if side.features is None or length >= len(side.ids):
        return side.ids
    return side.ids.selected(np.arange(length))


def _redraw_isolated_rows(data: Interactions, factors: tuple[Floats, Floats], seed: int) -> None:
    """Draw rows anew that an update left at zero: rows whose neighbours are all zero cannot move."""
    counts = data.by_user.counts, data.by_item.counts
    stuck = [~vectors.any(axis=1) & (n > 0) for vectors, n in zip(factors, counts, strict=True)]
    if any(rows.any() for rows in stuck):
        drawn = random_start(data, factors[0].shape[1], PAPERS_STDDEV, seed)
        for vectors, start, rows in zip(factors, drawn, stuck, strict=True):
            vectors[rows] = start[rows]

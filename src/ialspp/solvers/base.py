"""The problem that solvers work on: its two sides, and the primitives that solvers share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..data.csr import Floats
from ..data.features import Features
from ..data.ids import IdMap
from ..data.interactions import Interactions
from ..data.offsets import rows_of_a_file
from ..data.regression import FeatureRegression
from ..errors import SolveError
from ..objective import Loss, Objective, PartOfLoss, loss_of, penalties_of
from .half import HalfCopies
from .relaxation import PastEpoch


def gramian(factors: Floats, threads: int) -> NDArray[np.float64]:
    """Return H'H of the factors H, summed in double precision."""
    return _core.gramian(factors, 0, factors.shape[1], threads)


@dataclass(slots=True, eq=False)
class Side:
    """The users or the items during training: their rows, factors and regularisation."""

    ids: IdMap
    rows: _core.Rows
    factors: Floats
    regularization: Floats
    regression: FeatureRegression | None = None  # on the features, if there are any
    centres: Floats | None = None  # that the regularisation pulls to; None: zero
    # Of the current factors, once they were computed
    gramian: NDArray[np.float64] | None = None
    penalties: NDArray[np.float64] | None = None

    def to_update(self) -> tuple[_core.Rows, Floats, Floats]:
        """Return the arguments of a native call that changes the factors, and forget what depends on them."""
        self.gramian = self.penalties = None
        return self.rows, self.factors, self.regularization

    def check(self, failed_row: int) -> None:
        """Raise an error if an update reports a row without a finite solution."""
        if failed_row >= 0:
            raise no_finite_solution(self.ids.name, self.ids[failed_row], failed_row)


def no_finite_solution(name: str, identity: Any, row: int) -> SolveError:
    """Make the error for a row that overflows: it names the row and the remedy."""
    return SolveError(
        f"no finite solution for {name} {identity!r} ({name} row {row}): its numbers overflow single "
        "precision; scale its weights or labels down, or raise regularization"
    )


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """Both sides of one training run, and what they share."""

    data: Interactions
    users: Side
    items: Side
    unobserved_weight: float
    threads: int
    halves: HalfCopies = field(default_factory=HalfCopies)

    @classmethod
    def of(
        cls,
        data: Interactions,
        objective: Objective,
        users: Floats,
        items: Floats,
        threads: int,
        *,
        user_features: Features | None = None,
        item_features: Features | None = None,
    ) -> Problem:
        """Set up the minimisation of `objective` on `data`. Solvers update `users` and `items` in place."""
        user_lambda = objective.row_regularization(data.by_user.counts, data.n_items)
        item_lambda = objective.row_regularization(data.by_item.counts, data.n_users)
        on_users = FeatureRegression.of(user_features, data.users, user_lambda, threads)
        on_items = FeatureRegression.of(item_features, data.items, item_lambda, threads)
        return cls(
            data,
            Side(data.users, data.by_user.native(), users, user_lambda, on_users),
            Side(data.items, data.by_item.native(), items, item_lambda, on_items),
            objective.unobserved_weight,
            threads,
        )

    @property
    def dim(self) -> int:
        """The dimension d."""
        return int(self.users.factors.shape[1])

    @property
    def both_ways(self) -> tuple[tuple[Side, Side], tuple[Side, Side]]:
        """The pairs (side to update, side held fixed): users first, then items."""
        return (self.users, self.items), (self.items, self.users)

    def gramian(self, side: Side) -> NDArray[np.float64]:
        """Return H'H of a side's factors H, computed once until they change."""
        if side.gramian is None:
            side.gramian = gramian(side.factors, self.threads)
        return side.gramian

    def penalties(self, side: Side) -> NDArray[np.float64]:
        """Return the penalty on each dimension of a side's factors, computed once until they change."""
        if side.penalties is None:
            side.penalties = penalties_of(side.factors, side.regularization, self.threads, side.regression)
        return side.penalties

    def recentre(self, side: Side) -> None:
        """Move the centres of a side to where its features and its factors put them.

        A solver calls this before it updates the coordinates of a side. The centre of a coordinate depends on
        that coordinate of the factors alone, so that once an epoch is enough.
        """
        if side.regression is not None:
            side.centres = side.regression.centres(side.factors, side.centres)

    def gramian_columns(self, side: Side, begin: int, end: int) -> NDArray[np.float64]:
        """Return H' H[:, begin:end] of a side's factors H."""
        return _core.gramian(side.factors, begin, end, self.threads)

    def loss(self, observed: float) -> Loss:
        """Return the whole loss, given its observed part."""
        sides = (PartOfLoss(self.gramian(side), self.penalties(side)) for side in (self.users, self.items))
        return loss_of(observed, self.unobserved_weight, *sides)

    def residuals(self) -> Floats:
        """Compute the prediction cache: sqrt(a) (prediction - y) of every interaction, in the users' order.

        The first time, also tell the items' rows where their entries are in that order. This takes
        `Interactions.item_ranks`, which solvers without a cache never make.
        """
        if not self.items.rows.has_cache_order:
            with rows_of_a_file():  # whose rows by item may be those of other data
                self.items.rows.set_cache_order(self.data.by_user.offsets, self.data.item_ranks)
        return _core.residuals(self.users.rows, self.users.factors, self.items.factors, self.threads)


class Solver(Protocol):
    """An algorithm with its options: a frozen value."""

    def epoch(self, problem: Problem) -> float:
        """Update both sides once, in place, and return the observed part of the loss afterwards."""
        ...


def for_epoch(solver: Solver, problem: Problem, past: Sequence[PastEpoch], *, last: bool) -> Solver:
    """Return the solver with the settings that it takes for the epoch after those given."""
    settle = getattr(solver, "for_epoch", None)
    return solver if settle is None else settle(problem, past, last=last)


def pinned(solver: Solver, dim: int) -> Solver:
    """Return the solver with every "auto" replaced by the value it stands for at this dimension."""
    pin = getattr(solver, "pinned", None)
    return solver if pin is None else pin(dim)

"""The problem that solvers work on: its two sides, and what both share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..data.csr import Floats
from ..data.features import Features
from ..data.interactions import Interactions
from ..data.offsets import rows_of_a_file
from ..errors import InvalidValueError
from ..objective import Loss, Objective, PartOfLoss, loss_of
from .relaxation import PastEpoch
from .sides import LocalSide, Place, Side, ThisMachine


def gramian(factors: Floats, threads: int) -> NDArray[np.float64]:
    """Return H'H of the factors H, summed in double precision."""
    return _core.gramian(factors, 0, factors.shape[1], threads)


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """Both sides of one training run, and what they share."""

    data: Interactions
    users: Side
    items: Side
    unobserved_weight: float

    @classmethod
    def of(
        cls,
        data: Interactions,
        objective: Objective,
        users: Floats,
        items: Floats,
        place: Place | int,
        *,
        user_features: Features | None = None,
        item_features: Features | None = None,
    ) -> Problem:
        """Set up the minimisation of `objective` on `data`, from the factors `users` and `items`.

        place: a number of threads of this machine, where `users` and `items` are updated in place; or another
        place, where the sides of the problem have copies of them.
        """
        weights = (
            objective.row_regularization(np.diff(data.by_user.offsets), data.n_items),
            objective.row_regularization(np.diff(data.by_item.offsets), data.n_users),
        )
        there: Place = ThisMachine(place) if isinstance(place, int) else place
        sides = there.sides(data, (users, items), weights)
        for side, features in zip(sides, (user_features, item_features), strict=True):
            if features is not None:
                side.use_features(features)
        return cls(data, *sides, objective.unobserved_weight)

    @property
    def dim(self) -> int:
        """The dimension d."""
        return self.users.shape[1]

    @property
    def factors(self) -> tuple[Floats, Floats]:
        """The factors of users and items as they are now."""
        return self.users.factors, self.items.factors

    def gramian(self, side: Side) -> NDArray[np.float64]:
        """Return H'H of a side's factors H, computed once until they change."""
        if side.gramian is None:
            side.gramian = side.summed_gramian()
        return side.gramian

    def penalties(self, side: Side) -> NDArray[np.float64]:
        """Return the penalty on each dimension of a side's factors, computed once until they change."""
        if side.penalties is None:
            side.penalties = side.summed_penalties()
        return side.penalties

    def recentre(self) -> None:
        """Move the centres of both sides to where their features and their factors put them."""
        for side in (self.users, self.items):
            side.recentre()

    def loss(self, observed: float) -> Loss:
        """Return the whole loss, given its observed part."""
        sides = (PartOfLoss(self.gramian(side), self.penalties(side)) for side in (self.users, self.items))
        return loss_of(observed, self.unobserved_weight, *sides)

    def in_memory(self) -> CachedProblem:
        """Return the problem with a prediction cache, which only a problem on one machine can have."""
        if not (isinstance(self.users, LocalSide) and isinstance(self.items, LocalSide)):
            raise InvalidValueError(
                "iCD and the sweep by block keep a prediction of each interaction, and train on one machine "
                "only; a cluster trains with SpectralCG, IALS, and IALSpp a side at a time"
            )
        return CachedProblem.of(self.data, self.users, self.items)


@dataclass(frozen=True, slots=True, eq=False)
class CachedProblem:
    """The sides of a problem in memory, and the prediction cache.

    It has sqrt(a) (prediction - y) of every interaction, in the users' order.
    """

    users: LocalSide
    items: LocalSide
    residuals: Floats

    @classmethod
    def of(cls, data: Interactions, users: LocalSide, items: LocalSide) -> CachedProblem:
        """Compute the cache.

        The first time, also tell the items' rows where their entries are in it. This takes
        `Interactions.item_ranks`, which solvers without a cache never make.
        """
        if not items.rows.has_cache_order:
            with rows_of_a_file():  # whose rows by item may be those of other data
                items.rows.set_cache_order(data.by_user.offsets, data.item_ranks)
        return cls(users, items, _core.residuals(users.rows, users.factors, items.factors, users.threads))

    @property
    def both_ways(self) -> tuple[tuple[LocalSide, LocalSide], tuple[LocalSide, LocalSide]]:
        """The pairs (side to update, side held fixed): users first, then items."""
        return (self.users, self.items), (self.items, self.users)

    def observed(self) -> float:
        """Return the observed part of the loss."""
        return _core.squared_sum(self.residuals, self.users.threads)


class Solver(Protocol):
    """An algorithm with its options: a frozen value."""

    def epoch(self, problem: Problem) -> float:
        """Update both sides once, in place, and return the observed part of the loss afterwards."""
        ...


HalfEpoch = Callable[[Problem, Side, Side], float]
"""The update of one side, given the other: it returns the observed part of the loss if it is the second."""


def half_epoch_of(solver: Solver) -> HalfEpoch | None:
    """Return what a solver does twice an epoch, for the users and then for the items.

    It depends on the factors alone, so that an epoch can go on from its middle. None for a solver that goes
    to and fro between the sides.
    """
    half: HalfEpoch | None = getattr(solver, "half_epoch", None)
    return half


def by_halves(
    problem: Problem,
    half_epoch: HalfEpoch,
    *,
    begun: bool = False,
    at_half: Callable[[], None] | None = None,
) -> float:
    """Run an epoch: update the users, unless that was done before, call `at_half`, and update the items."""
    if not begun:
        half_epoch(problem, problem.users, problem.items)
        if at_half is not None:
            at_half()
    return half_epoch(problem, problem.items, problem.users)


def for_epoch(solver: Solver, problem: Problem, past: Sequence[PastEpoch], *, last: bool) -> Solver:
    """Return the solver with the settings that it takes for the epoch after those given."""
    settle = getattr(solver, "for_epoch", None)
    return solver if settle is None else settle(problem, past, last=last)


def pinned(solver: Solver, dim: int) -> Solver:
    """Return the solver with every "auto" replaced by the value it stands for at this dimension."""
    pin = getattr(solver, "pinned", None)
    return solver if pin is None else pin(dim)

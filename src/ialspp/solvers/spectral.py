"""SpectralCG, not in the paper: conjugate gradients in the eigenbasis of the Gramian."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..errors import InvalidValueError, SolveError
from ..objective import in_single_precision
from ..system.checks import checked_integer, checked_number
from ..system.locks import one_blas_thread
from .base import Problem, by_halves
from .half import unit_of, worth_halving
from .relaxation import PastEpoch, checked_relaxation, next_relaxation
from .sides import Fixed, Side, held_fixed

DEFAULT_STEPS = 2
MAX_STEPS = 2**31 - 1  # far more than any row needs, and an integer that native code can count to

LARGEST_CORRELATION = 0.01  # of two columns of a side that is nearly diagonal: the root mean square

LARGEST_BALANCE = 2.0**10  # keeps numbers away from overflow, and is far more than two sides need


@dataclass(frozen=True, slots=True, kw_only=True)
class SpectralCG:
    """Take a few steps of preconditioned conjugate gradients in every row, from its current vector.

    Before a side is updated, both are rotated into the eigenbasis of the other side's Gramian. That changes
    no score, but makes the Gramian diagonal: a step then costs one pass over the row's interactions, O(d |S|)
    an epoch and step, beside O(d^2 (|U| + |I|)) for the rotation and O(d^3) for its basis. On the way the
    penalties of both sides are balanced. A side with far fewer rows than the other stays in its coordinates
    if the Gramian is nearly diagonal in them.

    Parameters
    ----------
    steps
        The largest number of steps for each row. 2 where neither option is given, 2 d where only `tolerance`
        is.
    tolerance
        Stop a row once its step is this small relative to its vector. 1e-5 is as exact as iALS.
    relaxation
        How far a row moves on its way to the minimum that the steps found, between 0 and 2; 1 is right to it.
        "auto" goes past it, by a factor that follows from the losses so far, and needs fewer epochs.
    precision
        "mixed": read the side that is held fixed from a copy in half precision, in every epoch but the last.
        These epochs are faster, and the loss falls alike. "single": never. "auto": where the factors are so
        large that it pays. Steps to a `tolerance` always read single precision.

    Examples
    --------
    >>> ImplicitMF(dim=8, solver=SpectralCG(steps=3)).fit(data).recommend("cyd", k=1)
    ['milk']
    """

    steps: int | None = field(
        default=None, metadata={"help": f"most steps for each row. Default: {DEFAULT_STEPS}."}
    )
    tolerance: float | None = field(
        default=None, metadata={"help": "stop a row once its step is this small. 1e-5 is as exact as ials."}
    )
    relaxation: float | Literal["auto"] = field(
        default="auto", metadata={"help": "how far each row moves, between 0 and 2. Default: auto."}
    )
    precision: Literal["auto", "mixed", "single"] = field(
        default="auto", metadata={"help": "mixed reads half-precision copies; single; auto (the default)."}
    )

    def __post_init__(self) -> None:
        if self.tolerance is not None:
            object.__setattr__(self, "tolerance", checked_number("tolerance", self.tolerance))
        steps = DEFAULT_STEPS if self.steps is None and self.tolerance is None else self.steps
        if steps is not None:
            object.__setattr__(self, "steps", checked_integer("steps", steps, 1))
            if steps > MAX_STEPS:
                raise InvalidValueError(f"steps must be at most {MAX_STEPS}, got {steps}")
        if self.relaxation != "auto":
            object.__setattr__(self, "relaxation", checked_relaxation(self.relaxation))
        if self.precision not in ("auto", "mixed", "single"):
            raise InvalidValueError(f'precision must be "auto", "mixed" or "single", got {self.precision!r}')

    def for_epoch(self, problem: Problem, past: Sequence[PastEpoch], *, last: bool) -> SpectralCG:
        """Return the solver with the relaxation and the precision of the epoch after those given."""
        return replace(
            self,
            relaxation=next_relaxation(past) if self.relaxation == "auto" else self.relaxation,
            precision="single" if last else self._precision_for(problem),
        )

    def _precision_for(self, problem: Problem) -> Literal["mixed", "single"]:
        if self.precision == "single" or self.tolerance is not None or not _core.has_half():
            return "single"
        pays = worth_halving(problem.users.shape, problem.items.shape)
        return "mixed" if self.precision == "mixed" or pays else "single"

    def epoch(self, problem: Problem) -> float:
        """Improve all users, then all items."""
        return by_halves(problem, self.half_epoch)

    def half_epoch(self, problem: Problem, side: Side, other: Side) -> float:
        """Choose coordinates, take the steps in every row of a side, return the observed part of the loss."""
        rotation = self.rotation(problem, side, other)
        fixed = (
            self._fixed(problem, other) if rotation is None else self._rotated(problem, rotation, side, other)
        )
        side.recentre()
        curvature = problem.unobserved_weight * problem.gramian(other)
        return side.update(
            "improve_rows",
            fixed,
            in_single_precision(np.diag(curvature)),
            off_diagonal(curvature) if rotation is None else None,
            2 * problem.dim if self.steps is None else self.steps,
            self.tolerance or 0.0,
            1.0 if self.relaxation == "auto" else self.relaxation,
        )

    def rotation(self, problem: Problem, side: Side, other: Side) -> Rotation | None:
        """Choose the coordinates for an update of `side`; None where both sides stay in those they have.

        A rotation multiplies all rows of both sides by a matrix. Without it, each row of `side` is multiplied
        twice: for the gradient, and for the length of its way. So a side stays if it has far fewer rows than
        the other, whose Gramian is nearly diagonal anyway. With a tolerance it may take many steps, which
        are better taken in the eigenbasis.
        """
        few = 2 * side.shape[0] <= other.shape[0]
        if few and self.tolerance is None and is_nearly_diagonal(problem.gramian(other)):
            return None
        return Rotation.of(problem, side, other)

    def _fixed(self, problem: Problem, other: Side) -> Fixed:
        """Hold the other side fixed where it is."""
        return held_fixed(other, self._unit(problem, other, np.diag(problem.gramian(other))))

    def _rotated(self, problem: Problem, rotation: Rotation, side: Side, other: Side) -> Fixed:
        """Rotate both sides, and hold the other one fixed."""
        fixed = side.transform_with(
            rotation.balance[:, None] * rotation.basis,
            other,
            rotation.basis / rotation.balance[:, None],
            self._unit(problem, other, rotation.values),
        )
        other.gramian = np.diag(rotation.values)
        return fixed

    def _unit(self, problem: Problem, other: Side, values: NDArray[np.float64]) -> float | None:
        """Return the unit in which steps read the other side in half precision; None: they do not."""
        if self._precision_for(problem) == "single":
            return None
        return unit_of(values.sum() / math.prod(other.shape))


@dataclass(frozen=True, slots=True, eq=False)
class Rotation:
    """The coordinates of a half epoch: columns of one side times `balance`, of the other divided by it, then
    both sides rotated by `basis`, in which the other's Gramian is diagonal."""

    balance: NDArray[np.float64]
    basis: NDArray[np.float64]
    values: NDArray[np.float64]  # the diagonal of that Gramian

    @classmethod
    def of(cls, problem: Problem, side: Side, other: Side) -> Rotation:
        """Choose the coordinates for an update of `side`."""
        balance = balance_of(problem, side, other)
        gramian = problem.gramian(other) / np.outer(balance, balance)
        if not np.isfinite(gramian).all():
            raise SolveError(
                f"the {other.ids.name}s' factors overflow single precision; scale weights or labels down, or "
                "raise regularization"
            )
        values, basis = eigenbasis(gramian)
        return cls(balance, basis, values)


def balance_of(problem: Problem, side: Side, other: Side) -> NDArray[np.float64]:
    """Return c, one number a dimension, with which W diag(c) and H diag(1/c) have the smallest penalty.

    Scores stay the same. A dimension's penalties p and q become c^2 p and q / c^2, whose sum is smallest
    where they are equal. Training by itself takes many epochs to balance them.
    """
    p, q = problem.penalties(side), problem.penalties(other)
    ratio = np.divide(q, p, out=np.ones(problem.dim), where=(p > 0) & (q > 0))
    return np.clip(ratio**0.25, 1 / LARGEST_BALANCE, LARGEST_BALANCE)


def is_nearly_diagonal(gramian: NDArray[np.float64]) -> bool:
    """Say whether the columns of a side hardly correlate, so that the diagonal is a good preconditioner."""
    if not np.isfinite(gramian).all():
        return False
    lengths = np.sqrt(np.diag(gramian))
    scales = np.divide(1, lengths, out=np.zeros_like(lengths), where=lengths > 0)
    correlations = off_diagonal(gramian * np.outer(scales, scales))
    pairs = max(len(gramian) * (len(gramian) - 1), 1)
    return bool(np.sum(correlations**2) <= LARGEST_CORRELATION**2 * pairs)


def off_diagonal(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a square matrix with zeros on its diagonal."""
    return matrix - np.diag(np.diag(matrix))


def eigenbasis(gramian: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return eigenvalues (not negative) and eigenvectors of a Gramian, with the same bits on any threads."""
    with one_blas_thread():
        values, basis = np.linalg.eigh(gramian)
    return np.maximum(values, 0), basis

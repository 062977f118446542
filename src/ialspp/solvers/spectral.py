"""SpectralCG, not in the paper: conjugate gradients in the eigenbasis of the Gramian."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..errors import InvalidValueError, SolveError
from ..system.checks import checked_integer, checked_number
from ..system.locks import one_blas_thread
from .base import Problem, Side

DEFAULT_STEPS = 2
MAX_STEPS = 2**31 - 1  # far more than any row needs, and an integer that native code can count to


@dataclass(frozen=True, slots=True, kw_only=True)
class SpectralCG:
    """Take a few steps of preconditioned conjugate gradients in every row, from its current vector.

    Before a side is updated, both are rotated into the eigenbasis of the other side's Gramian. That
    changes no score and no part of the loss, but makes the Gramian diagonal: a step then costs one pass
    over the row's interactions, O(d |S|) an epoch and step, beside O(d^2 (|U| + |I|)) for the rotation.

    Parameters
    ----------
    steps
        The largest number of steps for each row. 2 where neither option is given, 2 d where only `tolerance`
        is.
    tolerance
        Stop a row once its step is this small relative to its vector. 1e-5 gives the result of iALS.
    """

    steps: int | None = field(
        default=None, metadata={"help": f"most steps for each row. Default: {DEFAULT_STEPS}."}
    )
    tolerance: float | None = field(
        default=None, metadata={"help": "stop a row once its step is this small. 1e-5 is as exact as ials."}
    )

    def __post_init__(self) -> None:
        if self.tolerance is not None:
            object.__setattr__(self, "tolerance", checked_number("tolerance", self.tolerance))
        steps = DEFAULT_STEPS if self.steps is None and self.tolerance is None else self.steps
        if steps is not None:
            object.__setattr__(self, "steps", checked_integer("steps", steps, 1))
            if steps > MAX_STEPS:
                raise InvalidValueError(f"steps must be at most {MAX_STEPS}, got {steps}")

    def epoch(self, problem: Problem) -> float:
        """Improve all users, then all items."""
        self.improve(problem, problem.users, problem.items)
        return self.improve(problem, problem.items, problem.users)

    def improve(self, problem: Problem, side: Side, other: Side) -> float:
        """Rotate both sides, take the steps in every row of one, and return the observed part of the loss."""
        gramian = problem.gramian(other)
        if not np.isfinite(gramian).all():
            raise SolveError(
                f"the {other.ids.name}s' factors overflow single precision; scale weights or labels down, or "
                "raise regularization"
            )
        values, basis = eigenbasis(gramian)
        _core.rotate(side.to_update()[1], other.to_update()[1], basis, problem.threads)
        other.gramian = np.diag(values)
        observed, failed_row = _core.improve_rows(
            *side.to_update(),
            other.factors,
            (problem.unobserved_weight * values).astype(np.float32),
            2 * problem.dim if self.steps is None else self.steps,
            self.tolerance or 0.0,
            problem.threads,
        )
        side.check(failed_row)
        return observed


def eigenbasis(gramian: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return eigenvalues (not negative) and eigenvectors of a Gramian, with the same bits on any threads."""
    with one_blas_thread():
        values, basis = np.linalg.eigh(gramian)
    return np.maximum(values, 0), basis

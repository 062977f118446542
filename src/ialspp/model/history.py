"""What is known of a training run."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..errors import SolveError


@dataclass(frozen=True, slots=True)
class EpochRecord:
    """What one epoch left behind: the loss, its three parts, and the seconds it took."""

    epoch: int
    loss: float
    observed: float
    unobserved: float
    regularization: float
    seconds: float

    def checked(self) -> EpochRecord:
        """Itself; an error where a solver, perhaps one of your own, left vectors that are no numbers."""
        if math.isnan(self.loss):
            raise SolveError(f"the loss is not a number after epoch {self.epoch}: NaN is in a vector")
        return self

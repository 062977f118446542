"""The record of a training run."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..errors import SolveError


@dataclass(frozen=True, slots=True)
class EpochRecord:
    """One epoch: the loss after it, the three parts of the loss, the seconds it took, and its relaxation."""

    epoch: int
    loss: float
    observed: float
    unobserved: float
    regularization: float
    seconds: float
    relaxation: float = 1.0

    def checked(self) -> EpochRecord:
        """Return the record, or raise an error if a solver (perhaps your own) left NaN in a vector."""
        if math.isnan(self.loss):
            raise SolveError(f"the loss is not a number after epoch {self.epoch}: NaN is in a vector")
        return self

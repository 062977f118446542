"""The record of a training run."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..errors import SolveError


@dataclass(frozen=True, slots=True)
class EpochRecord:
    """One epoch: the loss after it, its three parts, the seconds it took, and what an "auto" stood for.

    The loss is exact in an epoch of precision "single". In one of precision "mixed" the observed part is that
    of users rounded to half precision: on a million interactions the difference is about a millionth.
    """

    epoch: int
    loss: float
    observed: float
    unobserved: float
    regularization: float
    seconds: float
    relaxation: float = 1.0
    precision: str = "single"

    def checked(self) -> EpochRecord:
        """Return the record, or raise an error if the vectors are too large for a loss, or hold NaN."""
        if not math.isfinite(self.loss):
            raise SolveError(
                f"the loss is not finite after epoch {self.epoch}: vectors overflow single precision, or "
                "hold NaN; scale weights or labels down, or raise regularization"
            )
        return self

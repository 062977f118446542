"""The record of a training run."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import InvalidTypeError, InvalidValueError, SolveError
from ..solvers.relaxation import checked_relaxation
from ..system.checks import checked_integer


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

    @classmethod
    def of(cls, described: Mapping[str, Any], *, epoch: int) -> EpochRecord:
        """Restore the record of an epoch from a file, whose numbers the next epochs depend on."""
        record = cls(**described)
        if checked_integer("epoch", record.epoch, 1) != epoch:
            raise InvalidValueError(f"the record of epoch {epoch} is required, got that of {record.epoch}")
        for name in ("loss", "observed", "unobserved", "regularization", "seconds"):
            if not isinstance(value := getattr(record, name), (int, float)) or not math.isfinite(value):
                raise InvalidTypeError(f"{name} of epoch {epoch} must be a finite number, got {value!r}")
        checked_relaxation(record.relaxation)
        if record.precision not in ("single", "mixed"):
            raise InvalidValueError(f'precision must be "single" or "mixed", got {record.precision!r}')
        return record

    def checked(self) -> EpochRecord:
        """Return the record, or raise an error if the vectors are too large for a loss, or hold NaN."""
        if not math.isfinite(self.loss):
            raise SolveError(
                f"the loss is not finite after epoch {self.epoch}: vectors overflow single precision, or "
                "hold NaN; scale weights or labels down, or raise regularization"
            )
        return self

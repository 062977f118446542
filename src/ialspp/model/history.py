"""The record of a training run."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from ..errors import InvalidTypeError, InvalidValueError, SolveError

LARGEST_INTEGER = 2**53  # beyond it, not every integer is a float
MOST_EPOCHS = 25_000  # of a model: the header of a file holds no more records


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
    def restored(cls, described: Any) -> EpochRecord:
        """Make a record of what a file has for it: a dict of the fields, whose types are checked."""
        if type(described) is not dict:
            raise InvalidTypeError(f"an epoch must be a dict, got {type(described).__name__}")
        record = cls(**described)
        for name in cls.__slots__:
            _check_field(name, getattr(record, name))
        return record

    def checked(self) -> EpochRecord:
        """Return the record, or raise an error if the vectors are too large for a loss, or hold NaN."""
        if not math.isfinite(self.loss):
            raise SolveError(
                f"the loss is not finite after epoch {self.epoch}: vectors overflow single precision, or "
                "hold NaN; scale weights or labels down, or raise regularization"
            )
        return self


def _check_field(name: str, value: Any) -> None:
    if name == "precision":
        if type(value) is not str:
            raise InvalidTypeError(f"precision of an epoch must be a text, got {type(value).__name__}")
    elif type(value) is int:
        if abs(value) > LARGEST_INTEGER:
            raise InvalidValueError(f"{name} of an epoch must be at most {LARGEST_INTEGER}, and is more")
    elif type(value) is not float or name == "epoch":
        raise InvalidTypeError(f"{name} of an epoch must be a number, got {type(value).__name__}")
    elif math.isnan(value):
        raise InvalidValueError(f"{name} of an epoch must be a number, got NaN")

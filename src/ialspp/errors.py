"""The errors that this package raises on purpose; any other error that comes out of it is a bug. Its warning.

Each is an `IalsppError` and also the built-in error that callers expect, such as `ValueError`. The command
line shows an `IalsppError` as one line, and the traceback of anything else.
"""

from __future__ import annotations


class IalsppError(Exception):
    """The base class of all errors that the library raises on purpose."""


class InvalidValueError(IalsppError, ValueError):
    """A value that is not allowed; the message says what is required and what was given."""


class InvalidTypeError(IalsppError, TypeError):
    """A value of the wrong type; the message says what is required and what was given."""


class OutOfRangeError(IalsppError, IndexError):
    """A row number that is not one of a model's; the message says how many rows there are."""


class InvalidStateError(IalsppError, RuntimeError):
    """A call that the model or the machine cannot carry out as it is now."""


class NotFittedError(InvalidStateError):
    """A call that needs a fitted model, before `fit`."""


class SolveError(IalsppError, ArithmeticError):
    """A row's system has no finite solution; the message names the row and the remedy."""


class UnknownIdError(IalsppError, KeyError):
    """An id that is not in the data that the model was fitted on."""

    def __str__(self) -> str:
        return str(self.args[0])  # KeyError would print the message in quotes


class UnknownMetricError(UnknownIdError):
    """A metric that was not evaluated; the message lists those that were."""


class MissingExtraError(IalsppError, ImportError):
    """An optional package that is not installed; the message says how to install it."""


class WeightWarning(UserWarning):
    """Weights or labels so far apart that a few pairs decide what a model learns; the message says more."""

"""Errors a caller may want to tell apart; anything else is a ValueError or a TypeError."""

from __future__ import annotations


class NotFittedError(RuntimeError):
    """The model was asked something before `fit`."""


class SolveError(ArithmeticError):
    """A row's system has no finite solution; the message names the row and the remedy."""


class UnknownIdError(KeyError):
    """An id that the data the model was fitted on does not have."""

    def __str__(self) -> str:
        return str(self.args[0])  # KeyError would print the message in quotes

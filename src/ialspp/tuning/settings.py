"""What a training is run with, and what came of it."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields
from typing import Any, Literal

Kind = Literal["search", "polish", "repeat"]
Ending = Literal["no better", "all epochs", "pruned", "out of time", "failed"]
FAILED = float("-inf")  # the score of a training without one


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The settings that a search chooses.

    `regularization` is the one for exponent 1. With another exponent, trainings use the lambda that has the
    same total penalty, so that the two settings can be searched independently.
    """

    dim: int
    unobserved_weight: float
    regularization: float
    exponent: float = 1.0
    weights: str = "given"  # how weights are changed: "given" as they are, or a kind of `Weighting`
    item_power: float = 0.0
    user_power: float = 0.0

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one training gave: the score after each epoch, and how it ended."""

    scores: tuple[float, ...]
    seconds: float
    ending: Ending
    loss: tuple[float, float, float] | None = None  # observed, unobserved, penalty: after the best epoch
    error: str = ""  # why it failed

    @property
    def score(self) -> float:
        """The best score of all epochs."""
        return max(self.scores, default=FAILED)

    @property
    def best_epoch(self) -> int:
        """The epoch of that score, counted from 1: the first of equal ones."""
        return self.scores.index(self.score) + 1 if self.scores else 0

    @classmethod
    def restored(cls, described: dict[str, Any]) -> Outcome:
        """Make an outcome of what a journal has for it."""
        loss = described["loss"]
        return cls(
            tuple(described["scores"]),
            described["seconds"],
            described["ending"],
            None if loss is None else tuple(loss),
            described["error"],
        )


@dataclass(frozen=True, slots=True)
class Trial:
    """A training that a search has begun, and what came of it."""

    number: int
    settings: Settings
    seed: int
    kind: Kind
    outcome: Outcome | None = None  # None: it is running, or its process was killed
    spent: tuple[float, float] = field(default=(0.0, 0.0))  # when it began and ended, in Unix seconds

    @property
    def score(self) -> float:
        """Its best score; minus infinity without one."""
        return FAILED if self.outcome is None else self.outcome.score

    @property
    def seconds(self) -> float:
        """How long it took; 0 while it runs."""
        return 0.0 if self.outcome is None else self.outcome.seconds


def done(trials: list[Trial], *kinds: Kind) -> list[Trial]:
    """Return the trials of these kinds that have a score."""
    return [trial for trial in trials if trial.kind in kinds and trial.score > FAILED]


def best(trials: list[Trial]) -> Trial | None:
    """Return the trial with the highest score; the first of equal ones."""
    return max(trials, key=lambda trial: (trial.score, -trial.number), default=None)


NAMES = tuple(field.name for field in fields(Settings))

"""The best epoch of a fit: its scores decide when training stops, and its vectors are kept."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

from ..data.csr import Floats
from ..data.interactions import Interactions
from ..errors import InvalidStateError, InvalidValueError
from ..system.checks import checked_integer
from ..system.log import log
from .history import EpochRecord
from .side_features import SideFeatures


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """The scores of a fit's epochs so far, and the vectors of users and items after the best of them."""

    scores: tuple[float, ...] = ()
    vectors: tuple[Floats, Floats] | None = None

    @property
    def best(self) -> int:
        """How many epochs there were up to the best one, which is the first of equal ones; 0 if none."""
        return self.scores.index(max(self.scores)) + 1 if self.scores else 0


class BestEpoch(ABC):
    """A callback of `fit` that scores the model after every epoch, and keeps the best epoch.

    `fit` calls it before other callbacks and before it writes a checkpoint. It stops the training after
    `patience` epochs that are no better than the best one, and `fit` then goes back to the best epoch.
    """

    def __init__(self, patience: int) -> None:
        self.patience = checked_integer("patience", patience, 1)
        self._judged: Judged | None = None  # None before `fit` has begun
        self._earlier = 0

    @abstractmethod
    def score(self, model: Any) -> float:
        """Say how good an `ImplicitMF` is; more is better."""

    @abstractmethod
    def require_fit(self, data: Interactions, features: SideFeatures) -> None:
        """Raise an error unless models that are trained on this data, with these features, can be scored."""

    @abstractmethod
    def described(self) -> dict[str, Any]:
        """Describe as plain values what scores depend on. A resumed fit must be given an equal one."""

    @property
    def scores(self) -> list[float]:
        """The score after each epoch of the last fit, also of those after the best."""
        return list(self.judged.scores)

    @property
    def best_epoch(self) -> int:
        """The number of the best epoch, which is the last in the model's history."""
        return self._earlier + self.judged.best

    @property
    def best_score(self) -> float:
        """The score of the best epoch."""
        if not self.judged.scores:
            raise InvalidStateError("no epoch has ended, so there is no best one")
        return max(self.judged.scores)

    @property
    def judged(self) -> Judged:
        """What is known of the epochs so far."""
        if self._judged is None:
            raise InvalidStateError(
                f"{type(self).__name__} must be in the list of callbacks of a fit: fit(data, callbacks=[...])"
            )
        return self._judged

    @property
    def is_over(self) -> bool:
        """Whether the last epochs were no better than the best, as many as there is patience."""
        return len(self.judged.scores) - self.judged.best >= self.patience and bool(self.judged.scores)

    def begin(self, earlier: int, judged: Judged) -> None:
        """Get ready for a fit that follows on `earlier` epochs, and of which some may have been judged."""
        self._earlier, self._judged = earlier, judged

    def __call__(self, model: Any, record: EpochRecord) -> bool:
        """Judge the epoch that has just ended; true: stop."""
        before = self.judged
        snapshot = copy(model)  # because the next epoch changes the vectors of the model in place
        score = float(self.score(snapshot))
        if score != score:
            raise InvalidValueError(f"the score after epoch {record.epoch} must be a number, got {score}")
        is_best = not before.scores or score > max(before.scores)
        vectors = (snapshot.user_factors, snapshot.item_factors) if is_best else before.vectors
        self._judged = Judged((*before.scores, score), vectors)
        log(
            "epoch %d: score %.6g, best %.6g of epoch %d",
            record.epoch,
            score,
            self.best_score,
            self.best_epoch,
        )
        return self.is_over


def best_epoch_among(callbacks: Sequence[Any]) -> BestEpoch | None:
    """Find the callback that keeps the best epoch; two of them would not agree."""
    found = [callback for callback in callbacks if isinstance(callback, BestEpoch)]
    if len(found) > 1:
        raise InvalidValueError(
            f"callbacks may have one {type(found[0]).__name__}, which chooses the epoch to keep, got "
            f"{len(found)}"
        )
    return found[0] if found else None

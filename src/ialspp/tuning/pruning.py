"""Which trainings are hopeless after some epochs."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from .settings import Trial, done

FIRST = 6  # trials of a d that always run to their end: nothing is known to compare them with
EPOCHS = 3  # after which a training may be pruned: earlier ones say little of the best
HOPELESS = 0.95  # share of the best score after as many epochs


def is_hopeless(scores: Sequence[float], dim: int, trials: list[Trial]) -> bool:
    """Tell whether a training with these scores so far will not become one of the best.

    It is hopeless if it is worse than half of the trials with this d were after as many epochs, and far from
    the best of them. Scores rise to a cap and fall again, so the best of the epochs so far counts.
    """
    others = [trial for trial in done(trials, "search", "polish") if trial.settings.dim == dim]
    if len(scores) < EPOCHS or len(others) < FIRST:
        return False
    then = [max(trial.outcome.scores[: len(scores)]) for trial in others if trial.outcome is not None]
    return max(scores) < min(median(then), HOPELESS * max(then))

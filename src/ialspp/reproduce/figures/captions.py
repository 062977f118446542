"""What is to be seen in the figures, in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ..grid import SPECTRAL_NAME, Configuration
from ..run import Run

TITLES = {
    "figure-1a": "Figure 1a. Seconds per epoch over the embedding dimension d",
    "figure-1b": "Figure 1b. Seconds per epoch over the block size",
    "figure-2": "Figure 2. Final quality over the block size",
    "figure-3": "Figure 3. Quality over epochs",
    "figure-4": "Figure 4. Quality over training time",
}
ENDS = (
    "A line begins at block size 1, which is iCD (square), and ends at block size d, which is iALS (circle); "
    "between them is iALS++."
)
BRACKETS = "The number in brackets is the block size of iALS++."
DASHED, LEVEL, STRIP = (
    "dashed",
    "a dashed level, as it has no blocks",
    "apart on the right, as it has no blocks",
)
TOGETHER = "The runs are laid over each other; line style and filling of the markers say which is which."


def caption(key: str, runs: Sequence[Run]) -> str:
    """A few sentences to stand below the figure."""
    sentences = {
        "figure-1a": _over_dims,
        "figure-1b": _over_blocks,
        "figure-2": _final,
        "figure-3": _over_epochs,
        "figure-4": _over_time,
    }[key](runs)
    return " ".join([*filter(None, sentences), *([TOGETHER] if len(runs) > 1 else [])])


def _over_dims(runs: Sequence[Run]) -> list[str]:
    first = f"Seconds of one epoch for each d, {_rounds(runs)}; both axes are logarithmic."
    start = "Its lines begin where d is larger than the block: a block of d is iALS."
    return [first, BRACKETS, start, _spectral(_timed(runs), DASHED)]


def _over_blocks(runs: Sequence[Run]) -> list[str]:
    first = f"Seconds of one epoch for each block size, {_rounds(runs)}; both axes are logarithmic."
    return [first, ENDS, _spectral(_timed(runs), LEVEL)]


def _final(runs: Sequence[Run]) -> list[str]:
    several = max(_seeds(runs)) > 1
    bars = "; bars reach from the lowest seed to the highest" if several else ""
    return [f"Quality after the last epoch, {_mean(runs)}{bars}.", ENDS, _spectral(_trained(runs), STRIP)]


def _over_epochs(runs: Sequence[Run]) -> list[str]:
    return [f"Quality after each epoch, {_mean(runs)}.", BRACKETS, _spectral(_trained(runs), DASHED)]


def _over_time(runs: Sequence[Run]) -> list[str]:
    first = f"Quality after each epoch over the seconds of training until then, {_mean(runs)}; "
    ends = "A line begins after the first epoch and ends after the last."
    return [first + "the time axis is logarithmic.", ends, BRACKETS, _spectral(_trained(runs), DASHED)]


def _spectral(measured: Sequence[Configuration], place: str) -> str:
    if all(each.solver != SPECTRAL_NAME for each in measured):
        return ""
    return f"{SPECTRAL_NAME} ({place}) is a solver of this library and not in the paper."


def _timed(runs: Sequence[Run]) -> list[Configuration]:
    return [each for run in runs for each in run.timed()]


def _trained(runs: Sequence[Run]) -> list[Configuration]:
    return [each for run in runs for each in run.trained()]


def _rounds(runs: Sequence[Run]) -> str:
    timed = (Counter(t.task.configuration for t in run.timings if t.task.share == 1) for run in runs)
    counts = [count for each in timed for count in each.values()]
    return "measured once" if max(counts) == 1 else f"the best of {_range(counts)} rounds"


def _mean(runs: Sequence[Run]) -> str:
    counts = _seeds(runs)
    return "from one seed" if max(counts) == 1 else f"the mean of {_range(counts)} seeds"


def _seeds(runs: Sequence[Run]) -> list[int]:
    return [len(run.trainings_of(each)) for run in runs for each in run.trained()]


def _range(counts: Sequence[int]) -> str:
    low, high = min(counts), max(counts)
    return str(low) if low == high else f"{low} to {high}"

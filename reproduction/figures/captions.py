"""The titles of the figures, and what can be seen in them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from ..grid import SPECTRAL, Configuration
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


def caption(key: str, run: Run) -> str:
    """Describe the figure of that key in a few sentences."""
    rounds = Counter(t.task.configuration for t in run.timings if t.task.share == 1).values()
    seeds = Counter(t.task.configuration for t in run.trainings).values()
    timed = "measured once" if max(rounds, default=1) == 1 else f"the best of {_range(rounds)} rounds"
    mean = "from one seed" if max(seeds, default=1) == 1 else f"the mean of {_range(seeds)} seeds"
    bars = "" if max(seeds, default=1) == 1 else "; bars reach from the lowest seed to the highest"
    sentences = {
        "figure-1a": [
            f"Seconds of one epoch for each d, {timed}; both axes are logarithmic. {BRACKETS}",
            "Its lines begin where d is larger than the block, since a block of d is iALS.",
            _spectral(run.timed(), "dashed"),
        ],
        "figure-1b": [
            f"Seconds of one epoch for each block size, {timed}; both axes are logarithmic. {ENDS}",
            _spectral(run.timed(), "a dashed level, as it has no blocks"),
        ],
        "figure-2": [
            f"Quality after the last epoch, {mean}{bars}. {ENDS}",
            _spectral(run.trained(), "apart on the right, as it has no blocks"),
        ],
        "figure-3": [
            f"Quality after each epoch, {mean}. {BRACKETS}",
            _spectral(run.trained(), "dashed"),
        ],
        "figure-4": [
            f"Quality after each epoch over the seconds of training until then, {mean}; the time axis is "
            f"logarithmic. A line begins after the first epoch and ends after the last. {BRACKETS}",
            _spectral(run.trained(), "dashed"),
        ],
    }
    return " ".join(filter(None, sentences[key]))


def _spectral(measured: Sequence[Configuration], place: str) -> str:
    if all(each.solver != SPECTRAL for each in measured):
        return ""
    return f"{SPECTRAL} ({place}) is a solver of this library and not in the paper."


def _range(counts: Iterable[int]) -> str:
    low, high = min(counts), max(counts)
    return str(low) if low == high else f"{low} to {high}"

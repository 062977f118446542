"""The titles of the figures, and what can be seen in them."""

from ..grid import SPECTRAL
from ..run import Run

TITLES = {
    "figure-1a": "Figure 1a. Seconds per epoch over the embedding dimension d",
    "figure-1b": "Figure 1b. Seconds per epoch over the block size",
    "figure-2": "Figure 2. Final quality over the block size",
    "figure-3": "Figure 3. Quality over epochs",
    "figure-4": "Figure 4. Quality over training time",
}
_BRACKETS = "The number in brackets is the block size of iALS++."
_ENDS = (
    "A line begins at block size 1, which is iCD (square), and ends at block size d, which is iALS (circle); "
    "between them is iALS++."
)
_CAPTIONS = {
    "figure-1a": "Seconds of one epoch for each d, {timed}; both axes are logarithmic. "
    f"{_BRACKETS} Its lines begin where d is larger than the block, since a block of d is iALS.",
    "figure-1b": f"Seconds of one epoch for each block size, {{timed}}; both axes are logarithmic. {_ENDS}",
    "figure-2": f"Quality after the last epoch, {{mean}}; bars span all seeds. {_ENDS}",
    "figure-3": f"Quality after each epoch, {{mean}}. {_BRACKETS}",
    "figure-4": "Quality after each epoch over the seconds of training until then, {mean}; the time axis is "
    f"logarithmic. A line begins after the first epoch and ends after the last. {_BRACKETS}",
}
_SPECTRAL = {
    "figure-1b": "a dashed level: it has no blocks",
    "figure-2": "on the right: it has no blocks",
}


def caption(key: str, run: Run) -> str:
    rounds = 1 + max((timing.task.round for timing in run.timings), default=0)
    seeds = len({training.task.seed for training in run.trainings})
    timed = f"the best of up to {rounds} rounds" if rounds > 1 else "measured once"
    text = _CAPTIONS[key].format(
        timed=timed, mean=f"the mean of up to {seeds} seeds" if seeds > 1 else "from one seed"
    )
    measured = run.timed() if key.startswith("figure-1") else run.trained()
    if all(each.solver != SPECTRAL for each in measured):
        return text
    place = _SPECTRAL.get(key, "dashed")
    return f"{text} {SPECTRAL} ({place}) is a solver of this library and not in the paper."

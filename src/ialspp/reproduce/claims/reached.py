"""When a training has converged: in epochs and in seconds."""

from __future__ import annotations

from collections.abc import Sequence

from ..grid import Configuration
from ..run import Run
from .thresholds import CONVERGED


def learned(run: Run, configuration: Configuration) -> bool:
    """Whether its final quality is more than 0 in every metric; else there is nothing to converge to."""
    return all(max(run.final(metric, configuration)) > 0 for metric in run.settings.metrics)


def epochs_to_converge(run: Run, configuration: Configuration, metric: str | None = None) -> float:
    """Until 99 % of the final quality, interpolated between epochs; at least one."""
    return _reached(run.curve(metric or run.main_metric, configuration))


def seconds_to_converge(run: Run, configuration: Configuration) -> float:
    """The same in seconds of training."""
    epochs = epochs_to_converge(run, configuration)
    elapsed = [0.0, *run.elapsed(configuration)]
    whole = int(epochs)
    return elapsed[whole] + (epochs - whole) * (elapsed[min(whole + 1, len(elapsed) - 1)] - elapsed[whole])


def _reached(curve: Sequence[float]) -> float:
    target = CONVERGED * curve[-1]
    after = next(place for place, value in enumerate(curve) if value >= target)
    if after == 0:
        return 1.0
    before = curve[after - 1]
    return after + (target - before) / (curve[after] - before)

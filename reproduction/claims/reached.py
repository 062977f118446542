"""When a training has converged, in epochs and in seconds."""

from ..grid import Configuration
from ..run import Run
from .thresholds import CONVERGED


def has_learned(run: Run, configuration: Configuration) -> bool:
    """Tell whether its final quality is above 0 in every metric; else there is nothing to converge to."""
    return all(max(run.final(metric, configuration)) > 0 for metric in run.settings.metrics)


def epochs_to_converge(run: Run, configuration: Configuration, metric: str | None = None) -> float:
    """Count the epochs until 99 % of the final quality, interpolated; at least one."""
    qualities = run.quality_by_epoch(metric or run.main_metric, configuration)
    target = CONVERGED * qualities[-1]
    after = next(place for place, value in enumerate(qualities) if value >= target)
    if after == 0:
        return 1.0
    before = qualities[after - 1]
    return after + (target - before) / (qualities[after] - before)


def seconds_to_converge(run: Run, configuration: Configuration) -> float:
    """Count the seconds of training until then."""
    epochs = epochs_to_converge(run, configuration)
    elapsed = [0.0, *run.elapsed(configuration)]
    complete = int(epochs)
    following = elapsed[min(complete + 1, len(elapsed) - 1)]
    return elapsed[complete] + (epochs - complete) * (following - elapsed[complete])


def trained_with(run: Run, *solvers: str) -> dict[int, list[Configuration]]:
    """List what was trained with these solvers, and learned, at each d where all of them did."""
    trained = {
        dim: [c for c in run.trained() if c.dim == dim and c.solver in solvers and has_learned(run, c)]
        for dim in run.trained_dims()
    }
    return {dim: own for dim, own in trained.items() if {each.solver for each in own} == set(solvers)}

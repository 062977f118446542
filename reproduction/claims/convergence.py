"""Claims about convergence over epochs."""

from ..grid import IALS, IALSPP, ICD, PAPER_SOLVERS, Configuration
from ..run import Run, metric_label
from .blocks import is_around_64
from .comparisons import TOGETHER
from .findings import Finding, at_dims, decided, duration, needs, number, percent
from .leads import convergence_lead
from .reached import epochs_to_converge, seconds_to_converge, trained_with
from .thresholds import LAST_EPOCHS, PAPER_BLOCK, PAPER_EPOCHS, SETTLED, SIMILAR_EPOCHS


def solvers_converge_alike(run: Run) -> Finding:
    trained = trained_with(run, *PAPER_SOLVERS)
    if not trained:
        return needs(TOGETHER)
    epochs = {dim: {each: epochs_to_converge(run, each) for each in own} for dim, own in trained.items()}
    ranges = {dim: f"{min(e.values()):.1f} to {max(e.values()):.1f}" for dim, e in epochs.items()}
    widest = max(epochs.values(), key=lambda e: max(e.values()) - min(e.values()))
    first, last = min(widest, key=widest.__getitem__), max(widest, key=widest.__getitem__)
    alike = widest[last] - widest[first] <= SIMILAR_EPOCHS
    return decided(at_dims(ranges, "epochs"), alike, _behind(run, first, last))


def _behind(run: Run, first: Configuration, last: Configuration) -> str:
    """Say how far the last one is when the first has converged."""
    early, late = epochs_to_converge(run, first), epochs_to_converge(run, last)
    epoch = max(1, round(early))
    qualities = run.quality_by_epoch(run.main_metric, last)
    share = percent(qualities[epoch - 1] / qualities[-1])
    return (
        f"{first} has converged after {early:.1f} epochs, {last} after {late:.1f}: "
        f"after epoch {epoch} it is at {share} of its final quality"
    )


def metrics_converge_alike(run: Run) -> Finding:
    """Judge whether the other metrics converge in about as many epochs as the main one."""
    others = [metric for metric in run.settings.metrics if metric != run.main_metric]
    trained = trained_with(run, *PAPER_SOLVERS)
    if not others or not trained:
        return needs(f"{TOGETHER}, with two metrics or more")
    apart = {
        (each, metric): abs(epochs_to_converge(run, each, metric) - epochs_to_converge(run, each))
        for own in trained.values()
        for each in own
        for metric in others
    }
    worst, metric = max(apart, key=apart.__getitem__)
    most = {dim: max(by for (each, _), by in apart.items() if each.dim == dim) for dim in trained}
    unit = f"epochs from {metric_label(run.main_metric)}"
    told = f"at most {at_dims({dim: f'{by:.1f}' for dim, by in most.items()}, unit)}"
    epochs = {name: epochs_to_converge(run, worst, name) for name in (metric, run.main_metric)}
    late = ", ".join(f"{metric_label(name)} after {value:.1f} epochs" for name, value in epochs.items())
    return decided(told, apart[worst, metric] <= SIMILAR_EPOCHS, f"{worst}: {late}")


def is_settled(run: Run) -> Finding:
    trained = trained_with(run, *PAPER_SOLVERS)
    if not trained or run.settings.epochs < PAPER_EPOCHS:
        return needs(f"{TOGETHER} for {PAPER_EPOCHS} epochs")
    before, end = PAPER_EPOCHS - LAST_EPOCHS - 1, PAPER_EPOCHS - 1
    qualities = {c: run.quality_by_epoch(run.main_metric, c) for own in trained.values() for c in own}
    changes = {c: abs(values[end] - values[before]) / (values[end] or 1.0) for c, values in qualities.items()}
    worst = max(changes, key=changes.__getitem__)
    most = {dim: percent(max(changes[each] for each in own)) for dim, own in trained.items()}
    told = f"the last {LAST_EPOCHS} epochs change at most {at_dims(most)}"
    values = f"{qualities[worst][before]:.4f} after epoch {before + 1} to {qualities[worst][end]:.4f}"
    change = f"{worst}: {metric_label(run.main_metric)} goes on from {values}"
    return decided(told, changes[worst] <= SETTLED, change)


def icd_is_slightly_slower(run: Run) -> Finding:
    """Judge whether iCD needs slightly more epochs than iALS, and than iALS++ with a block of about 64."""
    near = {
        dim: [c for c in own if c.solver != IALSPP or is_around_64(c.block or 0)]
        for dim, own in trained_with(run, *PAPER_SOLVERS).items()
    }
    complete = {dim: own for dim, own in near.items() if {c.solver for c in own} == set(PAPER_SOLVERS)}
    return _slightly_slower(run, complete, f"{TOGETHER}, iALS++ with a block of about {PAPER_BLOCK}")


def ials_is_slightly_faster(run: Run) -> Finding:
    return _slightly_slower(run, trained_with(run, ICD, IALS), "iCD and iALS trained at one d")


def _slightly_slower(run: Run, trained: dict[int, list[Configuration]], needed: str) -> Finding:
    """Judge whether iCD converges after all others, but not by much."""
    if not trained:
        return needs(needed)
    later: dict[int, dict[Configuration, float]] = {}
    for dim, own in trained.items():
        epochs = {each: epochs_to_converge(run, each) for each in own}
        icd = epochs.pop(Configuration(dim, 1))
        later[dim] = {each: icd - value for each, value in epochs.items()}
    least = {d: round(min(e.values()), 1) + 0.0 for d, e in later.items()}  # 0.0, and never -0.0
    told = f"iCD later by {at_dims({d: f'{by:.1f}' for d, by in least.items()}, 'epochs')}"
    wrong = [each for e in later.values() for each, by in e.items() if not 0 < by <= SIMILAR_EPOCHS]
    if not wrong:
        return Finding(told, True)
    worst = max(wrong, key=lambda each: abs(later[each.dim][each]))
    pair = (Configuration(worst.dim, 1), worst)
    return Finding(told, False, _behind(run, *(pair if later[worst.dim][worst] < 0 else pair[::-1])))


def converges_within_one_epoch_of_icd(run: Run) -> Finding:
    steps = [convergence_lead(run, ICD, other).steps.get(128) for other in (IALSPP, IALS)]
    if None in steps:
        return needs(f"{', '.join(PAPER_SOLVERS)} trained at d = 128")
    one = run.elapsed(Configuration(128, 1))[0]
    seconds = {step.fast: seconds_to_converge(run, step.fast) for step in steps if step is not None}
    told = ", ".join(f"{each.solver} {duration(value)}" for each, value in seconds.items())
    late = max(seconds, key=seconds.__getitem__)
    epochs = epochs_to_converge(run, late)
    pace = f"{late} needs {epochs:.1f} epochs of {duration(seconds[late] / epochs)}"
    why = f"{pace}: an epoch of iCD is as long as {number(one * epochs / seconds[late])} of them"
    return decided(f"{told}; an epoch of iCD {duration(one)}, d = 128", seconds[late] <= one, why)

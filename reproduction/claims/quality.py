"""Claims about final quality."""

from statistics import fmean, median

from ..grid import IALS, Configuration
from ..published import IALS_2022, published_for
from ..run import Run, metric_label
from .findings import Finding, Judge, at_dims, decided, needs, number, percent
from .reached import has_learned, trained_with
from .thresholds import FLAT


def same_quality(*solvers: str) -> Judge:
    """Judge whether all block sizes of these solvers end at the same quality, by all metrics."""

    def judge(run: Run) -> Finding:
        trained = trained_with(run, *solvers)
        if not trained:
            return needs(f"{', '.join(solvers)} trained at one d")
        ranges = {
            (dim, metric): _range(run, metric, own)
            for dim, own in trained.items()
            for metric in run.settings.metrics
        }
        widest = {d: percent(max(ranges[d, metric] for metric in run.settings.metrics)) for d in trained}
        dim, metric = max(ranges, key=ranges.__getitem__)
        holds = ranges[dim, metric] <= FLAT
        return decided(f"range {at_dims(widest)}", holds, _outlier(run, metric, trained[dim]))

    return judge


def _range(run: Run, metric: str, own: list[Configuration]) -> float:
    values = [fmean(run.final(metric, each)) for each in own]
    return (max(values) - min(values)) / fmean(values)


def _outlier(run: Run, metric: str, own: list[Configuration]) -> str:
    """Say which block size is off, by how much, and whether chance explains it."""
    values = {each: fmean(run.final(metric, each)) for each in own}
    middle = median(values.values())
    worst = max(own, key=lambda each: abs(values[each] - middle))
    off = _apart(values[worst], middle)
    text = f"{metric_label(metric)} of {worst} is {off} the median of all, {number(middle)}"
    return f"{text}; {_chance(run, metric, own, max(values.values()) - min(values.values()))}"


def _apart(value: float, other: float) -> str:
    return f"{percent(abs(value / other - 1))} {'above' if value > other else 'below'}"


def _chance(run: Run, metric: str, own: list[Configuration], width: float) -> str:
    finals = [run.final(metric, each) for each in own]
    if max(map(len, finals)) < 2:
        return "one seed cannot tell whether that is chance"
    spread = max(max(values) - min(values) for values in finals)
    verdict = "explains" if spread >= width else "does not explain"
    seeds = f"the seeds of one block size are up to {number(spread)} apart"
    return f"{seeds}, which {verdict} the {number(width)}"


def matches_published(run: Run) -> Finding:
    """Judge the quality of iALS by the study that the paper's hyperparameters are from."""
    reported = [p for p in published_for(run.data) if (p.system, p.source) == (IALS, IALS_2022)]
    pairs = {Configuration(each.dim or 0, each.dim): each.metrics for each in reported}
    rows = [
        (own, metric, fmean(run.final(metric, own)), theirs)
        for own, metrics in pairs.items()
        for metric, theirs in metrics.items()
        if own in run.trained() and has_learned(run, own) and metric in run.settings.metrics
    ]
    if not rows:
        return needs("iALS trained where that study reports it: MovieLens 1M with --protocol ncf, --dim 64")
    told = "; ".join(f"{metric_label(m)} {ours:.4f} ({theirs:.4f}), {own}" for own, m, ours, theirs in rows)
    own, metric, ours, theirs = max(rows, key=lambda row: abs(row[2] / row[3] - 1))
    if abs(ours / theirs - 1) <= FLAT:
        return Finding(told, True)
    off = f"{metric_label(metric)} is {_apart(ours, theirs)} the published"
    return Finding(told, False, f"{off}; {_chance(run, metric, [own], abs(ours - theirs))}")

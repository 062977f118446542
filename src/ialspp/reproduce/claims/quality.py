"""Claims on final quality, judged by what a run trained."""

from __future__ import annotations

from statistics import fmean, median

from ..grid import IALS_NAME, IALSPP_NAME, ICD_NAME, Configuration
from ..published import IALS_2022, for_data
from ..run import Run, metric_label
from .findings import Finding, at_dims, needs, number, percent
from .reached import learned
from .thresholds import FLAT

ALL_THREE = (ICD_NAME, IALS_NAME, IALSPP_NAME)


def flat(run: Run) -> Finding:
    """Final quality over block sizes, for all metrics and every d that was trained."""
    return _same_quality(run, *ALL_THREE)


def indistinguishable(run: Run) -> Finding:
    """Final quality of iALS and iCD."""
    return _same_quality(run, ICD_NAME, IALS_NAME)


def _same_quality(run: Run, *solvers: str) -> Finding:
    curves = with_solvers(run, *solvers)
    if not curves:
        return needs(f"{', '.join(solvers)} trained at one d")
    ranges = {
        (dim, metric): _range(run, metric, own)
        for dim, own in curves.items()
        for metric in run.settings.metrics
    }
    widest = {dim: max(ranges[dim, metric] for metric in run.settings.metrics) for dim in curves}
    told = f"range {at_dims({dim: percent(value) for dim, value in widest.items()})}"
    dim, metric = max(ranges, key=ranges.__getitem__)
    if ranges[dim, metric] <= FLAT:
        return Finding(told, True)
    return Finding(told, False, _outlier(run, metric, curves[dim]))


def _range(run: Run, metric: str, own: list[Configuration]) -> float:
    values = [fmean(run.final(metric, each)) for each in own]
    return (max(values) - min(values)) / fmean(values)


def _outlier(run: Run, metric: str, own: list[Configuration]) -> str:
    """Which block size is off, by how much, and whether chance is enough to explain it."""
    values = {each: fmean(run.final(metric, each)) for each in own}
    middle = median(values.values())
    worst = max(own, key=lambda each: abs(values[each] - middle))
    off = percent(abs(values[worst] / middle - 1))
    side = "above" if values[worst] > middle else "below"
    text = f"{metric_label(metric)} of {worst} is {off} {side} the median of all, {number(middle)}"
    return f"{text}; {_chance(run, metric, own, max(values.values()) - min(values.values()))}"


def _chance(run: Run, metric: str, own: list[Configuration], width: float) -> str:
    finals = [run.final(metric, each) for each in own]
    if max(map(len, finals)) < 2:
        return "with one seed there is no telling whether that is chance"
    spread = max(max(values) - min(values) for values in finals)
    verdict = "explains" if spread >= width else "does not explain"
    return (
        f"the seeds of one block size are up to {number(spread)} apart, which {verdict} the {number(width)}"
    )


def matches_published(run: Run) -> Finding:
    """Quality of iALS, beside what the study reports that the paper has its hyperparameters from."""
    reported = [each for each in for_data(run.data) if (each.system, each.source) == (IALS_NAME, IALS_2022)]
    pairs = {Configuration(each.dim or 0, each.dim): each.metrics for each in reported}
    rows = [
        (own, metric, fmean(run.final(metric, own)), theirs)
        for own, metrics in pairs.items()
        for metric, theirs in metrics.items()
        if own in run.trained() and learned(run, own) and metric in run.settings.metrics
    ]
    if not rows:
        return needs("iALS trained where that study reports it: MovieLens 1M with --protocol ncf, --dim 64")
    told = "; ".join(f"{metric_label(m)} {ours:.4f} ({theirs:.4f}), {own}" for own, m, ours, theirs in rows)
    own, metric, ours, theirs = max(rows, key=lambda row: abs(row[2] / row[3] - 1))
    if abs(ours / theirs - 1) <= FLAT:
        return Finding(told, True)
    side = "above" if ours > theirs else "below"
    off = f"{metric_label(metric)} is {percent(abs(ours / theirs - 1))} {side} the published"
    return Finding(told, False, f"{off}; {_chance(run, metric, [own], abs(ours - theirs))}")


def with_solvers(run: Run, *solvers: str) -> dict[int, list[Configuration]]:
    """What was trained of these solvers and learned, at each d where all of them did."""
    trained = {
        dim: [c for c in run.trained() if c.dim == dim and c.solver in solvers and learned(run, c)]
        for dim in run.trained_dims()
    }
    return {dim: own for dim, own in trained.items() if {each.solver for each in own} == set(solvers)}

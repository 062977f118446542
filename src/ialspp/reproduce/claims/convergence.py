"""Claims on convergence, over epochs and over seconds, judged by what a run trained."""

from __future__ import annotations

from dataclasses import replace

from ..grid import IALS_NAME, IALSPP_NAME, ICD_NAME, Configuration
from ..run import Run, metric_label
from .blocks import around_64
from .findings import Finding, at_dims, both, duration, needs, number, percent
from .leads import AT_ALL, beyond_100, epoch_lead, larger, spans, wall_lead
from .quality import ALL_THREE, flat, with_solvers
from .reached import epochs_to_converge, seconds_to_converge
from .thresholds import (
    ABOUT_AN_ORDER,
    EQUAL,
    LAST_EPOCHS,
    NEAR_100,
    NEARLY_TWO_ORDERS,
    ORDER,
    PAPER_BLOCK,
    PAPER_EPOCHS,
    SETTLED,
    SIMILAR_EPOCHS,
    TWICE,
)

TOGETHER = f"{', '.join(ALL_THREE)} trained at one d"

# Over epochs


def similar_convergence(run: Run) -> Finding:
    """All solvers and block sizes have converged after about as many epochs."""
    curves = with_solvers(run, *ALL_THREE)
    if not curves:
        return needs(TOGETHER)
    epochs = {dim: {each: epochs_to_converge(run, each) for each in own} for dim, own in curves.items()}
    told = at_dims(
        {d: f"{min(e.values()):.1f} to {max(e.values()):.1f}" for d, e in epochs.items()}, "epochs"
    )
    widest = max(epochs.values(), key=lambda e: max(e.values()) - min(e.values()))
    first, last = min(widest, key=widest.__getitem__), max(widest, key=widest.__getitem__)
    if widest[last] - widest[first] <= SIMILAR_EPOCHS:
        return Finding(told, True)
    return Finding(told, False, _behind(run, first, last))


def _behind(run: Run, first: Configuration, last: Configuration) -> str:
    """How far the last one is when the first has converged."""
    epoch = max(1, round(epochs_to_converge(run, first)))
    curve = run.curve(run.main_metric, last)
    share = percent(curve[epoch - 1] / curve[-1])
    return (
        f"{first} has converged after {epochs_to_converge(run, first):.1f} epochs, {last} after "
        f"{epochs_to_converge(run, last):.1f}: after epoch {epoch} it is at {share} of its final quality"
    )


def similar_metrics(run: Run) -> Finding:
    """The other metrics converge as the main one does."""
    others = [metric for metric in run.settings.metrics if metric != run.main_metric]
    curves = with_solvers(run, *ALL_THREE)
    if not others or not curves:
        return needs(f"{TOGETHER}, with two metrics or more")
    apart = {
        (each, metric): epochs_to_converge(run, each, metric) - epochs_to_converge(run, each)
        for own in curves.values()
        for each in own
        for metric in others
    }
    worst = max(apart, key=lambda key: abs(apart[key]))
    most = {dim: max(abs(by) for (each, _), by in apart.items() if each.dim == dim) for dim in curves}
    unit = f"epochs from {metric_label(run.main_metric)}"
    told = f"at most {at_dims({dim: f'{by:.1f}' for dim, by in most.items()}, unit)}"
    if abs(apart[worst]) <= SIMILAR_EPOCHS:
        return Finding(told, True)
    each = worst[0]
    epochs = {metric: epochs_to_converge(run, each, metric) for metric in (worst[1], run.main_metric)}
    late = ", ".join(f"{metric_label(metric)} after {value:.1f} epochs" for metric, value in epochs.items())
    return Finding(told, False, f"{each}: {late}")


def settled(run: Run) -> Finding:
    """The last of 16 epochs change little, for every solver and block size."""
    trained = with_solvers(run, *ALL_THREE)
    if not trained or run.settings.epochs < PAPER_EPOCHS:
        return needs(f"{TOGETHER} for {PAPER_EPOCHS} epochs")
    before, end = PAPER_EPOCHS - LAST_EPOCHS - 1, PAPER_EPOCHS - 1
    curves = {each: run.curve(run.main_metric, each) for own in trained.values() for each in own}
    changes = {each: abs(curve[end] - curve[before]) / (curve[end] or 1.0) for each, curve in curves.items()}
    worst = max(changes, key=changes.__getitem__)
    most = {dim: percent(max(changes[each] for each in own)) for dim, own in trained.items()}
    told = f"the last {LAST_EPOCHS} epochs change at most {at_dims(most)}"
    if changes[worst] <= SETTLED:
        return Finding(told, True)
    values = f"from {curves[worst][before]:.4f} after epoch {before + 1} to {curves[worst][end]:.4f}"
    return Finding(told, False, f"{worst}: {metric_label(run.main_metric)} goes on {values}")


def icd_slightly_slower(run: Run) -> Finding:
    """Than iALS and iALS++ with a block of about 64."""
    near = {
        dim: [c for c in own if c.solver != IALSPP_NAME or around_64(c.block or 0)]
        for dim, own in with_solvers(run, *ALL_THREE).items()
    }
    complete = {dim: own for dim, own in near.items() if {c.solver for c in own} == set(ALL_THREE)}
    return _slightly_slower(run, complete, f"{TOGETHER}, iALS++ with a block of about {PAPER_BLOCK}")


def ials_slightly_faster(run: Run) -> Finding:
    """Than iCD, in epochs."""
    return _slightly_slower(run, with_solvers(run, ICD_NAME, IALS_NAME), "iCD and iALS trained at one d")


def _slightly_slower(run: Run, curves: dict[int, list[Configuration]], needed: str) -> Finding:
    """iCD comes after all others, but not by much."""
    if not curves:
        return needs(needed)
    later = {}
    for dim, own in curves.items():
        epochs = {each: epochs_to_converge(run, each) for each in own}
        icd = Configuration(dim, 1)
        later[dim] = {each: epochs[icd] - epochs[each] for each in own if each != icd}
    least = {dim: f"{min(e.values()):.1f}" for dim, e in later.items()}
    told = f"iCD later by {at_dims(least, 'epochs')}"
    wrong = [each for e in later.values() for each, by in e.items() if not 0 < by <= SIMILAR_EPOCHS]
    if not wrong:
        return Finding(told, True)
    worst = max(wrong, key=lambda each: abs(later[each.dim][each]))
    icd = Configuration(worst.dim, 1)
    ordered = (icd, worst) if later[worst.dim][worst] < 0 else (worst, icd)
    return Finding(told, False, _behind(run, *ordered))


def no_side_effects(run: Run) -> Finding:
    """On final quality or convergence over epochs."""
    return both(flat(run), similar_convergence(run))


# Over seconds


def good_block_much_faster(run: Run) -> Finding:
    """Than the slower end of the block axis."""
    icd, ials = (wall_lead(run, end, IALSPP_NAME) for end in (ICD_NAME, IALS_NAME))
    slower = larger(icd, ials, f"the slower of {ICD_NAME} and {IALS_NAME}", IALSPP_NAME)
    return slower.at_least(TWICE, "at one d") if slower.steps else needs(TOGETHER)


def much_faster(run: Run) -> Finding:
    """iALS++ than iCD, and than iALS beyond the d about 100 where that is as good."""
    icd, ials = (wall_lead(run, other, IALSPP_NAME) for other in (ICD_NAME, IALS_NAME))
    return both(
        icd.at_least(TWICE, "at one d"), ials.among(beyond_100).at_least(TWICE, f"at a d above {NEAR_100[1]}")
    )


def order(run: Run) -> Finding:
    """iALS++ in an order of magnitude less time than iCD."""
    return wall_lead(run, ICD_NAME, IALSPP_NAME).at_least(ORDER, "at one d")


def order_throughout(run: Run) -> Finding:
    """The same, for small and large d."""
    return wall_lead(run, ICD_NAME, IALSPP_NAME).at_least(ORDER, AT_ALL, spans)


def lead_over_ials_grows(run: Run) -> Finding:
    """That of iALS++, with d."""
    return wall_lead(run, IALS_NAME, IALSPP_NAME).grows("at two d or more", lambda dims: len(dims) > 1)


def order_at_128(run: Run) -> Finding:
    """iALS++ and iALS than iCD."""
    return both(_at(run, 128, ICD_NAME, IALSPP_NAME, ORDER), _at(run, 128, ICD_NAME, IALS_NAME, ORDER))


def within_one_epoch_of_icd(run: Run) -> Finding:
    """At d = 128, iALS++ and iALS have converged when iCD has finished its first."""
    steps = [wall_lead(run, ICD_NAME, other).steps.get(128) for other in (IALSPP_NAME, IALS_NAME)]
    if None in steps:
        return needs(f"{', '.join(ALL_THREE)} trained at d = 128")
    one = run.elapsed(Configuration(128, 1))[0]
    seconds = {step.fast: seconds_to_converge(run, step.fast) for step in steps if step is not None}
    told = ", ".join(f"{each.solver} {duration(value)}" for each, value in seconds.items())
    told = f"{told}; an epoch of iCD {duration(one)}, d = 128"
    late = max(seconds, key=seconds.__getitem__)
    if seconds[late] <= one:
        return Finding(told, True)
    epochs = epochs_to_converge(run, late)
    pace = f"{late} needs {epochs:.1f} epochs of {duration(seconds[late] / epochs)}"
    return Finding(
        told, False, f"{pace}: an epoch of iCD is as long as {number(one * epochs / seconds[late])}"
    )


def ials_lead_shrinks_to_512(run: Run) -> Finding:
    """That of iALS over iCD is smaller at d = 512 than at 128."""
    lead = wall_lead(run, ICD_NAME, IALS_NAME).among(lambda dim: dim in (128, 512))
    if len(lead.steps) < 2:
        return lead.needed("at d = 128 and 512")
    if lead.factors[512] * EQUAL <= lead.factors[128]:
        return Finding(lead.told, True)
    return Finding(lead.told, False, f"{lead.steps[128].reason}; {lead.steps[512].reason}")


def ahead_of_both_at_512(run: Run) -> Finding:
    """iALS++: about an order of magnitude than iCD, much faster than iALS."""
    return both(
        _at(run, 512, ICD_NAME, IALSPP_NAME, ABOUT_AN_ORDER), _at(run, 512, IALS_NAME, IALSPP_NAME, TWICE)
    )


def ahead_of_both_at_2048(run: Run) -> Finding:
    """iALS++: an order of magnitude than iCD, nearly two than iALS."""
    first = _at(run, 2048, ICD_NAME, IALSPP_NAME, ORDER)
    return both(first, _at(run, 2048, IALS_NAME, IALSPP_NAME, NEARLY_TWO_ORDERS))


def _at(run: Run, dim: int, slow: str, fast: str, factor: float) -> Finding:
    """Of the time to converge; of an epoch where both were timed there but not trained, which it says."""
    converged, timed = (lead(run, slow, fast).among(lambda d: d == dim) for lead in (wall_lead, epoch_lead))
    if converged.steps or not timed.steps:
        return converged.at_least(factor, f"at d = {dim}")
    found = timed.at_least(factor, f"at d = {dim}")
    return replace(found, ours=f"{found.ours}, in an epoch")

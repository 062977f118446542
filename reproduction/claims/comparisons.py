"""Claims that compare the speed of two solvers."""

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

from ..complexity import Exponent, over_dims, slope, work_on
from ..grid import IALS, IALSPP, ICD, PAPER_SOLVERS
from ..run import Run
from .dims import ALL, ANY, TWO_OR_MORE, Dims, at, is_large, is_small, spans
from .findings import Finding, Judge, decided, needs, number
from .leads import Lead, convergence_lead, epoch_lead, larger
from .thresholds import EQUAL, EXPONENT, TWICE

TOGETHER = f"{', '.join(PAPER_SOLVERS)} trained at one d"
LeadOf = Callable[[Run, str, str], Lead]


def faster(fast: str, slow: str, factor: float, dims: Dims, *, block: int | None = None) -> Judge:
    """Judge whether an epoch of `fast` is so many times as fast as one of `slow`."""
    return lambda run: epoch_lead(run, slow, fast, block).at_least(factor, dims)


def converges_faster(fast: str, slow: str, factor: float, dims: Dims) -> Judge:
    """Judge whether `fast` converges so many times as fast as `slow`."""
    return lambda run: convergence_lead(run, slow, fast).at_least(factor, dims)


def converges_faster_at(dim: int, fast: str, slow: str, factor: float) -> Judge:
    """Judge it at one d, by epochs where both were timed but not trained there."""

    def judge(run: Run) -> Finding:
        trained, timed = (lead(run, slow, fast).among(at(dim)) for lead in (convergence_lead, epoch_lead))
        if trained.steps or not timed.steps:
            return trained.at_least(factor, at(dim))
        found = timed.at_least(factor, at(dim))
        return replace(found, ours=f"{found.ours}, in an epoch")

    return judge


def icd_is_never_fastest(run: Run) -> Finding:
    ials, ialspp = (epoch_lead(run, ICD, other) for other in (IALS, IALSPP))
    return larger(ials, ialspp, ICD, f"the faster of {IALS} and {IALSPP}").at_least(1, ALL)


def good_block_is_much_faster(run: Run) -> Finding:
    """Judge whether iALS++ converges much faster than the slower of iCD and iALS."""
    icd, ials = (convergence_lead(run, end, IALSPP) for end in (ICD, IALS))
    slower = larger(icd, ials, f"the slower of {ICD} and {IALS}", IALSPP)
    return slower.at_least(TWICE, ANY) if slower.steps else needs(TOGETHER)


# As d grows


def lead_grows(lead_of: LeadOf, fast: str, slow: str, dims: Dims) -> Judge:

    def judge(run: Run) -> Finding:
        lead = lead_of(run, slow, fast)
        measured, factors = list(lead.steps), lead.factors
        falls = [(low, high) for low, high in pairwise(measured) if factors[high] * EQUAL < factors[low]]
        if not falls and not dims.enough(measured):
            return lead.needed(dims.words)
        if not falls and factors[measured[-1]] > EQUAL * factors[measured[0]]:
            return Finding(lead.told, True)
        low, high = falls[0] if falls else (measured[0], measured[-1])
        reasons = f"{lead.steps[low].reason}. {lead.steps[high].reason}"
        return Finding(lead.told, False, f"no larger at d = {high} than at d = {low}. {reasons}")

    return judge


def lead_shrinks(fast: str, slow: str, low: int, high: int) -> Judge:
    """Judge whether the lead of `fast` in time to converge is smaller at d = `high` than at `low`."""

    def judge(run: Run) -> Finding:
        found = convergence_lead(run, slow, fast)
        lead = replace(found, steps={dim: step for dim, step in found.steps.items() if dim in (low, high)})
        if len(lead.steps) < 2:
            return lead.needed(f"at d = {low} and {high}")
        shrinks = lead.factors[high] * EQUAL <= lead.factors[low]
        return decided(lead.told, shrinks, f"{lead.steps[low].reason}. {lead.steps[high].reason}")

    return judge


def ials_lead_vanishes(run: Run) -> Finding:
    """Judge whether iALS is ahead of iCD at a small d, and no longer at a large one."""
    lead = epoch_lead(run, ICD, IALS)
    small = [step for dim, step in lead.steps.items() if is_small(dim)]
    large = [step for dim, step in lead.steps.items() if is_large(dim)]
    if small and all(step.factor <= EQUAL for step in small):
        return Finding(lead.told, False, f"iALS is not ahead at small d. {small[0].reason}")
    if large and all(step.factor > EQUAL for step in large):
        return Finding(lead.told, False, f"iALS is still ahead. {large[-1].reason}")
    return Finding(lead.told, True) if small and large else lead.needed(ALL.words)


def icd_overtakes_ials_at(paper: int) -> Judge:
    """Judge where iCD becomes faster than iALS.

    A crossing outside the measured d is judged only where it is far from the paper's.
    """

    def judge(run: Run) -> Finding:
        lead = epoch_lead(run, ICD, IALS)
        if not TWO_OR_MORE.enough(lead.steps):
            return lead.needed(TWO_OR_MORE.words)
        place, where = _crossing(lead)
        told, ratio = f"{where} {number(place)}", place / paper
        if where == "d ≈" and 1 / TWICE <= ratio <= TWICE:
            return Finding(told, True)
        if (where == "beyond d =" and ratio < TWICE) or (where == "below d =" and ratio > 1 / TWICE):
            return lead.needed("at more d: they have not crossed")
        nearest = min(lead.steps, key=lambda dim: abs(dim - place))
        return Finding(told, False, lead.steps[nearest].reason)

    return judge


def _crossing(lead: Lead) -> tuple[float, str]:
    """Find the d from which iCD is the faster, between the measured d or outside."""
    dims, factors = list(lead.steps), lead.factors
    if factors[dims[-1]] > 1:
        return dims[-1], "beyond d ="
    ahead = [place for place, dim in enumerate(dims) if factors[dim] > 1]
    if not ahead:
        return dims[0], "below d ="
    low, high = dims[ahead[-1]], dims[ahead[-1] + 1]
    power = slope([low, high], [factors[low], factors[high]])
    return float(low * factors[low] ** (-1 / power)), "d ≈"


# Exponents


def grows_as_formula(solver: str) -> Judge:
    """Judge the exponent of d; the formula's own exponent is below its highest power, since |S| has less."""

    def judge(run: Run) -> Finding:
        found = over_dims(run, solver)
        if found is None or not spans([round(dim) for dim, _ in found.points]):
            return needs(f"{solver} timed {ALL.words}", "" if found is None else _told(found))
        holds = found.measured <= found.formula + EXPONENT
        return decided(_told(found), holds, _local_exponents(found))

    return judge


def _told(found: Exponent) -> str:
    first, last = found.points[0][0], found.points[-1][0]
    return f"d^{found.measured:.2f} (the formula: d^{found.formula:.2f}), d = {first:g} to {last:g}"


def _local_exponents(found: Exponent) -> str:
    steps = pairwise(found.points)
    local = [f"{slope([a, b], [s, t]):.2f} from {a:g} to {b:g}" for (a, s), (b, t) in steps]
    return f"the formula has {found.formula:.2f} over these d; measured: {', '.join(local)}"


def icd_and_ialspp_grow_alike(run: Run) -> Finding:
    lead = epoch_lead(run, ICD, IALSPP)
    dims = list(lead.steps)
    if not TWO_OR_MORE.enough(dims):
        return lead.needed(TWO_OR_MORE.words)
    sides = [[step.slow for step in lead.steps.values()], [step.fast for step in lead.steps.values()]]
    icd, ialspp = (slope(dims, [run.known_seconds(own) for own in side]) for side in sides)
    told = f"iCD d^{icd:.2f}, iALS++ d^{ialspp:.2f}, d = {dims[0]} to {dims[-1]}"
    if abs(icd - ialspp) > EXPONENT:
        formulas = [slope(dims, [work_on(run.data, own) for own in side]) for side in sides]
        grown = "over these d the formulas themselves grow as d^{:.2f} and d^{:.2f}".format(*formulas)
        return Finding(told, False, f"{grown}; {lead.told}")
    return Finding(told, True) if spans(dims) else lead.needed(ALL.words)

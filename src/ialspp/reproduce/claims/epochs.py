"""Claims on the seconds of an epoch, judged by what a run timed."""

from __future__ import annotations

from itertools import pairwise

from ..complexity import Exponent, over_dims, slope, work_on
from ..grid import IALS_NAME, IALSPP_NAME, ICD_NAME
from ..run import Run
from .findings import Finding, both, needs, number
from .leads import (
    AT_ALL,
    Lead,
    beyond_100,
    epoch_lead,
    is_large,
    is_small,
    larger,
    reaches_large,
    seconds_of,
    spans,
)
from .thresholds import (
    ABOUT_AN_ORDER,
    EQUAL,
    EXPONENT,
    LARGE,
    NEAR_100,
    ORDER,
    PAPER_BLOCK,
    SMALL,
    TWICE,
    VERY_LARGE,
)

AT_SMALL = f"at a d below {SMALL}"
AT_LARGE = f"at a d of at least {LARGE}"
AT_100 = "at a d from {} to {}".format(*NEAR_100)

# iALS and iCD


def icd_slower_near_100(run: Run) -> Finding:
    """An order of magnitude, at d about 100."""
    return _icd_by_ials(run).nearest(100, *NEAR_100).at_least(ORDER, AT_100)


def icd_not_faster_near_100(run: Run) -> Finding:
    """Unlike in earlier studies, where iCD was 10 times as fast."""
    return _icd_by_ials(run).nearest(100, *NEAR_100).at_least(1, AT_100)


def icd_slower_at_small(run: Run) -> Finding:
    """About an order of magnitude, at every small d."""
    return _icd_by_ials(run).among(is_small).at_least(ABOUT_AN_ORDER, AT_SMALL)


def ials_better_at_small(run: Run) -> Finding:
    """Clearly, at every small d."""
    return _icd_by_ials(run).among(is_small).at_least(TWICE, AT_SMALL)


def icd_faster_at_large(run: Run) -> Finding:
    """At the largest d, iCD is faster than iALS."""
    lead = _icd_by_ials(run)
    if not reaches_large(lead.steps):
        return lead.needed(AT_LARGE)
    step = lead.steps[max(lead.steps)]
    if step.factor < 1:
        return Finding(lead.told, True)
    return Finding(lead.told, False, f"iALS is still the faster: {step.reason}")


def ials_lead_vanishes(run: Run) -> Finding:
    """iALS is ahead of iCD at a small d, and no longer at a large one."""
    lead = _icd_by_ials(run)
    small, large = (list(lead.among(which).steps.values()) for which in (is_small, is_large))
    if small and all(step.factor <= EQUAL for step in small):
        return Finding(lead.told, False, f"iALS is not ahead at small d: {small[0].reason}")
    if large and all(step.factor > EQUAL for step in large):
        return Finding(lead.told, False, f"iALS is still ahead: {large[-1].reason}")
    return Finding(lead.told, True) if small and large else lead.needed(AT_ALL)


def overtaken_at_800(run: Run) -> Finding:
    """Where iCD becomes faster than iALS."""
    return _overtaken(run, 800)


def overtaken_at_1000(run: Run) -> Finding:
    """The same, as the abstract has it."""
    return _overtaken(run, 1000)


def _overtaken(run: Run, paper: int) -> Finding:
    """Beyond the measured d, or below them, it is judged only where that is far from the paper's."""
    lead = _icd_by_ials(run)
    dims = list(lead.steps)
    if len(dims) < 2:
        return lead.needed("at two d or more")
    place, where = _crossing(lead)
    told, far = f"{where} {number(place)}", place / paper
    if where == "d ≈" and 1 / TWICE <= far <= TWICE:
        return Finding(told, True)
    if (where == "beyond d =" and far < TWICE) or (where == "below d =" and far > 1 / TWICE):
        return lead.needed("at more d: they have not crossed")
    nearest = min(dims, key=lambda dim: abs(dim - place))
    return Finding(told, False, lead.steps[nearest].reason)


def _crossing(lead: Lead) -> tuple[float, str]:
    """The d from which iCD is the faster, between the measured ones or outside."""
    dims, factors = list(lead.steps), lead.factors
    if factors[dims[-1]] > 1:
        return dims[-1], "beyond d ="
    ahead = [place for place, dim in enumerate(dims) if factors[dim] > 1]
    if not ahead:
        return dims[0], "below d ="
    low, high = dims[ahead[-1]], dims[ahead[-1] + 1]
    power = slope([low, high], [factors[low], factors[high]])
    return float(low * factors[low] ** (-1 / power)), "d ≈"


def _icd_by_ials(run: Run) -> Lead:
    return epoch_lead(run, ICD_NAME, IALS_NAME)


# iALS++ beside both


def order_throughout(run: Run) -> Finding:
    """iALS++ is an order of magnitude faster than iCD, for small and large d."""
    return epoch_lead(run, ICD_NAME, IALSPP_NAME).at_least(ORDER, AT_ALL, spans)


def about_an_order_throughout(run: Run) -> Finding:
    """About an order of magnitude."""
    return epoch_lead(run, ICD_NAME, IALSPP_NAME).at_least(ABOUT_AN_ORDER, AT_ALL, spans)


def about_an_order_with_64(run: Run) -> Finding:
    """With a block size of 64."""
    lead = epoch_lead(run, ICD_NAME, IALSPP_NAME, PAPER_BLOCK)
    return lead.at_least(ABOUT_AN_ORDER, AT_ALL, spans)


def lead_over_ials_grows(run: Run) -> Finding:
    """That of iALS++, with d."""
    return epoch_lead(run, IALS_NAME, IALSPP_NAME).grows(AT_ALL, spans)


def comparable_at_small(run: Run) -> Finding:
    """iALS++ takes at most twice as long as iALS, at every small d."""
    return _comparable(epoch_lead(run, IALS_NAME, IALSPP_NAME).among(is_small), AT_SMALL)


def much_faster_throughout(run: Run) -> Finding:
    """iALS++ than iCD at every d, and than iALS at every d beyond 100, where the paper calls it as good."""
    icd, ials = (epoch_lead(run, other, IALSPP_NAME) for other in (ICD_NAME, IALS_NAME))
    return both(
        icd.at_least(TWICE, AT_ALL, spans),
        ials.among(beyond_100).at_least(TWICE, AT_LARGE, reaches_large),
    )


def better_but_near_100(run: Run) -> Finding:
    """At d about 100 iALS is as good as iALS++, which is clearly better otherwise."""
    near = epoch_lead(run, IALS_NAME, IALSPP_NAME).nearest(100, *NEAR_100)
    return both(_comparable(near, AT_100), much_faster_throughout(run))


def icd_never_fastest(run: Run) -> Finding:
    """Of the three, at every d."""
    ials, ialspp = (epoch_lead(run, ICD_NAME, other) for other in (IALS_NAME, IALSPP_NAME))
    better = larger(ials, ialspp, ICD_NAME, f"the faster of {IALS_NAME} and {IALSPP_NAME}")
    return better.at_least(1, AT_ALL, spans)


def ials_very_slow(run: Run) -> Finding:
    """An order of magnitude slower than iALS++, at d far beyond 1000."""
    lead = epoch_lead(run, IALS_NAME, IALSPP_NAME).among(lambda dim: dim >= VERY_LARGE)
    return lead.at_least(ORDER, f"at a d of at least {VERY_LARGE}")


def _comparable(lead: Lead, where: str) -> Finding:
    return lead.at_least(1 / TWICE, where)


# Exponents


def cubic(run: Run) -> Finding:
    """iALS, in d."""
    return _no_faster_than_formula(run, IALS_NAME)


def quadratic(run: Run) -> Finding:
    """iCD, in d."""
    return _no_faster_than_formula(run, ICD_NAME)


def _no_faster_than_formula(run: Run, solver: str) -> Finding:
    """The formula's exponent over these d is less than its highest power: |S| stands beside a lower one."""
    found = over_dims(run, solver)
    if found is None or not spans([round(dim) for dim, _ in found.points]):
        return needs(f"{solver} timed {AT_ALL}", "" if found is None else _told(found))
    holds = found.measured <= found.formula + EXPONENT
    return Finding(_told(found), holds, "" if holds else _local_exponents(found))


def same_dependency(run: Run) -> Finding:
    """Of iCD and iALS++ on d."""
    lead = epoch_lead(run, ICD_NAME, IALSPP_NAME)
    dims = list(lead.steps)
    if len(dims) < 2:
        return lead.needed("at two d or more")
    sides = [[step.slow for step in lead.steps.values()], [step.fast for step in lead.steps.values()]]
    icd, ialspp = (slope(dims, [seconds_of(run, own) for own in side]) for side in sides)
    told = f"iCD d^{icd:.2f}, iALS++ d^{ialspp:.2f}, d = {dims[0]} to {dims[-1]}"
    if abs(icd - ialspp) > EXPONENT:
        formulas = [slope(dims, [work_on(run.data, own) for own in side]) for side in sides]
        grown = "over these d the formulas themselves grow as d^{:.2f} and d^{:.2f}".format(*formulas)
        return Finding(told, False, f"{grown}; {lead.told}")
    return Finding(told, True) if spans(dims) else lead.needed(AT_ALL)


def _told(found: Exponent) -> str:
    first, last = found.points[0][0], found.points[-1][0]
    return f"d^{found.measured:.2f} (the formula: d^{found.formula:.2f}), d = {first:g} to {last:g}"


def _local_exponents(found: Exponent) -> str:
    """From each d to the next."""
    steps = pairwise(found.points)
    local = [f"{slope([a, b], [s, t]):.2f} from {a:g} to {b:g}" for (a, s), (b, t) in steps]
    return f"the formula has {found.formula:.2f} over these d; measured: {', '.join(local)}"

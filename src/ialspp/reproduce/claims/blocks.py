"""Claims on the block size, judged by the seconds of an epoch."""

from __future__ import annotations

from itertools import pairwise

from ..run import Run
from .findings import Finding, at_dims, duration, needs, percent
from .leads import AT_ALL, spans
from .thresholds import EQUAL, FEWEST_BLOCKS, LARGE, ONE_BLOCK, PAPER_BLOCK, SMALL

Curve = dict[int, float]  # seconds of an epoch by block size
WITH_ROOM = f"at a d above {PAPER_BLOCK} and below {SMALL} and one of at least {LARGE}"


def u_shape(run: Run) -> Finding:
    """Of each curve over block sizes."""
    curves = {dim: c for dim, c in _with_room(run).items() if {1, dim} <= c.keys()}
    faults = {dim: fault for dim, curve in curves.items() if (fault := _not_u(curve))}
    return _judged(curves, faults, f"{FEWEST_BLOCKS} block sizes timed, with iCD and iALS, {WITH_ROOM}")


def block_around_64(run: Run) -> Finding:
    """Works best, for all curves."""
    curves = {dim: c for dim, c in _with_room(run).items() if any(map(around_64, c))}
    worse = {}
    for dim, curve in curves.items():
        near = min(filter(around_64, curve), key=curve.__getitem__)
        if curve[near] > EQUAL * min(curve.values()):
            worse[dim] = _slower(curve, near)
    return _judged(
        curves, worse, f"{FEWEST_BLOCKS} block sizes timed, one of them around {PAPER_BLOCK}, {WITH_ROOM}"
    )


def one_block_for_all(run: Run) -> Finding:
    """The best block size does not depend on d; one that is beyond d works as d itself does."""
    curves = _curves(run)
    sizes = {block for curve in curves.values() for block in curve}
    shared = [size for size in sorted(sizes) if all(min(size, dim) in c for dim, c in curves.items())]
    needed = f"the same block sizes, {FEWEST_BLOCKS} or more, timed {AT_ALL}"
    if not shared:
        return needs(needed)

    def loss(size: int, dim: int) -> float:
        return curves[dim][min(size, dim)] / min(curves[dim].values())

    best = min(shared, key=lambda size: max(loss(size, dim) for dim in curves))
    worst = max(curves, key=lambda dim: loss(best, dim))
    told = f"{_fastest_told(curves)}; block {best} is at most {percent(loss(best, worst) - 1)} slower"
    if loss(best, worst) <= ONE_BLOCK:
        return Finding(told, True) if spans(curves) else needs(needed, told)
    text = _slower(curves[worst], min(best, worst))
    return Finding(told, False, f"even the best compromise loses at d = {worst}: {text}")


def _curves(run: Run) -> dict[int, Curve]:
    curves = {dim: run.over_blocks(dim) for dim in run.timed_dims()}
    return {dim: curve for dim, curve in curves.items() if len(curve) >= FEWEST_BLOCKS}


def _with_room(run: Run) -> dict[int, Curve]:
    """Those in which a medium block size is less than d: in the others it is iALS itself."""
    return {dim: curve for dim, curve in _curves(run).items() if dim > PAPER_BLOCK}


def _judged(curves: dict[int, Curve], faults: dict[int, str], needed: str) -> Finding:
    """One fault is enough to fail; to hold, it needs curves of small and large d."""
    told = _fastest_told(curves) if curves else ""
    if faults:
        return Finding(told, False, "; ".join(f"d = {dim}: {fault}" for dim, fault in faults.items()))
    return Finding(told, True) if spans(curves) else needs(needed, told)


def around_64(block: int) -> bool:
    """What counts as the paper's medium block size."""
    return PAPER_BLOCK / 2 <= block <= 2 * PAPER_BLOCK


def _fastest(curve: Curve) -> int:
    return min(curve, key=curve.__getitem__)


def _fastest_told(curves: dict[int, Curve]) -> str:
    return "fastest: " + at_dims({dim: str(_fastest(curve)) for dim, curve in curves.items()})


def _slower(curve: Curve, block: int) -> str:
    best = _fastest(curve)
    return f"{_took(curve, block)}, {percent(curve[block] / curve[best] - 1)} more than {_took(curve, best)}"


def _took(curve: Curve, block: int) -> str:
    return f"block {block} ({duration(curve[block])})"


def _not_u(curve: Curve) -> str:
    """What keeps a curve from falling to its fastest block and rising from there; empty: nothing."""
    inner = {block: s for block, s in curve.items() if min(curve) < block < max(curve)}
    best = _fastest(inner)
    for end, name in ((min(curve), "iCD"), (max(curve), "iALS")):
        if curve[end] < EQUAL * curve[best]:
            return f"{name}, {_took(curve, end)}, is not slower than the best between, {_took(curve, best)}"
    for low, high in pairwise(sorted(inner)):
        nearer, farther = (high, low) if high <= best else (low, high)
        if curve[nearer] > EQUAL * curve[farther]:
            return f"not one valley: {_took(curve, nearer)} is slower than {_took(curve, farther)}"
    return ""

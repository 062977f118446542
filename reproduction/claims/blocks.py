"""Claims about the block size, judged by the seconds of an epoch."""

from itertools import pairwise

from ..run import Run
from .dims import ALL, spans
from .findings import Finding, at_dims, duration, needs, percent
from .thresholds import EQUAL, FEWEST_BLOCKS, LARGE, ONE_BLOCK, PAPER_BLOCK, SMALL

SecondsByBlock = dict[int, float]  # of an epoch, at one d
WITH_ROOM = f"at a d above {PAPER_BLOCK} and below {SMALL} and one of at least {LARGE}"


def is_u_shaped(run: Run) -> Finding:
    """Judge whether each curve over block sizes falls to its fastest block and rises from there."""
    curves = {dim: curve for dim, curve in _with_room(run).items() if {1, dim} <= curve.keys()}
    faults = {dim: fault for dim, curve in curves.items() if (fault := _not_u_shaped(curve))}
    return _judged(curves, faults, f"{FEWEST_BLOCKS} block sizes timed, with iCD and iALS, {WITH_ROOM}")


def is_best_around_64(run: Run) -> Finding:
    curves = {dim: curve for dim, curve in _with_room(run).items() if any(map(is_around_64, curve))}
    worse = {}
    for dim, curve in curves.items():
        near = min(filter(is_around_64, curve), key=curve.__getitem__)
        if curve[near] > EQUAL * min(curve.values()):
            worse[dim] = _slower(curve, near)
    needed = f"{FEWEST_BLOCKS} block sizes timed, one of them around {PAPER_BLOCK}, {WITH_ROOM}"
    return _judged(curves, worse, needed)


def one_block_fits_all(run: Run) -> Finding:
    """Judge whether the best block size is the same at each d; a block larger than d counts as d."""
    curves = _curves(run)
    sizes = {block for curve in curves.values() for block in curve}
    shared = [size for size in sorted(sizes) if all(min(size, dim) in c for dim, c in curves.items())]
    needed = f"the same block sizes, {FEWEST_BLOCKS} or more, timed {ALL.words}"
    if not shared:
        return needs(needed)

    def excess(size: int, dim: int) -> float:
        return curves[dim][min(size, dim)] / min(curves[dim].values())

    best = min(shared, key=lambda size: max(excess(size, dim) for dim in curves))
    worst = max(curves, key=lambda dim: excess(best, dim))
    told = f"{_fastest_told(curves)}; block {best} is at most {percent(excess(best, worst) - 1)} slower"
    if excess(best, worst) <= ONE_BLOCK:
        return Finding(told, True) if spans(curves) else needs(needed, told)
    slower = _slower(curves[worst], min(best, worst))
    return Finding(told, False, f"even the best compromise loses at d = {worst}: {slower}")


def is_around_64(block: int) -> bool:
    """Tell whether a block size is what the paper calls medium."""
    return PAPER_BLOCK / 2 <= block <= 2 * PAPER_BLOCK


def _curves(run: Run) -> dict[int, SecondsByBlock]:
    curves = {dim: run.over_blocks(dim) for dim in run.timed_dims()}
    return {dim: curve for dim, curve in curves.items() if len(curve) >= FEWEST_BLOCKS}


def _with_room(run: Run) -> dict[int, SecondsByBlock]:
    """Keep the d above the medium block size: at the others, that block is iALS itself."""
    return {dim: curve for dim, curve in _curves(run).items() if dim > PAPER_BLOCK}


def _judged(curves: dict[int, SecondsByBlock], faults: dict[int, str], needed: str) -> Finding:
    """Fail with one fault; hold only with curves of small and large d."""
    told = _fastest_told(curves) if curves else ""
    if faults:
        return Finding(told, False, "; ".join(f"d = {dim}: {fault}" for dim, fault in faults.items()))
    return Finding(told, True) if spans(curves) else needs(needed, told)


def _fastest(curve: SecondsByBlock) -> int:
    return min(curve, key=curve.__getitem__)


def _fastest_told(curves: dict[int, SecondsByBlock]) -> str:
    return "fastest: " + at_dims({dim: str(_fastest(curve)) for dim, curve in curves.items()})


def _slower(curve: SecondsByBlock, block: int) -> str:
    best = _fastest(curve)
    return f"{_told(curve, block)}, {percent(curve[block] / curve[best] - 1)} more than {_told(curve, best)}"


def _told(curve: SecondsByBlock, block: int) -> str:
    return f"block {block} ({duration(curve[block])})"


def _not_u_shaped(curve: SecondsByBlock) -> str:
    """Say what keeps a curve from being U-shaped; empty: nothing does."""
    inner = {block: seconds for block, seconds in curve.items() if min(curve) < block < max(curve)}
    best = _fastest(inner)
    for end, name in ((min(curve), "iCD"), (max(curve), "iALS")):
        if curve[end] < EQUAL * curve[best]:
            return f"{name}, {_told(curve, end)}, is not slower than the best between, {_told(curve, best)}"
    for low, high in pairwise(sorted(inner)):
        nearer, farther = (high, low) if high <= best else (low, high)
        if curve[nearer] > EQUAL * curve[farther]:
            return f"not one valley: {_told(curve, nearer)} is slower than {_told(curve, farther)}"
    return ""

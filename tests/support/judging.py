"""The library beside the reference, step by step.

An epoch changes every coordinate of every row once, so the factors before and after it tell where each step
began. The reference takes each step from there. So errors of earlier steps do not add up, and the step's own
system bounds what is left.
"""

import numpy as np

from ialspp.solvers import IALS, ICD, SpectralCG
from support.reference import blocks

BOTH = ("users", "items")


def largest_error(solver, case, *, threads=None, reference=None, sides=BOTH):
    """The largest error of a row in a step of one epoch, as a share of what single precision may do."""
    problem, reference = case.problem(threads), reference or case.reference()
    if isinstance(solver, SpectralCG):
        return max(spectral_errors(solver, problem, reference, sides))
    solver.epoch(problem)
    return max(newton_errors(steps_of(solver, case.dim), problem, reference, sides, relaxation_of(solver)))


def relaxation_of(solver):
    """How far a row goes in an epoch that stands alone."""
    relaxation = getattr(solver, "relaxation", 1.0)
    return 1.0 if relaxation == "auto" else relaxation


def steps_of(solver, dim):
    """The (side, coordinates) of each step, in order."""
    if isinstance(solver, IALS):
        return [(side, slice(0, dim)) for side in BOTH]
    if isinstance(solver, ICD):
        return [(side, B) for B in blocks(dim, 1) for side in BOTH]
    over = blocks(dim, solver.block_size_for(dim))
    if solver.sweep == "block":
        return [(side, B) for B in over for side in BOTH]
    return [(side, B) for side in BOTH for B in over]


def newton_errors(steps, problem, reference, sides=BOTH, relaxation=1.0):
    """The largest error of each step of an epoch after which the factors are those of `problem`."""
    for number, (side, B) in enumerate(steps):
        after = getattr(problem, side).factors[:, B]
        if side in sides:
            ends = [(system, system.minimum()) for system in reference.systems(side, B)]
            yield worst(after, ends, number, relaxation=relaxation)
        reference.factors(side)[:, B] = after


def spectral_errors(solver, problem, reference, sides=BOTH):
    """The largest error of either half of an epoch, which this takes in `problem`."""
    everything = slice(0, problem.dim)
    for name, other_name in zip(BOTH, reversed(BOTH), strict=True):
        side, other = getattr(problem, name), getattr(problem, other_name)
        reference.W, reference.H = problem.users.factors.astype(float), problem.items.factors.astype(float)
        rotation = solver.rotation(problem, side, other)
        if rotation is not None:
            reference.factors(name)[:] *= rotation.balance
            reference.factors(other_name)[:] /= rotation.balance
        solver.half_epoch(problem, side, other)
        if name in sides:
            systems = reference.systems(name, everything)
            ends = [(system, spectral_end(solver, system, rotation)) for system in systems]
            after = side.factors if rotation is None else side.factors @ rotation.basis.T
            tolerance = solver.tolerance or 0.0
            yield worst(after, ends, solver.steps or 0, tolerance, relaxation_of(solver))


def spectral_end(solver, system, rotation):
    if solver.steps is None:  # as many as it takes
        return system.minimum()
    if rotation is None:
        return system.after_uncoupled_steps(solver.steps)
    return system.after_conjugate_gradients(solver.steps, rotation.basis)


def worst(after, ends, updates, tolerance=0.0, relaxation=1.0):
    return max(
        np.linalg.norm(row - system.relaxed(end, relaxation))
        / system.slack(end, updates, tolerance, relaxation)
        for row, (system, end) in zip(after, ends, strict=True)
    )

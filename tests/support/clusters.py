"""Fits step by step, on one machine or on a cluster, whose workers can be reached between the steps."""

from ialspp import Objective
from ialspp.model.training import run_epoch
from ialspp.solvers import Problem
from ialspp.solvers.start import spectral_start

OBJECTIVE = Objective(unobserved_weight=0.1, regularization=0.05)
SEED = 3
STORE = 2**27  # bytes of the object store of each node


def epochs(solver, data, place, *, dim, count=3, between=lambda _epoch: None):
    """The bits of the factors, and the losses, after a few epochs from a spectral start."""
    problem = Problem.of(data, OBJECTIVE, *spectral_start(data, dim, SEED, place), place)
    past = []
    for epoch in range(count):
        between(epoch)
        past.append(run_epoch(solver, problem, past, last=epoch == count - 1))
    return tuple(side.tobytes() for side in problem.factors), [record.loss for record in past]

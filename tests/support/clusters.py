"""Workers that tests share, and fits step by step, between which the workers can be reached."""

from ialspp import Objective
from ialspp.cluster import RayCluster
from ialspp.model.training import run_epoch
from ialspp.solvers import Problem
from ialspp.solvers.start import spectral_start

OBJECTIVE = Objective(unobserved_weight=0.1, regularization=0.05)
SEED = 3
STORE = 2**27  # bytes of the object store of each node


class KeptWorkers:
    """Workers that stay from one test to the next, of one number at a time: they need all CPUs."""

    def __init__(self):
        self._cluster = None

    def of(self, count):
        """A cluster in a block, whose calls share so many workers on the two nodes."""
        workers = None if count == 2 else count  # two: one on each node
        if self._cluster is None or self._cluster.workers != workers:
            self.end()
            self._cluster = RayCluster(workers=workers).__enter__()
        self._cluster.fetch, self._cluster.push_to = "auto", None
        return self._cluster

    def end(self):
        """Leave the CPUs to others."""
        if self._cluster is not None:
            self._cluster.__exit__()
            self._cluster = None


def started(data, place, *, dim):
    """The factors of a spectral start."""
    return spectral_start(data, dim, SEED, place)


def bits(factors):
    return tuple(side.tobytes() for side in factors)


def epochs(solver, data, place, *, dim, count=3, between=lambda _epoch: None):
    """The bits of the factors, and the losses, after a few epochs from a spectral start."""
    return epochs_from(started(data, place, dim=dim), solver, data, place, count, between)


def epochs_from(start, solver, data, place, count, between=lambda _epoch: None):
    """The same from factors that are given, which stay as they are."""
    problem = Problem.of(data, OBJECTIVE, *(side.copy() for side in start), place)
    past = []
    for epoch in range(count):
        between(epoch)
        past.append(run_epoch(solver, problem, past, last=epoch == count - 1))
    return bits(problem.factors), [record.loss for record in past]

"""The eigenbasis that SpectralCG rotates into."""

import numpy as np
from threadpoolctl import threadpool_limits

from ialspp.solvers.spectral import eigenbasis


def test_the_eigenbasis_has_the_same_bits_on_any_number_of_blas_threads():
    factors = np.random.default_rng(0).normal(size=(400, 200))
    gramian, found = factors.T @ factors, []
    for threads in (1, 4):
        with threadpool_limits(threads):
            values, basis = eigenbasis(gramian)
        found.append((values.tobytes(), basis.tobytes()))
    assert found[0] == found[1]

"""Sides too large to be copied are read in halves of their own memory."""

import numpy as np
import pytest
from support.problems import make_case

from ialspp import ImplicitMF, SpectralCG
from ialspp.solvers import half
from ialspp.solvers.start import spectral_start

pytestmark = pytest.mark.usefixtures("half_isa")


@pytest.fixture
def no_copies(monkeypatch):
    """Let every side be too large to be copied"""
    monkeypatch.setattr(half, "MOST_BYTES_TO_COPY", 0)
    monkeypatch.setattr(half, "LEAST_BYTES_TO_HALVE", 0)
    monkeypatch.setattr(half.HalfCopies, "copy", None)


def fitted(case, threads=2, dim=16):
    model = ImplicitMF(dim, epochs=6, threads=threads, solver=SpectralCG(precision="mixed"))
    return model.fit(case.data, progress=False)


def test_only_sides_whose_copy_is_larger_than_a_gigabyte_are_halved_in_place():
    assert half.halved_in_place(2**25 + 1, 16)
    assert not half.halved_in_place(2**25, 16)
    assert not half.halved_in_place(2**28, 17)  # no whole panels


@pytest.mark.usefixtures("no_copies")
def test_a_fit_without_copies_has_the_same_bits_on_any_number_of_threads():
    case = make_case(users=300, items=200, dim=16, weights=True)
    models = [fitted(case, threads) for threads in (1, 2, 3)]
    assert len({(m.user_factors.tobytes(), m.item_factors.tobytes()) for m in models}) == 1
    assert [record.precision for record in models[0].history] == ["mixed"] * 5 + ["single"]


def test_a_fit_without_copies_is_as_good_as_one_with_them(request):
    case = make_case(users=300, items=200, dim=16, labels=True)
    copied = [record.loss for record in fitted(case).history]
    request.getfixturevalue("no_copies")
    in_place = [record.loss for record in fitted(case).history]
    assert in_place == pytest.approx(copied, rel=1e-3)
    assert (np.diff(in_place) <= 1e-6 * np.array(in_place[1:])).all()


def test_a_start_without_copies_is_that_with_them(request):
    case = make_case(users=300, items=200, dim=16)
    request.getfixturevalue("monkeypatch").setattr(half, "LEAST_BYTES_TO_HALVE", 0)
    copied = spectral_start(case.data, 16, 0, 2)[1]
    request.getfixturevalue("no_copies")
    in_place = spectral_start(case.data, 16, 0, 2)[1]
    np.testing.assert_allclose(np.abs(in_place), np.abs(copied), atol=1e-3)


@pytest.mark.usefixtures("no_copies")
def test_numbers_beyond_half_precision_are_read_in_single_precision(monkeypatch):
    case = make_case(users=60, items=40, dim=16)
    mixed, single = case.problem(), case.problem()
    wanted = SpectralCG(precision="single").epoch(single)
    monkeypatch.setattr("ialspp.solvers.spectral.unit_of", lambda _: 2.0**-60)
    assert SpectralCG(precision="mixed").epoch(mixed) == wanted
    assert mixed.users.factors.tobytes() == single.users.factors.tobytes()

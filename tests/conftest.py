"""Shared by all tests: the cases drawn, the instruction sets of this machine, the data beside the project."""

import signal
from pathlib import Path

import pytest
import support.drawing  # which also registers the profiles
import threadpoolctl
from hypothesis import settings

from ialspp import _core

threadpoolctl.threadpool_limits(1)  # the matrices of tests are small: more threads of BLAS only wait
settings.load_profile("fixed")  # --hypothesis-profile=torture loads the other, before tests are imported

# A shell makes what it starts in the background ignore Ctrl-C, and so would every process that tests start.
signal.signal(signal.SIGINT, signal.default_int_handler)

SHARED_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


def pytest_sessionstart():
    """Fixed draws are the same in any order of the tests."""
    if settings.default.derandomize:
        support.drawing.draw_no_constants_of_the_sources()


@pytest.fixture(params=_core.available_isas())
def isa(request):
    """Run the test once per instruction set."""
    before = _core.isa()
    _core.select_isa(request.param)
    yield request.param
    _core.select_isa(before)


@pytest.fixture(params=support.drawing.isas_with_half())
def half_isa(request):
    """Run the test once per instruction set that has half precision."""
    before = _core.isa()
    _core.select_isa(request.param)
    yield request.param
    _core.select_isa(before)


@pytest.fixture(scope="session")
def shared_data():
    """The folder of a real data set, or a skip that says which one is missing."""

    def find(name):
        folder = SHARED_DATA / name
        if not folder.is_dir():
            pytest.skip(f"needs the data set {name} in ../shared/data")  # it may not be redistributed
        return folder

    return find


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items):
    """The longest ones first, so that no process waits for them in the end; then those that share a cluster.

    Of several processes, one gets the tests that come first: only that one starts Ray.
    """
    items.sort(key=_turn)


def _turn(item):
    if item.path.name == "test_quality.py":
        return 0
    return 1 if item.path.parent.name == "cluster" else 2

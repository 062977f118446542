"""The process in which tries are made: what ends it is noticed, and the rest is tried all the same."""

from pathlib import Path

import pytest
from support import watched_tries

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/statm").exists(), reason="watches processes as Linux shows them"
)


def watched(make, tries):
    from torture.watching import watched as run

    return run(make, tries, 7, Path())


def test_tries_are_counted():
    tally = watched(watched_tries.sound, 5)
    assert (dict(tally.counts), tally.faults) == ({"even": 3, "odd": 2}, [])


def test_a_crash_is_a_fault_that_names_its_try():
    tally = watched(watched_tries.crashing, 8)
    assert tally.faults == [
        "try 3 of seed 7: the process ended, by SIGSEGV",
        "try 5 of seed 7: what it says",
    ]
    assert dict(tally.counts) == {"sound": 7, "faults": 2}


def test_much_memory_is_a_fault():
    tally = watched(watched_tries.greedy, 1)
    assert tally.faults == ["try 0 of seed 7: the process ended, exit code 1"]

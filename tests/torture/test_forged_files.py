"""A few hundred forged files of our own formats; `make torture` makes a hundred thousand of each."""

import importlib
from pathlib import Path

import pytest

TRIES = 300


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="watches processes as Linux shows them")
@pytest.mark.parametrize("attacked", ["model_files", "prepared_files"])
def test_forged_files_are_refused_or_harmless(tmp_path, attacked):
    attack = importlib.import_module(
        f"torture.{attacked}"
    ).attack  # needs limits on memory, as POSIX has them
    tally = attack(TRIES, 15, tmp_path)
    assert tally.faults == []
    assert sum(tally.counts.values()) == TRIES
    works = sum(count for what, count in tally.counts.items() if what.endswith("works"))
    assert TRIES / 20 < works < TRIES / 2

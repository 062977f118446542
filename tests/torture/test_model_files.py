"""A few hundred forged files; `make torture` makes a hundred thousand."""

from pathlib import Path

import pytest

TRIES = 300


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="watches processes as Linux shows them")
def test_forged_files_are_refused_or_harmless(tmp_path):
    from torture import model_files  # which needs limits on memory, as POSIX has them

    tally = model_files.attack(TRIES, 15, tmp_path)
    assert tally.faults == []
    assert sum(tally.counts.values()) == TRIES
    works = sum(count for what, count in tally.counts.items() if what.endswith("works"))
    assert TRIES / 20 < works < TRIES / 2

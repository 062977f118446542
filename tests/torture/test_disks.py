import tempfile
from pathlib import Path

from torture import disks


def test_a_disk_that_fails_leaves_the_old_files_and_a_clear_error():
    with tempfile.TemporaryDirectory() as folder:  # pytest's own are closed to other users
        tally = disks.attack(20, 1, Path(folder))
    assert tally.faults == []
    assert tally.counts["different failures"] >= 100

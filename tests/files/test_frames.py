"""Frames as polars itself reads them back, and the system's own error if the disk is full."""

import errno

import polars as pl
import pytest
from support.exports import files_no_larger_than, posix

from ialspp.files.frames import WRITERS, write_frames

READERS = {
    ".parquet": pl.read_parquet,
    ".csv": pl.read_csv,
    ".jsonl": pl.read_ndjson,
    ".ndjson": pl.read_ndjson,
}


@pytest.mark.parametrize("suffix", WRITERS)
def test_a_frame_is_written_in_the_format_of_the_suffix(tmp_path, suffix):
    frame = pl.DataFrame({"id": ["a", "ß"], "score": [0.5, -1.0]})
    path = tmp_path / f"table{suffix.upper()}"
    write_frames([frame[:1], frame[1:]], path)
    assert READERS[suffix](path).equals(frame)


@posix
@pytest.mark.parametrize("rows", [100, 100_000])  # in the buffer until the end, and not
@pytest.mark.parametrize("suffix", WRITERS)
def test_a_full_disk_is_the_systems_own_error_and_leaves_the_old_file(tmp_path, suffix, rows):
    path = tmp_path / f"table{suffix}"
    path.write_text("old")
    frame = pl.DataFrame({"n": range(rows)})
    with files_no_larger_than(100), pytest.raises(OSError, match="too large") as refused:
        write_frames([frame] * 3, path)
    assert (refused.value.errno, refused.value.filename) == (errno.EFBIG, str(path))
    assert path.read_text() == "old"
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("suffix", WRITERS)
def test_an_error_between_two_frames_leaves_the_old_file(tmp_path, suffix):
    path = tmp_path / f"table{suffix}"
    path.write_text("old")

    def frames():
        for _ in range(3):
            yield pl.DataFrame({"n": range(1000)})
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_frames(frames(), path)
    assert path.read_text() == "old"
    assert [file.name for file in tmp_path.iterdir()] == [path.name]

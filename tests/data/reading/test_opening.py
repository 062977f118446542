import os
from contextlib import contextmanager
from pathlib import Path

import polars as pl
import pytest

from ialspp import Interactions
from ialspp.data.reading.opening import address, files_of

COLUMNS = {"user": "u", "item": "i"}
FORMATS = {
    "csv": pl.DataFrame.write_csv,
    "parquet": pl.DataFrame.write_parquet,
    "arrow": pl.DataFrame.write_ipc,
}
NOBODY = 65534


def written(path, form="csv", rows=3):
    FORMATS[form](pl.DataFrame({"u": range(rows), "i": range(rows)}), path)
    return path


def test_a_pipe_is_named_as_what_it_is(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ValueError, match=r"pipe: a regular file is required, but this is a pipe"):
        Interactions.read(tmp_path / "pipe", **COLUMNS)


def test_a_device_is_named_as_what_it_is():
    with pytest.raises(ValueError, match=r"/dev/null: a regular file is required, but this is a device"):
        Interactions.read("/dev/null", **COLUMNS)


def test_a_loop_of_links_is_named_as_what_it_is(tmp_path):
    (tmp_path / "a.csv").symlink_to(tmp_path / "b.csv")
    (tmp_path / "b.csv").symlink_to(tmp_path / "a.csv")
    with pytest.raises(OSError, match=r"(?i)symbolic links.*a\.csv"):
        Interactions.read(tmp_path / "a.csv", **COLUMNS)


def test_a_link_to_nothing_says_so(tmp_path):
    (tmp_path / "a.csv").symlink_to("gone.csv")
    with pytest.raises(FileNotFoundError, match=r"a\.csv: no such file: it is a link to gone\.csv"):
        Interactions.read(tmp_path / "a.csv", **COLUMNS)


def test_a_file_taken_for_a_folder_says_so(tmp_path):
    written(tmp_path / "a.csv")
    with pytest.raises(NotADirectoryError, match=r"a\.csv"):
        Interactions.read(tmp_path / "a.csv" / "b.csv", **COLUMNS)


@contextmanager
def ordinary_user(folder):
    """Root may read everything; become nobody for a while."""
    if os.geteuid():
        yield
        return
    changed = [p for p in (folder, *folder.parents) if not p.stat().st_mode & 1]
    modes = {p: p.stat().st_mode for p in changed}
    for p in changed:
        p.chmod(p.stat().st_mode | 1)
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)
        for p, mode in modes.items():
            p.chmod(mode)


@pytest.mark.parametrize("what", ["file", "folder"])
def test_what_may_not_be_read_says_so(tmp_path, what):
    folder = tmp_path / "folder"
    folder.mkdir()
    path = written(folder / "a.csv") if what == "file" else folder
    path.chmod(0)
    try:
        with ordinary_user(tmp_path), pytest.raises(PermissionError, match=rf"{path.name}"):
            Interactions.read(path, **COLUMNS)
    finally:
        path.chmod(0o700)


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("stem", ["a b", "a%20b", "a#b", "a?b", "é", "a[1]", "a\\b", "a\nb", " a", "x:y"])
def test_a_file_of_any_name_is_read(tmp_path, form, stem):
    written(tmp_path / f"a b.{form}", form, rows=1)  # what a%20b would mean in an address
    assert len(Interactions.read(written(tmp_path / f"{stem}.{form}", form), **COLUMNS)) == 3


def test_a_name_that_is_not_utf_8_says_so(tmp_path):
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff.csv"))
    written(tmp_path / "a.csv").rename(path)
    with pytest.raises(ValueError, match="the name of a file must be UTF-8"):
        Interactions.read(path, **COLUMNS)


@pytest.mark.parametrize("form", FORMATS)
def test_polars_does_not_map_the_file(tmp_path, form):
    """A mapped file that is truncated kills the process that reads it."""
    path = written(tmp_path / f"mapped.{form}", form, rows=100_000)
    (file,) = files_of(path)
    scan = {"csv": pl.scan_csv, "parquet": pl.scan_parquet, "arrow": pl.scan_ipc}[form]
    for _ in scan(address(file), glob=False).collect_batches(engine="streaming", chunk_size=10_000):
        assert path.name not in Path("/proc/self/maps").read_text()


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("change", ["truncated", "replaced", "grown", "deleted"])
def test_a_file_that_changes_while_it_is_read_is_an_error(tmp_path, form, change):
    path = written(tmp_path / f"log.{form}", form, rows=140_000)
    other = written(tmp_path / f"other.{form}", form, rows=140_001)
    seen = []

    def changed(_):
        if seen:
            return
        seen.append(path)
        if change == "truncated":
            os.truncate(path, 100)
        elif change == "replaced":
            other.replace(path)
        elif change == "deleted":
            path.unlink()
        else:
            with path.open("ab") as file:
                file.write(b"1,2\n")

    with pytest.raises(ValueError, match=rf"log\.{form}: the file changed while it was read"):
        Interactions.read(path, **COLUMNS, progress=changed)
    assert seen

import numpy as np
import pytest
from support.files import write, zipped

from ialspp.datasets.archive import extracted


def test_only_the_needed_file_is_unpacked_and_only_once(tmp_path, cache):
    archive = zipped(tmp_path / "a.zip", {"x/one.txt": "1", "x/two.txt": "2"})
    file = extracted(archive, "one.txt")
    assert file.read_text() == "1"
    assert {path.name for path in cache.rglob("*.txt*")} == {"one.txt", "one.txt.lock"}
    before = file.stat().st_mtime_ns
    assert extracted(archive, "one.txt") == file
    assert file.stat().st_mtime_ns == before
    file.write_text("")  # as a crash may leave a file whose name was on the disk before its bytes
    assert extracted(archive, "one.txt").read_text() == "1"


def test_archives_of_one_name_do_not_share_their_files(tmp_path):
    write(tmp_path / "a", {})
    first = extracted(zipped(tmp_path / "d.zip", {"one.txt": "1"}), "one.txt")
    second = extracted(zipped(tmp_path / "a" / "d.zip", {"one.txt": "2"}), "one.txt")
    assert (first.read_text(), second.read_text()) == ("1", "2")


def test_an_unsound_archive_is_an_error_and_leaves_no_file(tmp_path, cache):
    content = np.random.default_rng(0).integers(0, 10, 10_000).astype(str)
    archive = zipped(tmp_path / "a.zip", {"one.txt": "".join(content)})
    sound = archive.read_bytes()
    for damaged in (b"no zip", sound[:-100], sound[:2000] + b"?" * 500 + sound[2500:]):
        archive.write_bytes(damaged)
        with pytest.raises(ValueError, match=r"a\.zip is not a sound zip archive"):
            extracted(archive, "one.txt")
    assert [path for path in cache.rglob("*") if path.is_file() and path.suffix != ".lock"] == []


def test_an_archive_with_two_such_files_is_an_error(tmp_path):
    archive = zipped(tmp_path / "a.zip", {"x/one.txt": "1", "y/one.txt": "2", "__MACOSX/one.txt": ""})
    with pytest.raises(ValueError, match=r"one one\.txt is required.*x/one\.txt, y/one\.txt$"):
        extracted(archive, "one.txt")

import io
import struct
import zipfile

import numpy as np
import pytest
from support.files import write, zipped

from ialspp.datasets import archive as archives
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


@pytest.mark.parametrize("packing", ["ZIP_STORED", "ZIP_DEFLATED", "ZIP_BZIP2", "ZIP_LZMA"])
def test_flipped_bytes_are_an_unsound_archive_or_another_sound_one(packing, tmp_path):
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", getattr(zipfile, packing)) as packed:
        packed.writestr("x/\u00e9.txt", "")  # a name in UTF-8, which flips make invalid
        packed.writestr("x/one.txt", "1,2,3\n" * 200)
    sound, rng, refused = content.getvalue(), np.random.default_rng(0), 0
    for _ in range(300):
        damaged = bytearray(sound)
        for place in rng.integers(len(damaged), size=3):
            damaged[place] = rng.integers(256)
        (tmp_path / "a.zip").write_bytes(damaged)
        try:
            extracted(tmp_path / "a.zip", "one.txt")
        except (ValueError, FileNotFoundError) as error:
            assert "a.zip" in str(error)  # noqa: PT017  # either error, or none
            refused += 1
    assert refused > 50


def bomb(path, size):
    """An archive of a few bytes that says that they unpack into `size`."""
    zipped(path, {"one.txt": "0" * 1000})
    content = bytearray(path.read_bytes())
    directory = content.index(b"PK\x01\x02")
    for place in (22, directory + 24):  # in the header of the file, and in the directory
        content[place : place + 4] = struct.pack("<I", size)
    path.write_bytes(content)
    return path


def test_a_file_that_grows_too_much_is_not_unpacked(tmp_path, cache):
    with pytest.raises(
        ValueError, match=r"one\.txt has 4,000,000,000 bytes, packed into .*unpack it yourself"
    ):
        extracted(bomb(tmp_path / "a.zip", 4_000_000_000), "one.txt")
    assert not cache.exists()


def test_a_packed_size_beyond_the_archive_does_not_hide_a_bomb(tmp_path):
    path = bomb(tmp_path / "a.zip", 4_000_000_000)
    content = bytearray(path.read_bytes())
    directory = content.index(b"PK\x01\x02")
    content[directory + 20 : directory + 24] = struct.pack("<I", 3_000_000_000)
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"has 4,000,000,000 bytes, packed into \d\d\d;"):
        extracted(path, "one.txt")


def test_a_file_that_is_too_large_is_not_unpacked(tmp_path, cache, monkeypatch):
    monkeypatch.setattr(archives, "MOST_BYTES", 999)
    with pytest.raises(ValueError, match="has 1,000 bytes, packed into 1,000; at most 999 are unpacked"):
        extracted(stored(tmp_path / "a.zip"), "one.txt")
    assert not cache.exists()


def stored(path):
    with zipfile.ZipFile(path, "w") as packed:
        packed.writestr("one.txt", "0" * 1000)
    return path


def test_an_archive_that_unpacks_to_more_than_it_says_is_unsound(tmp_path, cache):
    with pytest.raises(ValueError, match="not a sound zip archive"):
        extracted(bomb(tmp_path / "a.zip", 10), "one.txt")
    assert [path for path in cache.rglob("*") if path.is_file() and path.suffix != ".lock"] == []

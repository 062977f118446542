import errno
import os
from concurrent.futures import ThreadPoolExecutor

import pytest
from support.processes import child, finish

from ialspp.files.appending import append_line

posix = pytest.mark.skipif(os.name != "posix", reason="limits as POSIX has them")


def test_lines_follow_each_other(tmp_path):
    file = tmp_path / "lines"
    append_line(file, "one")
    append_line(file, "zwei ü")
    assert file.read_bytes() == "one\nzwei ü\n".encode()


def test_lines_of_threads_do_not_mix(tmp_path):
    file = tmp_path / "lines"
    lines = [letter * 100_000 for letter in "abcdefgh"]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda line: append_line(file, line), lines))
    assert sorted(file.read_text().splitlines()) == lines


def test_a_line_without_its_end_is_not_continued(tmp_path):
    file = tmp_path / "lines"
    file.write_text('{"whole": 1}\n{"half": ')
    append_line(file, "next")
    append_line(file, "and next")
    assert file.read_text().splitlines() == ['{"whole": 1}', '{"half": ', "next", "and next"]


@posix
@pytest.mark.parametrize("room", [0, 10])  # nothing fits, and a part
def test_a_full_disk_leaves_the_file_as_it_was(tmp_path, room):
    file = tmp_path / "lines"
    file.write_text("one\n")
    code = """
    import resource, sys
    from pathlib import Path
    from ialspp.files.appending import append_line
    resource.setrlimit(resource.RLIMIT_FSIZE, (4 + int(sys.argv[2]),) * 2)
    try:
        append_line(Path(sys.argv[1]), "x" * 100)
    except OSError as error:
        print(error.errno, error.filename)
    """
    assert finish(child(code, file, room)) == (f"{errno.EFBIG} {file}\n", "")
    assert file.read_text() == "one\n"


def test_a_folder_is_named_in_the_error(tmp_path):
    with pytest.raises(IsADirectoryError) as caught:
        append_line(tmp_path, "line")
    assert caught.value.filename == str(tmp_path)

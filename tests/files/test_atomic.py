import errno
import os
import signal
import stat
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from support.processes import child, finish

from ialspp.files.atomic import _Part, replace_whole, whole_file

posix = pytest.mark.skipif(os.name != "posix", reason="signals, links and permissions as POSIX has them")


@pytest.fixture
def path(tmp_path):
    """A file that is there already."""
    old = tmp_path / "model.bin"
    old.write_bytes(b"old")
    return old


def names(folder):
    return sorted(entry.name for entry in folder.iterdir())


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def child_that_says(code, *arguments):
    """A process of its own and its first line."""
    process = child(code, *arguments)
    return process, process.stdout.readline().strip()


def test_a_file_has_its_name_when_it_is_whole(tmp_path):
    path = tmp_path / "new.bin"
    with whole_file(path) as file:
        file.write(b"all ")
        assert not path.exists()
        file.write(b"of it")
    assert path.read_bytes() == b"all of it"
    assert names(tmp_path) == ["new.bin"]


def test_the_old_file_stays_until_then(path):
    with whole_file(path) as file:
        file.write(b"new")
        file.flush()
        assert path.read_bytes() == b"old"
        assert names(path.parent)[0].startswith(f".model.bin.{os.getpid()}-")
        assert names(path.parent)[0].endswith(".part")
    assert path.read_bytes() == b"new"
    assert names(path.parent) == ["model.bin"]


def test_what_was_written_can_be_written_over(path):
    with whole_file(path) as file:
        file.write(b"0000 and more")
        file.seek(0)
        file.write(b"1234")
    assert path.read_bytes() == b"1234 and more"


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize("size", [10, 1_000_000])  # in the buffer, and beyond it
def test_an_error_leaves_the_old_file_and_nothing_else(path, error, size):
    def write():
        with whole_file(path) as file:
            file.write(bytes(size))
            raise error

    with pytest.raises(error):
        write()
    assert path.read_bytes() == b"old"
    assert names(path.parent) == ["model.bin"]


def test_an_error_leaves_no_new_file(tmp_path):
    with pytest.raises(ZeroDivisionError), whole_file(tmp_path / "new.bin") as file:
        file.write(b"%d" % (1 // 0))
    assert names(tmp_path) == []


def test_a_file_that_the_block_closes_is_not_taken_for_whole(path):
    with pytest.raises(ValueError, match="closed file"), whole_file(path) as file:
        file.close()
    assert path.read_bytes() == b"old"
    assert names(path.parent) == ["model.bin"]


def test_errors_of_other_files_stay_as_they_are(path):
    with pytest.raises(FileNotFoundError) as caught, whole_file(path):
        Path("elsewhere").read_bytes()
    assert caught.value.filename == "elsewhere"
    with pytest.raises(OSError, match=r"^\[Errno 5\] a socket, say$"), whole_file(path):
        raise OSError(errno.EIO, "a socket, say")


@posix
@pytest.mark.parametrize(("umask", "expected"), [(0o022, 0o644), (0o002, 0o664), (0o077, 0o600)])
def test_a_new_file_has_the_permissions_of_the_umask(tmp_path, umask, expected):
    before = os.umask(umask)
    try:
        with whole_file(tmp_path / "new.bin") as file:
            file.write(b"new")
    finally:
        os.umask(before)
    assert mode(tmp_path / "new.bin") == expected


@posix
@pytest.mark.parametrize("permissions", [0o600, 0o640, 0o666, 0o755])
def test_a_replaced_file_hands_its_permissions_on_before_the_first_byte(path, permissions):
    path.chmod(permissions)
    with whole_file(path) as file:
        (part,) = path.parent.glob(".*.part")
        assert mode(part) == permissions
        file.write(b"new")
    assert mode(path) == permissions


@posix
@pytest.mark.parametrize("is_there", [True, False])
def test_a_link_stays_and_what_it_points_to_is_replaced(path, tmp_path, is_there):
    (tmp_path / "links").mkdir()
    link = tmp_path / "links" / "latest"
    link.symlink_to("../model.bin")
    if not is_there:
        path.unlink()
    with whole_file(link) as file:
        file.write(b"new")
    assert link.readlink() == Path("../model.bin")
    assert path.read_bytes() == b"new"
    assert not path.is_symlink()
    assert names(link.parent) == ["latest"]


def test_a_folder_is_not_replaced(tmp_path):
    with pytest.raises(IsADirectoryError) as caught, whole_file(tmp_path):
        pytest.fail("there is nothing to write to")
    assert caught.value.filename == str(tmp_path)


def test_a_folder_that_is_not_there_is_named(tmp_path):
    path = tmp_path / "missing" / "model.bin"
    with pytest.raises(FileNotFoundError, match=r"there is no folder .*missing") as caught, whole_file(path):
        pytest.fail("there is nothing to write to")
    assert caught.value.filename == str(path)
    assert names(tmp_path) == []


@posix
def test_a_file_is_no_folder(path):
    with pytest.raises(NotADirectoryError) as caught, whole_file(path / "model.bin"):
        pytest.fail("there is nothing to write to")
    assert caught.value.filename == str(path / "model.bin")


@posix
def test_a_link_to_itself_is_an_error_that_names_it(tmp_path):
    link = tmp_path / "round"
    link.symlink_to(link)
    with pytest.raises(OSError, match="symbolic links") as caught, whole_file(link):
        pytest.fail("there is nothing to write to")
    assert caught.value.filename == str(link)


@posix
def test_a_pipe_is_not_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match=r"only a regular file can be replaced: .*pipe"):
        whole_file(tmp_path / "pipe").__enter__()
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)


@posix
@pytest.mark.parametrize("name", ["x" * 255, "é" * 127])
def test_a_name_may_be_as_long_as_the_system_allows(tmp_path, name):
    with whole_file(tmp_path / name) as file:
        file.write(b"new")
    assert names(tmp_path) == [name]


@posix
def test_a_name_that_is_too_long_is_an_error_that_names_it(tmp_path):
    path = tmp_path / ("x" * 256)
    with pytest.raises(OSError, match="too long") as caught, whole_file(path):
        pytest.fail("there is nothing to write to")
    assert caught.value.filename == str(path)


@posix
@pytest.mark.parametrize(("folder_mode", "file_mode"), [(0o777, 0o444), (0o555, 0o666)])
def test_what_may_not_be_written_is_not_replaced(folder_mode, file_mode):
    code = """
    import os, sys
    from pathlib import Path
    from ialspp.files.atomic import whole_file
    if os.getuid() == 0:
        os.setuid(65534)  # for root nothing is forbidden
    try:
        with whole_file(Path(sys.argv[1])) as file:
            file.write(b"new")
    except PermissionError as error:
        print(error.filename)
    """
    with tempfile.TemporaryDirectory() as folder:  # pytest's own are closed to other users
        path = Path(folder) / "model.bin"
        path.write_bytes(b"old")
        path.chmod(file_mode)
        path.parent.chmod(folder_mode)
        process, said = child_that_says(code, path)
        finish(process)
        path.parent.chmod(0o700)
        assert said == str(path)
        assert path.read_bytes() == b"old"
        assert names(path.parent) == ["model.bin"]


def test_two_writers_do_not_share_a_file(path):
    with whole_file(path) as first, whole_file(path) as second:
        first.write(b"first")
        second.write(b"second")
    assert path.read_bytes() == b"first"  # the outer block ends last
    assert names(path.parent) == ["model.bin"]


def test_threads_that_write_the_same_file_leave_one_of_theirs(path):
    def write(letter):
        for _ in range(5):
            with whole_file(path) as file:
                for _ in range(100):
                    file.write(letter * 1000)
            assert len(set(path.read_bytes())) == 1
            assert path.stat().st_size == 100_000

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, [b"a", b"b", b"c", b"d"]))
    assert names(path.parent) == ["model.bin"]


def test_the_next_write_removes_what_a_killed_process_left(path):
    stale = path.with_name(f".model.bin.{os.getpid()}-0123456789abcdef.part")
    stale.write_bytes(b"half")
    of_another_file = path.with_name(f".other.bin.{os.getpid()}-0123456789abcdef.part")
    of_another_file.write_bytes(b"half")
    with whole_file(path) as file:
        file.write(b"new")
    assert names(path.parent) == [of_another_file.name, "model.bin"]


ENDLESS_WRITER = """
import sys, time
from pathlib import Path
from ialspp.files.atomic import whole_file
try:
    with whole_file(Path(sys.argv[1])) as file:
        file.write(bytes(1_000_000))
        print("in the middle", flush=True)
        while True:
            time.sleep(1)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


@posix
def test_a_writer_that_is_killed_leaves_the_old_file(path):
    process, said = child_that_says(ENDLESS_WRITER, path)
    process.kill()
    finish(process)
    assert process.returncode == -signal.SIGKILL
    assert said == "in the middle"
    assert path.read_bytes() == b"old"
    part, _ = names(path.parent)
    assert part.endswith(".part")


@posix
def test_ctrl_c_leaves_the_old_file_and_nothing_else(path):
    process, said = child_that_says(ENDLESS_WRITER, path)
    process.send_signal(signal.SIGINT)
    rest, _ = finish(process)
    assert (said, rest.strip()) == ("in the middle", "interrupted")
    assert path.read_bytes() == b"old"
    assert names(path.parent) == ["model.bin"]


@posix
@pytest.mark.parametrize("size", [100, 10_000_000])  # an error of the last flush, and of a write
def test_a_full_disk_leaves_the_old_file_and_nothing_else(path, size):
    code = """
    import resource, sys
    from pathlib import Path
    from ialspp.files.atomic import whole_file
    resource.setrlimit(resource.RLIMIT_FSIZE, (50, 50))  # Python ignores the signal that comes with it
    try:
        with whole_file(Path(sys.argv[1])) as file:
            file.write(bytes(int(sys.argv[2])))
    except OSError as error:
        print(error.errno, error.filename)
    """
    process, said = child_that_says(code, path, size)
    _, stderr = finish(process)
    assert said == f"{errno.EFBIG} {path}", stderr
    assert stderr == ""
    assert path.read_bytes() == b"old"
    assert names(path.parent) == ["model.bin"]


def test_a_finished_file_is_given_its_name(path):
    part = path.with_name("download.part")
    part.write_bytes(b"new")
    replace_whole(part, path)
    assert path.read_bytes() == b"new"
    assert names(path.parent) == ["model.bin"]


as_root = pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root gives files away")


@as_root
def test_a_replaced_file_stays_with_its_owner(path):
    os.chown(path, 12345, 23456)
    path.chmod(0o640)
    with whole_file(path) as file:
        file.write(b"new")
    status = path.stat()
    assert (status.st_uid, status.st_gid, mode(path)) == (12345, 23456, 0o640)


@pytest.fixture
def for_all():
    """A file in a folder that every user may use, which those of pytest are not."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o777)
        path = Path(folder, "model.bin")
        path.write_bytes(b"old")
        yield path


def replaced_by(path, groups):
    """Replace a file in another process, as a user who is in these groups."""
    code = """
    import os, sys
    from pathlib import Path
    from ialspp.files.atomic import whole_file
    path, *groups = sys.argv[1:]
    os.setgroups([int(group) for group in groups])
    os.setgid(int(groups[0]))
    os.setuid(1002)
    with whole_file(Path(path)) as file:
        file.write(b"new")
    print("done")
    """
    process, said = child_that_says(code, path, *groups)
    _, stderr = finish(process)
    assert said == "done", stderr
    return path.stat()


@as_root
def test_a_replaced_file_stays_with_a_group_of_the_writer(for_all):
    os.chown(for_all, 12345, 2000)
    for_all.chmod(0o660)
    status = replaced_by(for_all, [3000, 2000])
    assert (status.st_uid, status.st_gid, mode(for_all)) == (1002, 2000, 0o660)


@as_root
def test_another_group_may_do_what_everyone_may(for_all):
    os.chown(for_all, 12345, 2000)
    for_all.chmod(0o676)
    status = replaced_by(for_all, [3000])
    assert (status.st_uid, status.st_gid, mode(for_all)) == (1002, 3000, 0o666)


@as_root
def test_nothing_but_the_new_file_changes_hands(path, monkeypatch):
    secret = path.with_name("secret")
    secret.write_bytes(b"root's")
    secret.chmod(0o600)
    os.chown(path, 12345, 23456)
    create = _Part._create

    def swapped(self, part):
        create(self, part)
        part.unlink()
        part.symlink_to(secret)

    monkeypatch.setattr(_Part, "_create", swapped)
    with whole_file(path) as file:
        file.write(b"new")
    status = secret.stat()
    assert (status.st_uid, status.st_gid, mode(secret)) == (0, os.getegid(), 0o600)

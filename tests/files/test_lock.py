import os
import threading

import pytest
from support.processes import child, finish

from ialspp.files.lock import is_named, replacing

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="locks and forks as POSIX has them")


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "model.bin"
    file.write_bytes(b"old")
    return file


FORKING = """
import os, sys
from pathlib import Path
from ialspp.files.atomic import whole_file
from ialspp.files.lock import replacing

path = Path(sys.argv[1])
end, alive = os.pipe()

def fork():  # a child that lives as long as this process, with all files that are open now
    if os.fork() == 0:
        os.close(alive)
        os.read(end, 1)
        os._exit(0)

def write(content):
    with whole_file(path) as file:
        file.write(content)
"""


def test_who_replaces_a_file_waits_for_another(path):
    order = []

    def second():
        with replacing(path):
            order.append("second")

    with replacing(path):
        thread = threading.Thread(target=second)
        thread.start()
        thread.join(0.1)
        order.append("first")
    thread.join()
    assert order == ["first", "second"]


def test_who_waited_holds_the_file_that_is_there_now(path):
    """The file that it waited for is gone, so that its lock is nobody's."""
    held = threading.Event()

    def second():
        with replacing(path):
            held.set()

    with replacing(path):
        thread = threading.Thread(target=second)
        thread.start()
        thread.join(0.1)
        path.with_name("new").write_bytes(b"new")
        path.with_name("new").replace(path)
    thread.join()
    assert held.is_set()
    assert path.read_bytes() == b"new"


def test_a_file_that_is_missing_or_unreadable_is_no_obstacle(tmp_path):
    with replacing(tmp_path / "nothing"):
        pass
    with replacing(tmp_path):
        pass


def test_an_open_file_is_told_from_the_one_that_replaced_it(path):
    with path.open("rb") as file:
        assert is_named(file.fileno(), path)
        path.with_name("new").write_bytes(b"new")
        path.with_name("new").replace(path)
        assert not is_named(file.fileno(), path)
        path.unlink()
        assert not is_named(file.fileno(), path)


@pytest.mark.parametrize(
    "held",
    [
        # By the end the open file, which the child has too, is the one at the path.
        "with whole_file(path) as file: fork()",
        """
try:
    with replacing(path):
        fork()
        raise ValueError
except ValueError:
    pass
""",
    ],
    ids=["a file that is written", "a file that is to be replaced"],
)
def test_a_forked_child_does_not_keep_the_next_writer_waiting(path, held):
    process = child(f"{FORKING}\n{held}\nwrite(b'second')", path)
    assert finish(process) == ("", "")
    assert path.read_bytes() == b"second"

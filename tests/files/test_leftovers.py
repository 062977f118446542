import os
import signal

import pytest
from support.processes import child, finish

from ialspp.files.atomic import whole_file
from ialspp.files.leftovers import finished_name, leftovers, sweep, unfinished_name

pytestmark = pytest.mark.skipif(os.name != "posix", reason="locks and forks as POSIX has them")

WRITER = """
import sys, time
from pathlib import Path
from ialspp.files.atomic import whole_file
with whole_file(Path(sys.argv[1])) as file:
    print("in the middle", flush=True)
    time.sleep(600)
"""


@pytest.fixture
def target(tmp_path):
    return tmp_path / "model.bin"


@pytest.fixture
def writer(target):
    """A process that is in the middle of writing the file."""
    process = child(WRITER, target)
    assert process.stdout.readline() == "in the middle\n"
    yield process
    process.kill()
    finish(process)


def names(folder):
    return sorted(entry.name for entry in folder.iterdir())


@pytest.mark.usefixtures("writer")
def test_what_a_living_process_writes_is_no_leftover(target):
    assert leftovers(target.parent) == []
    sweep(target)
    assert len(names(target.parent)) == 1
    with whole_file(target) as file:
        file.write(b"new")
    assert len(names(target.parent)) == 2


def test_what_a_killed_process_wrote_is_one(target, writer):
    writer.send_signal(signal.SIGKILL)
    finish(writer)
    (part,) = leftovers(target.parent)
    assert part.name.startswith(f".model.bin.{writer.pid}-")
    sweep(target)
    assert names(target.parent) == []


def test_the_file_of_this_process_is_no_leftover_for_itself(target):
    with whole_file(target):
        assert leftovers(target.parent) == []
        sweep(target)
        assert len(names(target.parent)) == 1


def test_only_names_of_ours_are_leftovers(target):
    for name in (
        ".model.bin.part",
        "model.bin.12-0123456789abcdef.part",
        ".model.bin.x-0123456789abcdef.part",
    ):
        (target.parent / name).write_bytes(b"")
    unfinished_name(target).mkdir()
    unfinished_name(target).symlink_to("nowhere")
    os.mkfifo(pipe := unfinished_name(target))
    before = names(target.parent)
    assert leftovers(target.parent) == [pipe]
    sweep(target)
    assert names(target.parent) == [name for name in before if name != pipe.name]


def test_a_leftover_that_may_not_be_removed_does_not_keep_the_others(target):
    stuck, other = sorted(unfinished_name(target) for _ in range(2))
    stuck.write_bytes(b"half")
    other.write_bytes(b"half")
    code = """
    import os, sys
    from pathlib import Path
    from ialspp.files import leftovers
    removed = Path.unlink
    def unlink(path):
        if path.name == sys.argv[2]:
            raise PermissionError
        removed(path)
    Path.unlink = unlink
    leftovers.sweep(Path(sys.argv[1]))
    """
    process = child(code, target, stuck.name)
    assert finish(process) == ("", "")
    assert names(target.parent) == [stuck.name]


def test_a_file_that_stays_unfinished_is_swept_when_its_process_is_killed(target):
    """Also what is left of writing it, which has a longer name."""
    process = child(
        """
        import sys, time
        from pathlib import Path
        from ialspp.files.atomic import whole_file
        from ialspp.files.leftovers import in_use, unfinished_name
        part = unfinished_name(Path(sys.argv[1]))
        part.touch()
        with in_use(part), whole_file(part) as file:
            print(part.name, flush=True)
            time.sleep(600)
        """,
        target,
    )
    part = process.stdout.readline().strip()
    assert len(names(target.parent)) == 2
    sweep(target)
    assert len(names(target.parent)) == 2
    assert leftovers(target.parent) == []
    process.kill()
    finish(process)
    assert len(leftovers(target.parent)) == 2
    sweep(target.with_name("other.bin"))
    assert len(names(target.parent)) == 2
    sweep(target)
    assert names(target.parent) == []
    assert finished_name(target.with_name(part)) == target
    assert finished_name(target) == target

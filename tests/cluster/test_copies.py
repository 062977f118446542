"""Data that is sent to the disks of the nodes, for those that do not see the driver's file."""

from contextlib import contextmanager
from types import SimpleNamespace

import pytest
import ray
from support.models import make_data, make_model, same_bits

from ialspp import Interactions
from ialspp.cluster import RayCluster
from ialspp.cluster.copies import Copies, DataFile, Sender
from ialspp.errors import InvalidStateError
from ialspp.files.leftovers import unfinished_name

pytestmark = pytest.mark.usefixtures("two_nodes")

SETTINGS = {"epochs": 2, "solver": None}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "events.ialsdata"


@pytest.fixture
def data(path):
    return saved(path)


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "disk of a node" / "data"


def saved(path, n=3000):
    make_data(users=200, n=n).save(path)
    return Interactions.open(path)


def opened_elsewhere(data, folder, chunk=10_000):
    """Open the data as a worker does that is not on the driver's node."""
    with sender_here(data.file.path) as sender:
        copies = Copies(str(folder), "another node", sender, data.file.path.stat().st_size, chunk)
        return DataFile(str(data.file.path), data.file.checksum, copies).opened()


@contextmanager
def sender_here(path):
    """What the sender answers, without a process of its own."""
    sender = Sender(path)

    def chunk(begin, size):
        return ray.put(sender.chunk(begin, size))

    with sender._file:
        yield SimpleNamespace(chunk=SimpleNamespace(remote=chunk))


def names_in(folder):
    return sorted(path.name for path in folder.iterdir() if path.suffix != ".lock")


def test_workers_train_on_copies_which_are_sent_once(data, path, folder, cluster):
    cluster.push_to = folder
    model = make_model(**SETTINGS).fit(data, cluster=cluster, progress=False)
    assert same_bits(model, make_model(**SETTINGS).fit(data, progress=False))
    assert names_in(folder) == [f"events-{data.file.checksum}.ialsdata"]
    copy = folder / names_in(folder)[0]
    assert copy.read_bytes() == path.read_bytes()
    before = copy.stat()
    assert opened_elsewhere(data, folder).file.path == copy
    assert (copy.stat().st_ino, copy.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


@pytest.mark.parametrize("more", [-1, 0, 1])
def test_a_file_in_several_chunks_arrives_whole(data, path, folder, more):
    opened = opened_elsewhere(data, folder, chunk=path.stat().st_size // 3 + more)
    assert opened.file.path.parent == folder
    assert opened.file.path.read_bytes() == path.read_bytes()


def test_copies_of_older_files_of_the_same_name_are_removed(data, path, folder):
    opened_elsewhere(data, folder)
    opened_elsewhere(saved(path.with_name("others.ialsdata")), folder)
    (folder / "events-2.ialsdata").write_text("not a copy of ours")
    unfinished_name(folder / f"events-{'0' * 16}.ialsdata").write_text("of a process that was killed")
    newer = saved(path, n=4000)
    opened_elsewhere(newer, folder)
    events, mine, others = names_in(folder)
    assert (events, mine) == tuple(sorted(["events-2.ialsdata", f"events-{newer.file.checksum}.ialsdata"]))
    assert others.startswith("others-")


def test_a_damaged_file_is_not_copied(path, folder):
    make_data(users=200, n=3000).save(path)
    content = bytearray(path.read_bytes())
    content[-100] ^= 1
    path.write_bytes(content)
    data = Interactions.open(path, verify=False)
    with pytest.raises(InvalidStateError, match=r"the data cannot be copied to .*data of .*: "):
        opened_elsewhere(data, folder)
    assert names_in(folder) == []


def test_a_file_that_was_replaced_since_it_was_opened_is_not_copied(data, path, folder):
    saved(path, n=4000)
    with pytest.raises(InvalidStateError, match="is another file than on the driver's"):
        opened_elsewhere(data, folder)
    assert names_in(folder) == []


def test_a_folder_that_cannot_be_made_is_an_error(data, tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(InvalidStateError, match=r"the data cannot be copied to .*/file/data of .*: "):
        opened_elsewhere(data, tmp_path / "file" / "data")


def test_the_folder_must_mean_the_same_everywhere():
    with pytest.raises(ValueError, match=r"push_to must be an absolute path, .*, got data"):
        RayCluster(push_to="data")

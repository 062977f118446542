"""A fit on a Ray cluster has the bits of a fit on one machine, on any number of workers and whoever dies."""

import shutil
import signal
import socket
import sys

import pytest
import ray
from support.checkpoints import Interrupted, interrupted_halves, interrupting
from support.clusters import STORE, bits, epochs, epochs_from, started
from support.commands import ialspp, ialspp_process
from support.models import fitted, losses, make_model, same_bits
from support.processes import finish, wait_until
from support.terminal import PIPES, start

from ialspp import IALS, ICD, IALSpp, IdMap, ImplicitMF, Interactions, SpectralCG
from ialspp.cluster import RayCluster
from ialspp.cluster.needs import Factors, Needs
from ialspp.cluster.ray_cluster import are_same, sigterm_kept
from ialspp.errors import InvalidStateError, InvalidValueError, MissingExtraError
from ialspp.model.checkpoint import Checkpoint
from ialspp.solvers import ThisMachine, half, spectral

pytestmark = pytest.mark.usefixtures("two_nodes")

DIM = 9
SOLVERS = [
    SpectralCG(),
    SpectralCG(precision="mixed", relaxation=1.2),
    SpectralCG(tolerance=1e-4),
    IALS(relaxation=1.1),
    IALSpp(block_size=4),
]


FETCHES = ["side", "rows"]


@pytest.fixture(scope="session")
def here(stored):
    """On one machine: the factors that fits start from, and what each solver makes of them."""
    start = started(stored, ThisMachine(2), dim=DIM)
    return start, [epochs_from(start, solver, stored, ThisMachine(2), 2) for solver in SOLVERS]


@pytest.mark.parametrize("fetch", FETCHES)
@pytest.mark.parametrize(("cluster", "workers"), [(1, 1), (2, 2), (3, 3)], indirect=["cluster"])
def test_bits_are_those_of_one_machine(stored, here, cluster, workers, fetch):
    start, wanted = here
    cluster.fetch = fetch
    with cluster.training(stored, DIM) as place:
        assert len(place.crew.members) == workers
        assert bits(started(stored, place, dim=DIM)) == bits(start)
        assert [epochs_from(start, solver, stored, place, 2) for solver in SOLVERS] == wanted


@pytest.mark.parametrize("fetch", FETCHES)
def test_a_side_that_is_not_rotated_has_the_same_bits(stored, here, cluster, fetch, monkeypatch):
    monkeypatch.setattr(spectral, "is_nearly_diagonal", lambda _: True)
    solver = SpectralCG(precision="mixed")
    wanted = epochs_from(here[0], solver, stored, ThisMachine(2), 2)
    cluster.fetch = fetch
    with cluster.training(stored, DIM) as place:
        assert epochs_from(here[0], solver, stored, place, 2) == wanted


@pytest.mark.parametrize("is_rotated", [True, False])
@pytest.mark.parametrize("smaller", [1, 2.0**-15])  # than the unit of numbers that fit: some rows do not
def test_sides_too_large_to_be_copied_have_the_same_bits(stored, cluster, monkeypatch, is_rotated, smaller):
    monkeypatch.setattr(half, "MOST_BYTES_TO_COPY", 0)
    monkeypatch.setattr(spectral, "is_nearly_diagonal", lambda _: not is_rotated)
    monkeypatch.setattr(spectral, "unit_of", lambda mean_square: smaller * half.unit_of(mean_square))
    solver = SpectralCG(precision="mixed")
    wanted = epochs(solver, stored, ThisMachine(2), dim=16, count=3)
    with cluster.training(stored, 16) as place:
        assert epochs(solver, stored, place, dim=16, count=3) == wanted


@pytest.mark.parametrize("fetch", FETCHES)
def test_numbers_beyond_half_precision_are_read_in_single_precision(stored, cluster, fetch, monkeypatch):
    wanted = epochs(SpectralCG(precision="single"), stored, ThisMachine(2), dim=DIM, count=2)
    monkeypatch.setattr(spectral, "unit_of", lambda _: 2.0**-60)
    cluster.fetch = fetch
    with cluster.training(stored, DIM) as place:
        assert epochs(SpectralCG(precision="mixed"), stored, place, dim=DIM, count=2) == wanted


@pytest.mark.parametrize("fetch", FETCHES)
def test_a_lost_worker_changes_no_bit_and_is_replaced(stored, cluster, fetch):
    cluster.fetch = fetch
    with cluster.training(stored, DIM) as place:

        def kill(epoch):
            if epoch > 0:
                ray.kill(place.crew.members[0].actor)

        wanted = epochs(SpectralCG(), stored, ThisMachine(2), dim=DIM, count=4)
        assert epochs(SpectralCG(), stored, place, dim=DIM, count=4, between=kill) == wanted
    assert cluster.lost == 3


def test_a_node_that_joins_is_used_and_may_leave_again(stored, cluster, two_nodes):
    joined = []
    with cluster.training(stored, DIM) as place:

        def join_or_leave(epoch):
            if epoch == 1:
                joined.append(two_nodes.add_node(num_cpus=1, object_store_memory=STORE))
                while len(place.crew.members) < 3:
                    place.crew.refresh()
            if epoch == 2:
                two_nodes.remove_node(joined.pop())

        wanted = epochs(IALSpp(), stored, ThisMachine(1), dim=DIM, count=3)
        assert epochs(IALSpp(), stored, place, dim=DIM, count=3, between=join_or_leave) == wanted


@pytest.mark.usefixtures("free_nodes")
def test_a_fit_on_a_cluster_is_a_fit(stored, tmp_path):
    cluster, seen = RayCluster(workers=2), []
    model = make_model(epochs=4, solver=None)
    model.fit(
        stored,
        cluster=cluster,
        checkpoint=tmp_path / "state",
        callbacks=[lambda model, record: seen.append((record.epoch, model.item_factors.sum()))],
        progress=False,
    )
    local = fitted(stored, epochs=4, solver=None)
    assert same_bits(model, local)
    assert losses(model) == losses(local)
    assert [epoch for epoch, _ in seen] == [1, 2, 3, 4]
    assert seen[-1][1] == local.item_factors.sum()
    assert cluster.seconds_to_start > 0


@pytest.fixture(scope="session")
def interrupted(stored, kept_workers, tmp_path_factory):
    """Checkpoints of fits on one worker that were interrupted, by the epochs that were done."""
    folder, cluster = tmp_path_factory.mktemp("interrupted"), kept_workers.of(1)
    states = {1.5: folder / "half", 2: folder / "whole"}

    def interrupt(done, callbacks):
        options = {"checkpoint": states[done], "callbacks": callbacks, "cluster": cluster}
        with pytest.raises(Interrupted):
            make_model(epochs=4, solver=None).fit(stored, **options, progress=False)

    interrupt(2, [interrupting(2)])
    with pytest.MonkeyPatch.context() as patch:
        interrupted_halves(patch).append(2)
        interrupt(1.5, [])
    return states


@pytest.mark.parametrize(("cluster", "where"), [(1, "here"), (2, "on the cluster")], indirect=["cluster"])
@pytest.mark.parametrize("done", [1.5, 2])
def test_an_interrupted_fit_goes_on_from_its_checkpoint(stored, interrupted, cluster, tmp_path, done, where):
    checkpoint = tmp_path / "state"
    shutil.copy(interrupted[done], checkpoint)
    found = Checkpoint.read(checkpoint)
    assert len(found.history) + (0.5 if found.half else 0) == done
    place = cluster if where == "on the cluster" else None
    resumed = ImplicitMF.resume(checkpoint, stored, progress=False, cluster=place)
    assert same_bits(resumed, fitted(stored, epochs=4, solver=None))


def test_a_node_receives_the_side_that_is_held_fixed_without_its_own_part(stored, cluster):
    received = {}
    for count in (1, 3):
        with cluster.training(stored, DIM) as place:
            epochs(IALS(), stored, place, dim=DIM, count=count)
        here = ray.get_runtime_context().get_node_id()
        (received[count],) = (size for node, size in cluster.received.items() if node != here)
    rows, other_share = stored.n_users + stored.n_items, 2 / 3  # of the threads, on the driver's node
    formula = 4 * DIM * rows * other_share
    assert (received[3] - received[1]) / 2 == pytest.approx(formula, rel=0.05)


def test_a_cluster_refuses_what_it_cannot_do(stored, cluster, monkeypatch):
    copy = Interactions.from_arrays(user=[1, 2], item=[3, 4])
    with pytest.raises(InvalidValueError, match="every node can read"):
        make_model().fit(copy, cluster=RayCluster())
    for solver in (ICD(), IALSpp(sweep="block")):
        with pytest.raises(InvalidValueError, match="train on one machine only"):
            make_model(solver=solver).fit(stored, cluster=cluster, progress=False)
    needs = Needs.of_side(Factors(stored.n_users, stored.n_items, 60_000, 2))
    with pytest.raises(InvalidStateError, match=f"--object-store-memory={needs.driver}"):
        make_model(dim=60_000, init="random").fit(stored, cluster=RayCluster(fetch="side"), progress=False)
    for wrong in ({"workers": 0}, {"threads": 0}, {"fetch": "A"}):
        with pytest.raises(InvalidValueError, match="must be"):
            RayCluster(**wrong)
    with pytest.raises(InvalidValueError, match="must run on a node"):
        RayCluster(address="ray://10.0.0.1:10001")
    for wrong in ("nonsense", "", "LOCAL", "10.0.0.1", ":6379", "10.0.0.1:port", "a b:1"):
        with pytest.raises(InvalidValueError, match='address must be "auto", "local" or the HOST:PORT'):
            RayCluster(address=wrong)
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'ialspp\[ray\]'"):
        make_model().fit(stored, cluster=RayCluster())


@pytest.fixture
def events(stored, tmp_path_factory):
    """A file without users and items that have no interactions, as `ialspp prepare` writes them."""
    path = tmp_path_factory.mktemp("events") / "events.ialsdata"
    stored.core().save(path)
    return path


@pytest.mark.usefixtures("free_nodes")
def test_the_command_trains_on_data_that_its_options_make(events, two_nodes, tmp_path):
    made = ["--min-user", "13", "--weighting", "log", "--item-power", "0.5"]
    options = [*made, "--dim", DIM, "--epochs", "2", "-o"]
    here, there = tmp_path / "here.ialspp", tmp_path / "there.ialspp"
    done = ialspp("fit", events, "--ray", two_nodes.address, "--workers", "2", *options, there)
    assert done.returncode == 0, done.stderr
    assert ialspp("fit", events, *options, here).returncode == 0
    assert same_bits(ImplicitMF.load(there), ImplicitMF.load(here))
    assert len(ImplicitMF.load(there).users) < Interactions.open(events).n_users
    assert [path.name for path in events.parent.iterdir()] == [events.name]


@pytest.mark.usefixtures("free_nodes")
def test_another_cluster_than_the_one_of_this_process_is_refused(stored):
    with pytest.raises(InvalidStateError, match=r"'10\.0\.0\.1:6379', but this process is connected to"):
        make_model().fit(stored, cluster=RayCluster(address="10.0.0.1:6379"), progress=False)


def test_an_address_where_nothing_listens_is_an_error_at_once(events, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
    for given in (address, "127.0.0.1:99999", "a..b:6379"):
        done = ialspp_process("fit", events, "--ray", given, "-o", tmp_path / "m.ialspp")
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith(f"ialspp: address is '{given}', but no Ray cluster answers there: ")
    assert list(tmp_path.iterdir()) == []


def test_sigterm_while_ray_has_its_own_handler_is_ours():
    def ours(_number, _frame):
        raise InterruptedError

    def raised_in_ray():
        with sigterm_kept():
            signal.signal(signal.SIGTERM, lambda number, _frame: sys.exit(number))  # as Ray does
            signal.raise_signal(signal.SIGTERM)

    before = signal.signal(signal.SIGTERM, ours)
    try:
        with pytest.raises(InterruptedError):
            raised_in_ray()
        assert signal.getsignal(signal.SIGTERM) is ours
        with pytest.raises(SystemExit, match="3"), sigterm_kept():
            sys.exit(3)
    finally:
        signal.signal(signal.SIGTERM, before)


@pytest.mark.parametrize(
    ("wanted", "same"),
    [
        ("192.0.2.5:6379", True),
        ("192.0.2.5:6380", False),
        ("192.0.2.9:6379", False),
        ("127.0.0.1:6379", True),
        ("localhost:6379", True),
        ("[::1]:6379", True),
        ("nowhere.invalid:6379", False),
    ],
)
def test_a_cluster_on_this_machine_has_several_addresses(wanted, same):
    assert are_same(wanted, "192.0.2.5:6379", here="192.0.2.5") == same


def test_this_machine_is_no_other():
    assert not are_same("localhost:6379", "192.0.2.9:6379", here="192.0.2.5")
    assert are_same("localhost:6379", "127.0.0.1:6379", here="192.0.2.5")


@pytest.mark.usefixtures("free_nodes")
def test_data_with_more_ids_than_its_file_is_refused(stored):
    users = IdMap([*stored.users, "someone"] if stored.users.is_text else [*stored.users, 10**6], name="user")
    with pytest.raises(InvalidValueError, match="data in a file"):
        make_model().fit(stored.extended(users, stored.items), cluster=RayCluster(), progress=False)


@pytest.mark.usefixtures("free_nodes")
def test_the_command_trains_on_a_cluster(events, two_nodes, tmp_path):
    out = tmp_path / "model.ialspp"
    place = ["--ray", two_nodes.address, "--workers", "2"]
    done = ialspp_process("fit", events, *place, "--dim", DIM, "--epochs", "2", "-o", out)
    assert done.returncode == 0, done.stderr
    assert "started in" in done.stdout
    assert same_bits(
        ImplicitMF.load(out), ImplicitMF(DIM, epochs=2).fit(Interactions.open(events), progress=False)
    )


@pytest.mark.usefixtures("free_nodes")
def test_the_command_stops_early_on_a_cluster_as_on_one_machine(events, two_nodes, tmp_path):
    options = ["--dim", 4, "--epochs", 3, "--early-stop", "ndcg@10", "-o"]
    there, here = (tmp_path / name for name in ("cluster.ialspp", "local.ialspp"))
    done = ialspp("fit", events, "--ray", two_nodes.address, "--fetch", "rows", *options, there)
    assert done.returncode == 0, done.stderr
    assert ialspp("fit", events, *options, here).returncode == 0
    assert same_bits(ImplicitMF.load(there), ImplicitMF.load(here))
    assert [path.name for path in events.parent.iterdir()] == [events.name]  # the training part is gone


@pytest.mark.usefixtures("free_nodes")
def test_a_terminated_command_keeps_its_checkpoint(events, two_nodes, tmp_path):
    """Though Ray has a handler of SIGTERM, which would end the process without a word."""
    endless = ["--workers", 1, "--dim", 4, "--epochs", 20_000, "--checkpoint", "state", "-o", "m.ialspp"]
    fit = start("fit", events, "--ray", two_nodes.address, *endless, cwd=tmp_path, **PIPES)
    wait_until(lambda: fit.poll() is not None or (tmp_path / "state").exists())
    fit.send_signal(signal.SIGTERM)
    _, said = finish(fit)
    assert fit.returncode == 143, said
    assert "go on with: ialspp fit --resume state" in " ".join(said.split())
    assert [path.name for path in tmp_path.iterdir()] == ["state"]

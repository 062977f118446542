"""Where nodes fetch rows as they need them: when that is chosen, and how many bytes it moves."""

import time

import numpy as np
import pytest
import ray
from ray.exceptions import GetTimeoutError
from support.clusters import epochs
from support.models import make_data

from ialspp import IALS, Interactions
from ialspp.cluster import RayCluster
from ialspp.cluster.fetching import Store
from ialspp.cluster.lost import is_loss
from ialspp.cluster.memory import chosen
from ialspp.errors import InvalidStateError
from ialspp.solvers.start import random_start

pytestmark = pytest.mark.usefixtures("two_nodes")

USERS, ITEMS = 3000, 2000
DIM = 9


def saved(folder, pairs):
    data = make_data(users=USERS, items=[f"item-{i}" for i in range(ITEMS)], n=pairs, numbers=())
    data.save(folder / "events.ialsdata")
    return Interactions.open(folder / "events.ialsdata")


@pytest.fixture
def sparse(tmp_path):
    """Data in which all users and items have few interactions."""
    return saved(tmp_path, 2000)


def test_rows_are_fetched_where_a_node_has_no_room_for_a_side(sparse):
    choices = {dim: chosen(sparse, dim, None) for dim in (1000, 3000)}
    assert {dim: choice.fetch for dim, choice in choices.items()} == {1000: "side", 3000: "rows"}
    needs = choices[3000].needs
    with pytest.raises(InvalidStateError, match=r"a whole side; .* --object-store-memory=\d+"):
        chosen(sparse, 3000, "side")
    with pytest.raises(InvalidStateError, match=r"the rows that they need; .* --object-store-memory=\d+"):
        chosen(sparse, 6000, None)
    assert needs.other < needs.driver < 4 * 3000 * (USERS + ITEMS) * 2.5


def test_batches_have_no_more_pairs_than_there_is_room_for(sparse):
    choice = chosen(sparse, 3000, None)
    for pieces, rows in zip(choice.pieces(sparse, 1), (sparse.by_user, sparse.by_item), strict=True):
        pairs = [rows.offsets[piece.end] - rows.offsets[piece.begin] for piece in pieces]
        assert sum(pairs) == len(sparse)
        assert max(pairs) * choice.size.row <= choice.batch


@pytest.mark.usefixtures("free_nodes")
def test_a_node_receives_the_rows_that_its_interactions_name(tmp_path):
    data, received = saved(tmp_path, 20_000), {}
    here = ray.get_runtime_context().get_node_id()
    with RayCluster(threads=1, fetch="rows") as cluster:
        for count in (1, 3):
            with cluster.training(data, DIM) as place:
                epochs(IALS(), data, place, dim=DIM, count=count)
            (received[count],) = (size for node, size in cluster.received.items() if node != here)
    formula = cluster.estimate["received"]
    assert (received[3] - received[1]) / 2 == pytest.approx(formula, rel=0.05)
    assert formula < 2 * len(data) * 4 * DIM / 4  # without the rows that several pairs of a batch name


def test_an_array_that_does_not_come_counts_as_lost():
    never = ray.remote(num_cpus=0)(lambda: time.sleep(3600)).remote()
    try:
        with pytest.raises(GetTimeoutError) as error:
            Store(patience=0.2).get((never, 0, 1))
        assert is_loss(error.value)
    finally:
        ray.cancel(never, force=True)


def test_arrays_that_a_worker_waited_for_in_vain_are_sent_again(sparse, cluster):
    @ray.remote(num_cpus=0)
    def waiting_in_vain():
        raise GetTimeoutError("after ten minutes")

    start = random_start(sparse, DIM, 0.1, 0)
    weights = [np.ones(len(vectors), np.float32) for vectors in start]
    with cluster.training(sparse, DIM) as place:
        users, _ = place.sides(sparse, start, weights)
        kept = [part.stored for part in (*users.parts, *users.weights)]
        before = [stored.reference for stored in kept]
        total = users.summed_gramian()
        assert [stored.reference for stored in kept] == before
        mapper = place.mapper
        members = list(mapper._crew.members)
        assert mapper._collected(members[0], [], [waiting_in_vain.remote()]) == []
        assert mapper._crew.members == members  # the worker that waited is alive
        mapper._restore(users.parts)
        assert all(part.stored.reference not in before for part in users.parts)
        np.testing.assert_array_equal(users.summed_gramian(), total)

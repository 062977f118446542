"""Rankings, evaluations and vectors from a Ray cluster have the bits of one machine, whoever dies."""

import sys
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
import ray
from support.clusters import STORE
from support.commands import answer, ialspp
from support.models import fitted, make_data

from ialspp import ImplicitMF, MostPopular, Random, evaluate, split
from ialspp.cluster import RayCluster
from ialspp.cluster.batches import MOST_TRIES, WINDOW, Stream, Task
from ialspp.errors import InvalidStateError, InvalidValueError, MissingExtraError, SolveError
from ialspp.evaluation import places
from ialspp.model import folding
from ialspp.solvers import gramian

pytestmark = pytest.mark.usefixtures("two_nodes")


@pytest.fixture(scope="module")
def data():
    return make_data(users=700, n=9000)


@pytest.fixture(scope="module")
def model(data):
    return fitted(data, solver=None)


@pytest.fixture(scope="module")
def loaded(model, tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "model.ialspp"
    model.save(path)
    return ImplicitMF.load(path)


@pytest.fixture(autouse=True)
def many_batches(monkeypatch):
    """Cut these few users into several batches."""
    monkeypatch.setattr(places, "USERS_AT_ONCE", 16)
    monkeypatch.setattr(folding, "ROWS_AT_ONCE", 16)


def bits(rankings):
    return [
        (part.rows.tobytes(), part.scores.tobytes(), part.fallback.tobytes(), part.asked_rows.tobytes())
        for part in rankings
    ]


@pytest.mark.parametrize("cluster", [1, 3], indirect=True)
def test_rankings_are_the_same_on_any_number_of_workers(model, cluster):
    wanted = bits(model.recommend_in_parts(5, size=100))
    assert any(part.fallback.any() for part in model.recommend_in_parts(5, size=100))
    assert bits(model.recommend_in_parts(5, size=100, cluster=cluster)) == wanted


@pytest.mark.parametrize(
    "options",
    [
        {"exclude_seen": False},
        {"candidates": ["item-3", "item-7", "item-20"], "exclude": ["item-7"]},
    ],
)
def test_a_model_file_is_opened_where_the_workers_are(loaded, cluster, options):
    wanted = bits(loaded.recommend_in_parts(4, size=150, **options))
    assert bits(loaded.recommend_in_parts(4, size=150, cluster=cluster, **options)) == wanted
    popular = MostPopular().fit(loaded.trained_on)
    wanted = bits(popular.recommend_in_parts(4, size=150, **options))
    assert bits(popular.recommend_in_parts(4, size=150, cluster=cluster, **options)) == wanted


def test_a_model_without_interactions_is_opened_too(model, cluster, tmp_path):
    model.save(tmp_path / "bare.ialspp", interactions=False)
    bare = ImplicitMF.load(tmp_path / "bare.ialspp")
    wanted = bits(bare.recommend_in_parts(3, exclude_seen=False))
    assert bits(bare.recommend_in_parts(3, exclude_seen=False, cluster=cluster)) == wanted


def test_a_file_that_a_node_cannot_read_is_an_error(model, cluster, tmp_path):
    path = tmp_path / "model.ialspp"
    model.save(path)
    gone = ImplicitMF.load(path)
    path.unlink()
    with pytest.raises(InvalidStateError, match="every node must be able to read"):
        next(gone.recommend_in_parts(cluster=cluster))
    other = fitted(make_data(users=700, n=9000, seed=1), epochs=1)
    other.save(path)
    with pytest.raises(InvalidStateError, match="is another file than the one that the driver has open"):
        next(gone.recommend_in_parts(cluster=cluster))


def test_without_ray_the_error_says_what_to_install(model, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'ialspp\[ray\]'"):
        next(model.recommend_in_parts(cluster=RayCluster()))


def test_a_lost_worker_changes_no_bit(loaded, cluster):
    wanted = bits(loaded.recommend_in_parts(4, size=20))
    parts = loaded.recommend_in_parts(4, size=20, cluster=cluster)
    found = [next(parts)]
    ray.kill(cluster._crew.members[0].actor)
    assert bits([*found, *parts]) == wanted
    assert cluster.lost == 1


def test_a_batch_that_kills_its_workers_is_given_up():
    stream = Stream(None)
    for _ in range(1, MOST_TRIES):
        stream._begin_again([7])
    with pytest.raises(InvalidStateError, match="batch 7 was given to 4 workers, and each of them died"):
        stream._begin_again([7])


def test_a_few_batches_are_under_way_at_a_time(model, data, cluster):
    begun = []

    def batches():
        for begin in range(0, 700, 10):
            begun.append(begin)
            yield data.by_user.between(begin, begin + 10), None

    shared = folding.Folding(model.item_factors, gramian(model.item_factors, 1), model.objective)
    for taken, _ in enumerate(cluster.batches(folding.solved_rows, shared, batches())):
        assert len(begun) <= taken + 2 * WINDOW
    assert len(begun) == 70


METRICS = ["ndcg@10", "recall@5", "auc", "coverage@4", "novelty@4"]
SPLITS = {
    "unseen": lambda data: (split.strong(data, held_out=100, min_user=1), METRICS),
    "known": lambda data: (split.random(data), METRICS),
    "candidates": lambda data: (split.leave_one_out(data, pick="random", negatives=9), None),
}


@pytest.mark.parametrize("protocol", SPLITS)
def test_evaluations_are_the_same(data, cluster, protocol):
    parts, metrics = SPLITS[protocol](data)
    for system in (fitted(parts.train, epochs=2), MostPopular(), Random()):
        here = evaluate(system, parts, metrics=metrics)
        there = evaluate(system, parts, metrics=metrics, cluster=cluster)
        assert there.as_dict() == here.as_dict()
        for name, values in here.per_user.items():
            assert there.per_user[name].tobytes() == values.tobytes()


def test_vectors_are_the_same(model, data, cluster):
    histories = [data.items.named(data.by_user.columns_of(row)) for row in range(80)]
    wanted = model.fold_in(histories).tobytes()
    assert model.fold_in(histories, cluster=cluster).tobytes() == wanted
    assert (
        model.fold_in_rows(data.by_user, cluster=cluster).tobytes()
        == model.fold_in_rows(data.by_user).tobytes()
    )


def test_errors_of_workers_are_those_of_one_machine(model, data, cluster):
    rows = data.by_user
    bad = replace(rows, weights=np.full(len(rows.columns), 3e38, dtype=np.float32))
    for place in (None, cluster):
        with pytest.raises(SolveError, match="history 0"):
            model.fold_in_rows(bad, cluster=place)
    with pytest.raises(InvalidValueError, match="for everyone, got some for each user"):
        next(model.recommend_in_parts(candidates=[["item-1"]] * 700, cluster=cluster))


@pytest.mark.usefixtures("free_nodes")
def test_the_command_writes_the_same_table(loaded, two_nodes, tmp_path):
    place = ["--ray", two_nodes.address, "--workers", "2"]
    path = tmp_path / "model.ialspp"
    loaded.save(path)
    for name, options in (("here", []), ("there", place)):
        done = ialspp("recommend", path, "--all", "-k", 3, "-o", tmp_path / f"{name}.parquet", *options)
        assert done.returncode == 0, done.stderr
    assert (tmp_path / "here.parquet").read_bytes() == (tmp_path / "there.parquet").read_bytes()
    assert len(pl.read_parquet(tmp_path / "there.parquet")) == 700 * 3


@pytest.mark.usefixtures("free_nodes")
def test_the_command_evaluates_on_a_cluster(data, two_nodes, tmp_path):
    data.save(tmp_path / "events.ialsdata")
    options = ["--protocol", "random", "--dim", 4, "--epochs", 2]
    here, there = (
        answer("evaluate", tmp_path / "events.ialsdata", *options, *place)
        for place in ([], ["--ray", two_nodes.address, "--workers", "1"])
    )
    assert here["results"] == there["results"]


def test_what_does_not_fit_an_object_store_is_refused_before_it_is_sent():
    too_large = np.empty(STORE // 4 + 1, dtype=np.float32)  # which takes no memory until it is filled
    with pytest.raises(InvalidStateError, match=f"but {too_large.nbytes:,} are needed for arrays"):
        Task.of(1, len, too_large)

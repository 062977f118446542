"""Calls in a block `with RayCluster(...)` share their workers, fits too."""

import time

import pytest
import ray
from support.checkpoints import Interrupted, interrupting
from support.models import fitted, make_model, same_bits

from ialspp import ImplicitMF, Interactions
from ialspp.errors import InvalidStateError

SETTINGS = {"epochs": 2, "solver": None}


def actors(cluster):
    return {member.actor for member in cluster._crew.members}


def fit(cluster, data, **options):
    return make_model(**SETTINGS).fit(data, cluster=cluster, progress=False, **options)


@pytest.fixture
def other(tmp_path):
    """A file like the one that `stored` is, with other data."""
    path = tmp_path / "others.ialsdata"
    Interactions.from_arrays(user=[1, 1, 2, 3], item=[1, 2, 2, 3]).save(path)
    return Interactions.open(path)


def test_fits_and_questions_share_workers(stored, other, cluster):
    model = fit(cluster, stored)
    workers = actors(cluster)
    assert same_bits(model, fitted(stored, **SETTINGS))
    vectors = model.fold_in_rows(stored.by_user, cluster=cluster)
    assert vectors.tobytes() == model.fold_in_rows(stored.by_user).tobytes()
    cluster.fetch = "rows"
    assert same_bits(fit(cluster, other), fitted(other, **SETTINGS))
    assert actors(cluster) == workers


def test_a_fit_that_is_interrupted_leaves_its_workers_to_the_next(stored, cluster):
    with pytest.raises(Interrupted):
        fit(cluster, stored, callbacks=[interrupting(1)])
    workers = actors(cluster)
    assert same_bits(fit(cluster, stored), fitted(stored, **SETTINGS))
    assert actors(cluster) == workers


@pytest.mark.parametrize("cluster", [1], indirect=True)
def test_data_that_workers_cannot_open_is_an_error_and_the_block_goes_on(stored, other, cluster):
    path = other.file.path
    path.unlink()
    with pytest.raises(InvalidStateError, match=rf"a worker cannot start on .*: .*{path.name}"):
        fit(cluster, other)
    assert same_bits(fit(cluster, stored), fitted(stored, **SETTINGS))


@pytest.mark.parametrize("cluster", [1], indirect=True)
def test_workers_that_are_busy_after_an_error_are_replaced(stored, cluster):
    model = ImplicitMF(4, epochs=1).fit(stored, progress=False)
    workers = set()

    def sleep(_, seconds, __):
        time.sleep(seconds)

    def interrupted():
        with cluster.calls(sleep, None) as calls:
            calls.begin(0, 3600)
            workers.update(actors(cluster))
            raise Interrupted

    with pytest.raises(Interrupted):
        interrupted()
    assert cluster._crew is None
    vectors = model.fold_in_rows(stored.by_user, cluster=cluster)
    assert vectors.tobytes() == model.fold_in_rows(stored.by_user).tobytes()
    assert workers.isdisjoint(actors(cluster))


@pytest.mark.parametrize("cluster", [1], indirect=True)
def test_other_settings_need_other_workers(stored, cluster):
    fit(cluster, stored)
    (worker,) = actors(cluster)
    cluster.threads = 1
    fit(cluster, stored)
    assert worker not in actors(cluster)
    assert [member.threads for member in cluster._crew.members] == [1]
    cluster.threads = None


@pytest.mark.parametrize("cluster", [1], indirect=True)
def test_a_worker_that_died_between_calls_is_replaced(stored, cluster):
    fit(cluster, stored)
    ray.kill(cluster._crew.members[0].actor)
    assert same_bits(fit(cluster, stored), fitted(stored, **SETTINGS))

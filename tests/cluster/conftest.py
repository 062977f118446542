"""One small Ray cluster for the tests of a process: two nodes on this machine, one of them the driver's."""

from pathlib import Path

import pytest
from support.clusters import STORE, KeptWorkers
from support.models import make_data

from ialspp import Interactions
from ialspp.cluster.ray_cluster import sigterm_kept

FOLDER = Path(__file__).parent


@pytest.fixture(scope="session")
def two_nodes():
    """Connect to a cluster of two nodes, with two CPUs and one, which ends with the tests."""
    import ray
    from ray.cluster_utils import Cluster

    # A node that refuses connections is taken for lost in seconds; one that is only slow has half a minute.
    checks = {
        "health_check_period_ms": 500,
        "health_check_failure_threshold": 3,
        "health_check_timeout_ms": 10_000,
    }
    # Nobody reads logs or needs more nodes: processes that would see to it take long to start and to end.
    without = {"include_dashboard": False, "include_log_monitor": False, "no_monitor": True}
    head = {"num_cpus": 2, "object_store_memory": STORE, "_system_config": checks, **without}
    with pytest.MonkeyPatch.context() as patch:
        # By default workers run at the lowest priority but four: on a busy machine they would hardly start.
        patch.setenv("RAY_worker_niceness", "0")
        with sigterm_kept():
            cluster = Cluster(initialize_head=True, head_node_args=head)
        try:
            with sigterm_kept():
                cluster.add_node(num_cpus=1, object_store_memory=STORE)
                ray.init(address=cluster.address, log_to_driver=False)
            yield cluster
        finally:
            ray.shutdown()
            cluster.shutdown()


@pytest.fixture(scope="session")
def kept_workers(two_nodes):
    assert two_nodes
    workers = KeptWorkers()
    yield workers
    workers.end()


@pytest.fixture
def cluster(request, kept_workers):
    """A cluster with two workers, or as many as the test's parameter says, which other tests use, too."""
    return kept_workers.of(getattr(request, "param", 2))


@pytest.fixture
def free_nodes(kept_workers):
    """End the workers that are kept: the test starts others."""
    kept_workers.end()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items):
    """Let tests follow each other that share workers, which take longer to start than most tests last."""
    here = [place for place, item in enumerate(items) if item.path.is_relative_to(FOLDER)]
    for place, item in zip(here, sorted((items[place] for place in here), key=_workers_of), strict=True):
        items[place] = item


def _workers_of(item):
    if "cluster" not in item.fixturenames:
        return 4
    return item.callspec.params.get("cluster", 2) if hasattr(item, "callspec") else 2


@pytest.fixture(autouse=True)
def keep_sigterm():
    """Tests that come later in this process meet SIGTERM as it was: a node that is added changes it, too."""
    with sigterm_kept():
        yield


@pytest.fixture(scope="session")
def stored(tmp_path_factory):
    """Data with weights in a file of its own, open."""
    path = tmp_path_factory.mktemp("cluster") / "events.ialsdata"
    make_data(users=700, n=9000).save(path)
    return Interactions.open(path)

"""One small Ray cluster for the tests of a process: two nodes on this machine, one of them the driver's."""

import pytest
from support.clusters import STORE
from support.models import make_data

from ialspp import Interactions
from ialspp.cluster.ray_cluster import sigterm_kept


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
    head = {"num_cpus": 2, "object_store_memory": STORE, "include_dashboard": False, "_system_config": checks}
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

"""The planner's formulas, and the files for clusters that the documentation shows."""

import re
from pathlib import Path

import pytest
import yaml
from support.commands import ialspp

from ialspp.cluster.planning import Size, schedules
from ialspp.errors import InvalidValueError

PAGE = Path(__file__).resolve().parents[2] / "docs" / "how-to" / "cluster.md"
LARGE = {"users": 100_000_000, "items": 1_000_000, "pairs": 10_000_000_000, "dim": 256, "nodes": 100}
ROOM = {"memory": 64e9, "bandwidth": 1e9}


def shown(name):
    found = re.search(rf'^```yaml title="{name}"\n(.*?)^```$', PAGE.read_text(), re.DOTALL | re.MULTILINE)
    return yaml.safe_load(found[1])


def test_bytes_follow_the_formulas():
    a, b, c = schedules(Size(**LARGE, **ROOM))
    assert a.received == pytest.approx(101e6 * 256 * 4 * 0.99)
    assert b.received == pytest.approx(1e6 * 256 * 4 * (17 / 2 + 2) * 0.99)
    assert c.received < 2 * 1e10 * 256 * 4 * 0.99 / 100
    assert [one.is_built for one in (a, b, c)] == [True, False, True]


def test_fetching_rows_takes_less_memory_but_the_driver_holds_the_model():
    a, _, c = schedules(Size(**LARGE, **ROOM))
    side, model = 1e8 * 256 * 4, 101e6 * 256 * 4
    assert c.memory < 64e9 < side < a.memory
    assert min(a.driver, c.driver) > 4 * model
    assert not c.fits


def test_larger_batches_name_rows_several_times_and_so_fewer_are_fetched():
    small, large = (schedules(Size(**LARGE, memory=memory, bandwidth=1e9))[2] for memory in (32e9, 256e9))
    assert large.received < small.received


def test_one_node_receives_nothing_and_more_nodes_work_faster():
    alone, ten = (schedules(Size(**{**LARGE, "nodes": nodes}, **ROOM)) for nodes in (1, 10))
    assert [one.received for one in alone] == [0, 0, 0]
    assert ten[0].seconds - ten[0].received / 1e9 == pytest.approx(alone[0].seconds / 10)


@pytest.mark.parametrize("wrong", [{"nodes": 0}, {"users": -1}, {"memory": 0}, {"bandwidth": 0}])
def test_sizes_that_cannot_be_are_errors(wrong):
    with pytest.raises(InvalidValueError, match=next(iter(wrong))):
        Size(**{**LARGE, **ROOM, **wrong})


def test_the_command_says_that_it_is_a_model_on_paper():
    options = [f"--{name}={value}" for name, value in LARGE.items()]
    done = ialspp("plan", *options)
    assert done.returncode == 0
    assert "a model on paper" in done.stdout
    assert "102 GB" in done.stdout


def test_rays_schema_accepts_the_file_for_the_cluster_launcher():
    from ray.autoscaler._private.util import prepare_config, validate_config

    validate_config(prepare_config(shown("cluster.yaml")))


def test_the_resource_for_kuberay_has_what_it_requires():
    resource = shown("raycluster.yaml")
    assert (resource["apiVersion"], resource["kind"]) == ("ray.io/v1", "RayCluster")
    for group in (resource["spec"]["headGroupSpec"], *resource["spec"]["workerGroupSpecs"]):
        assert group["template"]["spec"]["containers"][0]["image"]
        assert "object-store-memory" in group["rayStartParams"]

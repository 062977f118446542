"""Trials of a search on a Ray cluster: the same ones with one worker, and what a lost worker costs."""

import pytest
import ray
from support.commands import answer
from support.models import make_data

from ialspp import ImplicitMF, tune
from ialspp.tuning.parts import parts_of
from ialspp.tuning.tuner import Tuner

pytestmark = pytest.mark.usefixtures("two_nodes")

QUICK = {"trials": 5, "dim": 4, "max_dim": 8, "epochs": 3}


@pytest.fixture(scope="module")
def data():
    return make_data(users=80, n=1200, numbers=())


def found(tuned):
    return [(trial.settings, trial.seed, trial.kind, trial.outcome.scores) for trial in tuned.trials]


@pytest.mark.parametrize("cluster", [1], indirect=True)
def test_one_worker_trains_the_trials_of_one_machine_though_it_is_lost(data, cluster):
    here, lost = tune(data, **QUICK, progress=False), []

    def kill(standing):
        if len(standing.trials) == 3 and not lost:
            lost.append(standing)
            ray.kill(cluster._crew.members[0].actor)

    there = Tuner(parts=parts_of(data), template=ImplicitMF(), **QUICK).run(watch=kill, cluster=cluster)
    assert cluster.lost == 1
    assert found(there) == found(here)
    assert there.test == here.test


@pytest.mark.usefixtures("free_nodes")
def test_the_command_trains_on_two_workers(data, two_nodes, tmp_path):
    data.save(tmp_path / "events.ialsdata")
    options = [f"--{name.replace('_', '-')}={value}" for name, value in QUICK.items()]
    place = ["--ray", two_nodes.address, "--workers", "2"]
    tuned = answer("tune", tmp_path / "events.ialsdata", *options, *place, "-o", tmp_path / "tuned.toml")
    kinds = [trial["kind"] for trial in tuned["trials"]]
    assert len([kind for kind in kinds if kind != "repeat"]) == 5
    assert kinds.count("repeat") == 6
    assert tuned["test_asked"] == 1

"""The benchmark itself, on very little data."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"


@pytest.fixture(scope="module", name="report")
def smoke_report():
    subprocess.run(
        [sys.executable, BENCHMARKS / "bench.py", "--smoke", "--name", "smoke"],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    return json.loads((BENCHMARKS / "results" / "smoke.json").read_text())


def test_a_smoke_run_measures_everything(report):
    runs = {run["system"]: run for run in report["runs"]}
    assert {"ours/spectral", "ours/ials++", "ours/ials", "ours@implicit/spectral"} <= set(runs)
    for name in ("ours/spectral", "ours/ials++"):
        run = runs[name]
        assert len(run["seconds"]) == len(run["loss"]) == len(run["recall"]) == 2
        assert run["loss"][1] < run["loss"][0]
        assert run["share_of_limit"] > 0
        assert run["peak_mb"] > 0
    assert report["sgemm_gflops"] > 0
    assert report["copy_gigabytes"] > 0


@pytest.mark.usefixtures("report")
def test_a_smoke_run_draws():
    picture = BENCHMARKS / "results" / "smoke.png"
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_the_systems_that_should_agree_do(report):
    runs = {run["system"]: run for run in report["runs"]}
    assert runs["ours/ials++"]["loss"][-1] == pytest.approx(runs["ours/spectral"]["loss"][-1], rel=0.05)

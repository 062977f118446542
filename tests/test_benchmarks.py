"""The benchmark itself, on very little data."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.runs import Run, ratio_to_loss, seconds_text

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"


@pytest.fixture(scope="module", name="report")
def smoke_report():
    subprocess.run(
        [sys.executable, BENCHMARKS / "bench.py", "--smoke", "--name", "smoke", "--before", sys.executable],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    return json.loads((BENCHMARKS / "results" / "smoke.json").read_text())


def test_a_smoke_run_measures_everything(report):
    runs = {run["system"]: run for run in report["runs"]}
    assert {"ours/spectral", "ours/ials++", "ours/ials", "ours@implicit/spectral"} <= set(runs)
    for name in ("ours/spectral", "ours/ials++"):
        run = runs[name]
        assert 1 <= len(run["seconds"]) == len(run["loss"]) == len(run["recall"]) <= 3
        assert run["loss"] == sorted(run["loss"], reverse=True)
        assert run["start_seconds"] > 0
        assert run["share_of_limit"] > 0
        assert run["peak_mb"] > 0
    assert report["sgemm_gflops"] > 0
    assert report["copy_gigabytes"] > 0


def test_the_lowest_loss_is_that_of_each_objective(report):
    lowest = {reference["loss_name"]: reference["loss"] for reference in report["references"]}
    assert set(lowest) == {"ours", "implicit's"}
    for run in report["runs"]:
        assert run["only_timed"] or min(run["loss"]) >= run["lowest"] == lowest[run["loss_name"]]


def test_an_earlier_version_that_is_this_one_has_the_same_losses(report):
    runs = {run["system"]: run for run in report["runs"]}
    assert runs["before/spectral"]["loss"] == runs["ours/spectral"]["loss"]


def run_of(system, losses, start=1.0):
    seconds = [2.0] * len(losses)
    return Run(system, 8, "data", "ours", start, seconds=seconds, loss=losses)


def test_the_time_to_the_loss_includes_the_start():
    run = run_of("ours/spectral", [120.0, 100.09, 100.0])
    run.settle(100.0)
    assert (run.epochs_to_loss, run.seconds_to_loss) == (2, 5.0)


def test_a_loss_that_was_not_reached_bounds_the_ratio():
    own, theirs = run_of("ours/spectral", [100.0]), run_of("irspack/cg", [120.0, 110.0])
    for run in (own, theirs):
        run.settle(100.0)
    assert theirs.seconds_to_loss is None
    assert seconds_text(theirs) == "> 5.00"
    assert ratio_to_loss(theirs, own) == "> 1.67"
    assert ratio_to_loss(own, theirs) == "< 0.60"


@pytest.mark.usefixtures("report")
def test_a_smoke_run_draws():
    picture = BENCHMARKS / "results" / "smoke.png"
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_the_systems_that_should_agree_do(report):
    runs = {run["system"]: run for run in report["runs"]}
    assert runs["ours/ials++"]["loss"][-1] == pytest.approx(runs["ours/spectral"]["loss"][-1], rel=0.05)


def test_the_service_is_measured():
    size = ["--items", "200", "--dim", "4", "--connections", "4", "--seconds", "0.2", "--rounds", "1"]
    done = subprocess.run(
        [sys.executable, BENCHMARKS / "serve.py", *size, "--systems", "ialspp"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "200 items, d = 4" in done.stdout
    assert " 0 failed" in done.stdout


def test_recommendations_are_compared_with_those_of_implicit():
    pytest.importorskip("implicit")
    done = subprocess.run(
        [
            sys.executable,
            "-W",
            "ignore",
            BENCHMARKS / "recommend.py",
            "--scale",
            "0.02",
            "--dim",
            "8",
            "--k",
            "5",
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "; the same results" in done.stdout
    assert "fold-in, 50 items, 2 callers: median" in done.stdout


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak of memory is read from /proc")
@pytest.mark.parametrize("ids", ["integers", "strings"])
def test_every_stage_from_files_to_a_model_is_measured(ids):
    options = [
        "--rows",
        "20000",
        "--dim",
        "4",
        "--memory",
        "16M",
        "--ids",
        ids,
        "--name",
        f"smoke-scale-{ids}",
    ]
    subprocess.run([sys.executable, BENCHMARKS / "scale.py", *options], check=True, stdout=subprocess.DEVNULL)
    [facts] = json.loads((BENCHMARKS / "results" / f"smoke-scale-{ids}.json").read_text())
    for stage in ("polars", "read", "prepare", "fit"):
        assert 0 < facts[stage]["anonymous_mb"] < facts[stage]["peak_mb"]
        assert facts[stage]["cpu_seconds"] > 0
    assert facts["read"]["pairs"] == facts["prepare"]["pairs"] > 10_000
    assert facts["fit"]["loss"][1] < facts["fit"]["loss"][0]
    assert len(facts["fit"]["epoch_cpu_seconds"]) == len(facts["fit"]["loss"]) == 3

"""The block sizes of a machine: measured, kept, compared with the rule."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from models import make_data

from ialspp import IALSpp, ImplicitMF
from ialspp.calibrate import Calibration, Curve, block_sizes, measure

COMMAND = [sys.executable, "-c", "from ialspp.cli import main; main()", "calibrate"]
QUICK = ["--scale", "0.02", "--dim", "8", "--dim", "24"]


def run(*arguments, **environment):
    return subprocess.run(
        [*COMMAND, *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, "NO_COLOR": "1", "COLUMNS": "100", **environment},
    )


def test_block_sizes_double_up_to_the_dimension():
    assert block_sizes(1) == [1]
    assert block_sizes(8) == [1, 2, 4, 8]
    assert block_sizes(20) == [1, 2, 4, 8, 16, 20]


def test_every_block_size_is_timed_and_autos_among_them():
    curve = measure(make_data(), 24, rounds=1, threads=1)
    assert list(curve.seconds) == [1, 2, 4, 8, 16, 24]
    assert curve.auto == IALSpp().block_size_for(24)
    assert curve.auto in curve.seconds
    assert all(0 < seconds < 60 for seconds in curve.seconds.values())


@pytest.mark.parametrize(("auto", "best", "excess", "agrees"), [(1.0, 8, 0.0, True), (1.2, 4, 0.2, False)])
def test_a_curve_says_whether_the_rule_is_in_order(auto, best, excess, agrees):
    curve = Curve(dim=16, auto=8, seconds={4: 1.0 if best == 4 else 1.05, 8: auto, 16: 3.0})
    assert (curve.best, curve.agrees) == (best, agrees)
    assert curve.excess == pytest.approx(excess)


def test_what_is_saved_comes_back(tmp_path):
    path = tmp_path / "new" / "c.json"
    kept = Calibration("cpu", "avx2", 2, "data", [Curve(8, 8, {4: 0.5, 8: 0.25})])
    kept.save(path)
    assert Calibration.load(path) == kept
    assert [file.name for file in path.parent.iterdir()] == ["c.json"]


@pytest.mark.parametrize("text", ["", "{", "[]", '{"format": 99}', '{"format": 1, "curves": [{}]}'])
def test_a_broken_file_is_a_clear_error(tmp_path, text):
    path = tmp_path / "c.json"
    path.write_text(text)
    with pytest.raises(ValueError, match=r"c\.json is not a calibration of format 1"):
        Calibration.load(path)


def test_the_command_measures_keeps_and_shows(tmp_path):
    done = run(*QUICK, XDG_CACHE_HOME=str(tmp_path))
    assert done.returncode == 0, done.stderr
    kept = Calibration.load(tmp_path / "ialspp" / "calibration.json")
    assert [curve.dim for curve in kept.curves] == [8, 24]
    assert "Kept in" in done.stderr
    agreed = all(curve.agrees for curve in kept.curves)
    assert ("agree within 10 %" in done.stdout) == agreed
    assert ("pin it with IALSpp(block_size=" in done.stdout) == (not agreed)


def test_the_command_speaks_json_and_shows_what_was_kept(tmp_path):
    place = ["--out", str(tmp_path / "c.json")]
    done = run(*QUICK, "--json", *place)
    assert json.loads(done.stdout)["curves"][1]["dim"] == 24
    assert run("--show", "--json", *place).stdout == done.stdout


def test_there_must_be_something_to_show(tmp_path):
    done = run("--show", "--out", str(tmp_path / "none.json"))
    assert done.returncode == 2
    assert "none.json" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--dim", "0"], "--dim must be at least 1, got 0"),
        (["--scale", "7"], "scale must be in (0, 1], got 7.0"),
        (["--threads", "0"], "threads must be at least 1"),
    ],
)
def test_a_users_mistake_is_a_line_not_a_traceback(arguments, message, tmp_path):
    done = run(*arguments, "--out", str(tmp_path / "c.json"))
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "c.json").exists()


def test_a_place_that_cannot_be_written_is_said(tmp_path):
    (tmp_path / "file").write_text("")
    done = run(*QUICK, "--out", str(tmp_path / "file" / "c.json"))
    assert done.returncode == 2
    assert "file" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_model_records_what_auto_stood_for():
    model = ImplicitMF(dim=24, solver=IALSpp(), epochs=1)
    assert model.fitted_solver is None
    model.fit(make_data(), progress=False)
    assert model.solver == IALSpp()
    assert model.fitted_solver == IALSpp(block_size=IALSpp().block_size_for(24))
    again = ImplicitMF(dim=24, solver=model.fitted_solver, epochs=1).fit(make_data(), progress=False)
    assert np.array_equal(again.user_factors, model.user_factors)

"""What only a process of its own can show: the environment, threads, forks, signals, import weight."""

import os
import re
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import pytest
from support.processes import PATIENCE

from ialspp import _core
from ialspp.system.machine import cgroup_quota, resolve_threads, usable_cpus

TESTS = Path(__file__).resolve().parents[1]


def run(code, **environment):
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


@pytest.mark.parametrize("isa", _core.available_isas())
def test_the_environment_forces_an_instruction_set(isa):
    result = run("import ialspp; print(ialspp._core.isa())", IALSPP_ISA=isa)
    assert result.stdout.strip() == isa, result.stderr


def test_an_instruction_set_the_machine_lacks_is_a_clear_error():
    for missing in set(_core.known_isas()) - set(_core.available_isas()):
        result = run("import ialspp", IALSPP_ISA=missing)
        assert f"IALSPP_ISA={missing}: this machine does not have it; it has baseline" in result.stderr
    result = run("import ialspp", IALSPP_ISA="mmx")
    assert "IALSPP_ISA='mmx' is not an instruction set; choose one of baseline" in result.stderr


def test_threads_come_from_the_argument_then_the_environment_then_the_machine(monkeypatch):
    monkeypatch.delenv("IALSPP_THREADS", raising=False)
    assert resolve_threads(None) == usable_cpus()
    monkeypatch.setenv("IALSPP_THREADS", "5")
    assert resolve_threads(None) == 5
    assert resolve_threads(3) == 3


@pytest.mark.parametrize("text", ["0", "-1", "two", "1.5", "99999"])
def test_a_wrong_thread_count_in_the_environment_is_an_error(monkeypatch, text):
    monkeypatch.setenv("IALSPP_THREADS", text)
    with pytest.raises(ValueError, match=f"IALSPP_THREADS must be an integer from 1 to 1024, got '{text}'"):
        resolve_threads(None)


def test_affinity_limits_the_default():
    if not hasattr(os, "sched_setaffinity"):
        pytest.skip("this system has no CPU affinity")
    code = """
    import os
    from ialspp.system.machine import usable_cpus
    before = usable_cpus()
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    print(usable_cpus() == before, usable_cpus(refresh=True), usable_cpus())
    """
    assert run(code).stdout.strip() == "True 1 1"  # found once, and again where asked to


def test_a_cgroup_quota_is_read_from_every_level_above(tmp_path):
    membership, mount = tmp_path / "cgroup", tmp_path / "fs"
    (mount / "a" / "b").mkdir(parents=True)
    membership.write_text("0::/a/b\n")
    assert cgroup_quota(membership, mount) is None
    (mount / "a" / "b" / "cpu.max").write_text("max 100000\n")
    assert cgroup_quota(membership, mount) is None
    (mount / "a" / "cpu.max").write_text("150000 100000\n")
    assert cgroup_quota(membership, mount) == 1.5


def test_a_version_1_cgroup_quota_is_read(tmp_path):
    membership, group = tmp_path / "cgroup", tmp_path / "fs" / "cpu,cpuacct" / "box"
    group.mkdir(parents=True)
    membership.write_text("4:memory:/box\n3:cpu,cpuacct:/box\n")
    (group / "cpu.cfs_period_us").write_text("100000")
    (group / "cpu.cfs_quota_us").write_text("-1")
    assert cgroup_quota(membership, tmp_path / "fs") is None
    (group / "cpu.cfs_quota_us").write_text("250000")
    assert cgroup_quota(membership, tmp_path / "fs") == 2.5


def test_no_cgroup_file_means_no_quota(tmp_path):
    assert cgroup_quota(tmp_path / "absent", tmp_path) is None


FIT = """
    import numpy as np, os, sys
    from ialspp import IALS, ImplicitMF, Interactions
    rng = np.random.default_rng(0)
    data = Interactions.from_arrays(user=rng.integers(0, 500, 20000), item=rng.integers(0, 300, 20000))
    def fit():
        return ImplicitMF(dim=16, epochs=2, threads=2).fit(data).history[-1].loss
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_a_forked_child_can_train():
    code = (
        FIT
        + """
    before = fit()
    child = os.fork()
    if child == 0:
        os._exit(0 if fit() == before else 1)
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    """
    )
    result = run(code, PYTHONWARNINGS="ignore")
    assert result.returncode == 0, result.stderr


# Code for a process of its own that waits until a thread has come to the solvers' native calls
WATCH = """
import sys, threading, time
def wait_for_a_solver(thread):
    def place():
        frame = sys._current_frames().get(thread.ident)
        return frame.f_code.co_filename if frame else ""
    while "solvers" not in place():
        assert thread.is_alive(), "the thread ended before it came to a solver"
        time.sleep(0.001)
"""


@pytest.mark.skipif(os.name == "nt", reason="sends a POSIX signal")
def test_ctrl_c_stops_a_long_native_call():
    code = """
    import os, signal
    from ialspp import IALS
    from support.problems import make_case

    def press_ctrl_c():
        wait_for_a_solver(threading.main_thread())
        os.kill(os.getpid(), signal.SIGINT)

    case = make_case(users=20_000, items=300, dim=700, density=0.03)  # an epoch takes minutes
    problem = case.problem(threads=2)
    threading.Thread(target=press_ctrl_c).start()
    try:
        IALS().epoch(problem)
    except KeyboardInterrupt:
        print("interrupted")
    print((problem.users.factors == case.W).all(axis=1).any())
    """
    result = run(WATCH + textwrap.dedent(code), PYTHONPATH=str(TESTS))
    assert result.stdout.split() == ["interrupted", "True"], result.stderr  # and some users as they were


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no interval timers")
def test_a_signal_handler_may_use_the_library_in_the_middle_of_a_call():
    code = """
    import numpy as np, signal
    from ialspp import IALS, ImplicitMF, Interactions, _core
    n = 400_000
    data = Interactions.from_arrays(user=np.arange(2 * n) % 7, item=np.arange(2 * n) % n)
    model = ImplicitMF(dim=64, solver=IALS(), epochs=0).fit(data)
    history = [list(range(n))]  # a row long enough for all threads to share it
    quiet = model.fold_in(history)
    other = np.ones((300, 200), np.float32)
    calls = []
    signal.signal(signal.SIGALRM, lambda *_: calls.append(_core.gramian(other, 0, 200, 2)[0, 0]))
    signal.setitimer(signal.ITIMER_REAL, 0.05, 0.05)
    while len(calls) < 5:
        assert np.array_equal(quiet, model.fold_in(history))
    signal.setitimer(signal.ITIMER_REAL, 0)
    assert set(calls) == {300.0}
    """
    result = run(code)
    assert result.returncode == 0, result.stderr


def test_a_daemon_thread_in_training_does_not_abort_the_exit():
    code = """
    import numpy as np
    from ialspp import IALS, ImplicitMF, Interactions
    rng = np.random.default_rng(0)
    data = Interactions.from_arrays(user=rng.integers(0, 3000, 10**5), item=rng.integers(0, 3000, 10**5))
    model = ImplicitMF(dim=300, solver=IALS(), epochs=25_000)
    training = threading.Thread(target=model.fit, args=(data,), daemon=True)
    training.start()
    wait_for_a_solver(training)
    """
    result = run(WATCH + textwrap.dedent(code))
    assert (result.returncode, result.stderr) == (0, "")


def test_the_library_is_silent_without_a_terminal():
    result = run(FIT + "    fit()")
    assert (result.stdout, result.stderr, result.returncode) == ("", "", 0)


def test_a_progress_bar_shows_epochs_loss_and_time():
    code = FIT + "    ImplicitMF(dim=4, epochs=3).fit(data, progress=True)"
    result = run(code, TERM="dumb", COLUMNS="100")
    assert "epoch 3 of 3" in result.stderr
    assert "loss" in result.stderr
    assert re.search(r"\d:\d\d", result.stderr)


def test_importing_loads_nothing_heavy():
    code = """
    import sys, ialspp
    heavy = {"scipy", "pandas", "polars", "rich", "matplotlib"} & set(sys.modules)
    print(sorted(heavy))
    """
    assert run(code).stdout.strip() == "[]"


def test_the_smoke_test_of_the_wheel_passes_here():
    script = TESTS / "smoke.py"
    result = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, check=False, timeout=PATIENCE
    )
    assert "works" in result.stdout, result.stderr


class AlarmRang(Exception):  # noqa: N818 - it is awaited
    """A signal came."""


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs POSIX timers")
@pytest.mark.parametrize("delay", [0.001, 0.01])
def test_a_signal_during_a_rotation_waits_until_both_sides_are_rotated(delay):
    rng = np.random.default_rng(0)
    q = np.linalg.qr(rng.normal(size=(256, 256)))[0]
    before = [rng.normal(size=(rows, 256)).astype(np.float32) for rows in (30_000, 20_000)]
    x, y = (side.copy() for side in before)

    def ring(*_):
        raise AlarmRang

    def rotate():
        signal.setitimer(signal.ITIMER_REAL, delay)
        _core.transform_both(x, q, y, q.T.copy(), 2)
        while True:  # until the signal comes, should it come later
            time.sleep(0.01)

    old = signal.signal(signal.SIGALRM, ring)
    try:
        with pytest.raises(AlarmRang):
            rotate()
    finally:
        signal.signal(signal.SIGALRM, old)
    if np.array_equal(x, before[0]):  # it came before the call
        assert np.array_equal(y, before[1])
        return
    for side, start, matrix in zip((x, y), before, (q, q.T), strict=True):
        np.testing.assert_allclose(side, start @ matrix, atol=1e-4)

"""Model files of some size: what is read of them, and what a crash leaves."""

import re
import select
import signal
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from support.models import fitted
from support.processes import child
from support.stores import names, posix

from ialspp import (
    ImplicitMF,
    Interactions,
    store,
)


@pytest.fixture(scope="module", name="large")
def large_files(tmp_path_factory):
    """Two files of 20 MB, nearly all of it vectors of users."""
    users = [f"user-{n:05}" for n in range(70_000)]
    data = Interactions.from_arrays(user=users[:1000], item=np.arange(1000), users=users)
    paths = [tmp_path_factory.mktemp("large") / name for name in ("first", "second")]
    for seed, path in enumerate(paths):
        fitted(data, dim=64, epochs=0, seed=seed).save(path)
    return paths


@pytest.mark.skipif(not Path("/proc/self/smaps").exists(), reason="asks Linux which pages were touched")
def test_what_is_not_used_is_not_read(large):
    def touched():
        maps = Path("/proc/self/smaps").read_text()
        return 1024 * sum(map(int, re.findall(rf"{large[0]}\n(?:.*\n)*?Rss: +(\d+) kB", maps)))

    size = large[0].stat().st_size
    model = ImplicitMF.load(large[0], verify=False)
    assert 0 < touched() < size / 20
    assert model.users[-1] == "user-69999"
    best = model.recommend("user-50000", 5)
    assert touched() < size / 4
    verified = ImplicitMF.load(large[0])
    assert touched() > size
    assert best == verified.recommend("user-50000", 5)


# Crashes

SAVER = """
import signal, sys
from ialspp import ImplicitMF

def on_ctrl_c(handler):
    signal.signal(signal.SIGINT, handler)

models = [ImplicitMF.load(path) for path in sys.argv[2:]]
for line in sys.stdin:
    said = "saved"
    models.append(models.pop(0))
    try:
        on_ctrl_c(signal.default_int_handler)
        models[0].save(sys.argv[1])
        on_ctrl_c(signal.SIG_IGN)
    except KeyboardInterrupt:
        on_ctrl_c(signal.SIG_IGN)
        said = "interrupted"
    print(said, flush=True)
"""


@contextmanager
def saver(*paths):
    """A process that saves a model each time it is told to; the first path is where."""
    with child(SAVER, *paths, stdin=subprocess.PIPE) as process:
        try:
            yield process
        finally:
            process.kill()


def start_saving(process, folder, delay):
    """Return so long after the process began to write; it may have ended too."""
    process.stdin.write("now\n")
    process.stdin.flush()
    while not any(folder.glob(".*.part")) and not select.select([process.stdout], [], [], 0)[0]:
        pass
    time.sleep(delay)


@posix
@pytest.mark.parametrize("delay", [0, 0.02, 0.06])
def test_a_process_killed_while_it_saves_leaves_a_whole_file(large, tmp_path, delay):
    target = tmp_path / "model"
    target.write_bytes(large[0].read_bytes())
    with saver(target, *large) as process:
        start_saving(process, tmp_path, delay)
    store.verify(target)
    left = target.read_bytes()
    assert left in (large[0].read_bytes(), large[1].read_bytes())
    ImplicitMF.load(target).save(target)
    assert target.read_bytes() == left


@posix
def test_ctrl_c_leaves_a_whole_file_and_nothing_else(large, tmp_path):
    target, models = tmp_path / "model", [path.read_bytes() for path in large]
    target.write_bytes(models[0])
    with saver(target, *large) as process:
        for delay in (0, 0.002, 0.004, 0.006):
            start_saving(process, tmp_path, delay)
            process.send_signal(signal.SIGINT)
            assert process.stdout.readline() in ("interrupted\n", "saved\n")
            assert names(tmp_path) == ["model"]
            assert target.read_bytes() in models

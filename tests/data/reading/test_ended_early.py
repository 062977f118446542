"""A query of polars that a signal ends early is an error, never a shorter file."""

import os

import pytest
from support.commands import write_log
from support.processes import child, finish

CODE = """
import os, signal, sys, threading
from pathlib import Path
from ialspp import IalsppError, Interactions
signal.signal(signal.SIGINT, signal.SIG_IGN)  # as after nohup; polars listens all the same
done = threading.Event()
def send():
    while not done.wait(0.001):
        os.kill(os.getpid(), signal.SIGINT)
def read():
    try:
        return len(Interactions.read(Path(sys.argv[1]), user="who", item="what"))
    except (IalsppError, KeyboardInterrupt) as error:
        return type(error).__name__
print(read())
sender = threading.Thread(target=send, daemon=True)
sender.start()
print(*{read() for _ in range(10)})
done.set()
sender.join()
print(read())
"""


@pytest.mark.skipif(os.name != "posix", reason="signals as POSIX has them")
def test_data_is_never_cut_short_by_a_signal(tmp_path):
    log = write_log(tmp_path / "log.csv", users=5000)
    out, err = finish(child(CODE, log))
    before, meanwhile, after = out.splitlines()
    assert (before, after, err) == ("60000", "60000", "")
    assert set(meanwhile.split()) <= {"60000", "InvalidValueError", "KeyboardInterrupt"}

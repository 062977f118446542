"""No signal gets lost, whichever library it meets."""

import os

import pytest
from support.commands import write_log
from support.processes import child, finish

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals as POSIX has them")

SWALLOWED = """
import os, signal, sys
from ialspp.cli.failures import reported
from ialspp.cli.signals import signals_kept, signals_raised
with signals_raised(), reported(), signals_kept():
    try:
        os.kill(os.getpid(), getattr(signal, sys.argv[1]))
    except KeyboardInterrupt:  # as a library does that calls Python from native code
        pass
    {then}
"""


@pytest.mark.parametrize("then", ["pass", "raise ValueError('the file is empty')"])
@pytest.mark.parametrize(
    ("sent", "code", "word"), [("SIGINT", 130, "interrupted"), ("SIGTERM", 143, "terminated")]
)
def test_a_signal_that_a_library_swallows_still_ends_the_command(sent, code, word, then):
    process = child(SWALLOWED.format(then=then), sent)
    assert finish(process) == ("", f"ialspp: {word}\n")
    assert process.returncode == code


def test_an_error_after_a_swallowed_signal_is_the_signal():
    code = SWALLOWED.format(then="raise ValueError").replace(", signals_kept():", ":")
    process = child(code, "SIGTERM")
    assert finish(process) == ("", "ialspp: terminated\n")
    assert process.returncode == 143


def test_a_signal_that_python_cannot_raise_comes_again():
    code = """
    import os, signal, time
    from ialspp.cli.failures import reported
    from ialspp.cli.signals import signals_raised
    class Ended:
        def __del__(self):
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(0)  # here the exception is raised, and swallowed
    with signals_raised(), reported():
        Ended()
        time.sleep(600)
    """
    process = child(code)
    assert finish(process) == ("", "ialspp: terminated\n")
    assert process.returncode == 143


def test_other_errors_that_python_cannot_raise_are_printed():
    code = """
    from ialspp.cli.signals import signals_raised
    class Ended:
        def __del__(self):
            raise ValueError("in a destructor")
    with signals_raised():
        Ended()
    """
    out, err = finish(child(code))
    assert out == ""
    assert "ValueError: in a destructor" in err


def test_a_signal_that_is_ignored_stays_ignored():
    code = """
    import os, signal
    from ialspp.cli.signals import signals_raised
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    with signals_raised():
        os.kill(os.getpid(), signal.SIGTERM)
    print(signal.getsignal(signal.SIGTERM) is signal.SIG_IGN)
    """
    assert finish(child(code)) == ("True\n", "")


def test_a_signal_that_is_ignored_does_not_cut_the_data_short(tmp_path):
    """polars has a handler of its own, which ends a query without an error."""
    log = write_log(tmp_path / "log.csv", users=2000)
    code = """
    import os, signal, sys, threading
    from pathlib import Path
    from ialspp.cli.signals import keep_signals_from_polars
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    keep_signals_from_polars()
    from ialspp import Interactions
    done = threading.Event()
    def send():
        while not done.is_set():
            os.kill(os.getpid(), signal.SIGINT)
    threading.Thread(target=send).start()
    try:
        print({len(Interactions.read(sys.argv[1], user="who", item="what")) for _ in range(20)})
    finally:
        done.set()
    """
    assert finish(child(code, log)) == ("{24000}\n", "")

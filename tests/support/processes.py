"""Processes of their own that run some Python code."""

import subprocess
import sys
import textwrap
import time

PATIENCE = 600  # seconds: what hangs fails in the end, what is only slow does not


def child(code, *arguments, **options):
    """Start a process whose standard output and error are read later."""
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


def finish(process):
    """(standard output, standard error) of a process until its end."""
    return process.communicate(timeout=PATIENCE)


def wait_until(event):
    """Look again and again until the event has come."""
    begun = time.monotonic()
    while not event():
        assert time.monotonic() - begun < PATIENCE, "it never came"
        time.sleep(0.002)

"""Runs `ialspp` in a process of its own: started and left running, or on a pseudo-terminal."""

import os
import select
import signal
import struct
import subprocess

import pytest

from support.commands import COMMAND, environment
from support.processes import PATIENCE

fcntl, pty, termios = map(pytest.importorskip, ("fcntl", "pty", "termios"))  # POSIX has them

ESCAPE = "\x1b"
PIPES = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
HIDE, SHOW = f"{ESCAPE}[?25l", f"{ESCAPE}[?25h"  # the cursor


def start(*arguments, **options):
    """Start the installed command; `changes` are environment variables."""
    command = [COMMAND, *map(str, arguments)]
    return subprocess.Popen(command, env=environment(**options.pop("changes", {})), **options)


def in_terminal(*arguments, columns=80, interrupt_at=None, cwd=None, **changes):
    """Run on a pseudo-terminal: the exit code, and all that is shown. Ctrl-C comes after a given text."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    ends = dict.fromkeys(("stdin", "stdout", "stderr"), theirs)
    child = start(*arguments, **ends, cwd=cwd, start_new_session=True, changes={"TERM": "xterm", **changes})
    os.close(theirs)
    shown = b""
    try:
        while select.select([ours], [], [], PATIENCE)[0]:
            try:
                shown += os.read(ours, 1 << 16)
            except OSError:  # how Linux says that the other end is closed
                break
            if interrupt_at and interrupt_at.encode() in shown:
                interrupt_at = None
                child.send_signal(signal.SIGINT)
        return child.wait(PATIENCE), shown.decode()
    finally:
        child.kill()
        child.wait()
        os.close(ours)

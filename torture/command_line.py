"""Run `ialspp` in this process, and find out whether it takes its own error for a bug."""

from __future__ import annotations

import io
import sys
from contextlib import redirect_stderr, redirect_stdout
from unittest.mock import patch

from ialspp.cli import main
from ialspp.cli.failures import BUG


class CommandError(Exception):
    """The command line met an error that is neither the user's nor the system's."""


def run_command(*arguments: object) -> int:
    """Run the command to its end, and return its exit code; what it prints is thrown away."""
    with (
        redirect_stdout(io.StringIO()),
        redirect_stderr(io.StringIO()) as errors,
        patch.object(sys, "argv", ["ialspp", *map(str, arguments)]),
    ):
        code = _code_of_main()
    if code == BUG:
        raise CommandError(errors.getvalue()[-300:])
    return code


def _code_of_main() -> int:
    try:
        main()
    except SystemExit as end:
        return int(end.code or 0)
    return 0

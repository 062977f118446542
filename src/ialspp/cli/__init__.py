"""The command line: `ialspp COMMAND`, a module each."""

from __future__ import annotations

import sys

import typer

from .calibrate import calibrate

app = typer.Typer(
    help="Matrix factorisation for implicit feedback.", no_args_is_help=True, pretty_exceptions_enable=False
)
app.command()(calibrate)


@app.callback()
def _commands() -> None:
    """Keep COMMAND a word of its own, however few there are."""


def main() -> None:
    """Run it; what the user got wrong is a line on stderr, not a traceback."""
    try:
        app()
    except (ValueError, TypeError, OSError) as error:
        print(f"ialspp: {error}", file=sys.stderr)
        sys.exit(2)

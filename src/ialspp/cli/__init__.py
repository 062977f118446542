"""The command line: `ialspp COMMAND`, a module each."""

from __future__ import annotations

import sys

import typer

from .calibrate import calibrate
from .data import list_known, look_into
from .evaluate import evaluate
from .options import with_options

app = typer.Typer(
    help="Matrix factorisation for implicit feedback.", no_args_is_help=True, pretty_exceptions_enable=False
)
data = typer.Typer(help="Known data sets, and what is in a file.", no_args_is_help=True)
data.command("list")(list_known)
data.command("show")(with_options(look_into))
app.add_typer(data, name="data")
app.command("evaluate")(with_options(evaluate))
app.command()(calibrate)


def main() -> None:
    """Run it; what the user got wrong is a line on stderr, not a traceback."""
    try:
        app()
    except (ValueError, TypeError, OSError, ArithmeticError, KeyError) as error:
        print(f"ialspp: {error}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)

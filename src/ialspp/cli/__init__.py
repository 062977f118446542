"""The command line: `ialspp COMMAND`, one module for each command."""

from __future__ import annotations

import io
import sys
import warnings
from typing import Annotated

import typer

from ..errors import WeightWarning
from .data import list_known, show_data
from .demo import demo
from .evaluate import evaluate
from .explain import explain
from .explore import explore
from .export import export
from .failures import EXIT_CODES, DebugOption, reported
from .fit import fit
from .info import info
from .names import names
from .options import add_command
from .plan import plan
from .prepare import prepare
from .recommend import recommend
from .report import report
from .serve import serve
from .signals import signals_raised
from .similar import similar
from .tune import tune
from .update import update
from .wording import EXPORT, LOOK, QUERY, TRAIN, Group

app = typer.Typer(cls=Group, no_args_is_help=True, pretty_exceptions_enable=False)
add_command(app, "prepare", prepare, panel=TRAIN, has_config=True)
add_command(app, "fit", fit, panel=TRAIN, has_config=True)
add_command(app, "tune", tune, panel=TRAIN, has_config=True)
add_command(app, "plan", plan, panel=TRAIN)
add_command(app, "update", update, panel=TRAIN, has_config=True)
add_command(app, "names", names, panel=TRAIN)
add_command(app, "recommend", recommend, panel=QUERY)
add_command(app, "similar", similar, panel=QUERY)
add_command(app, "explain", explain, panel=QUERY)
add_command(app, "demo", demo, panel=LOOK)
add_command(app, "explore", explore, panel=LOOK)
add_command(app, "report", report, panel=LOOK)
add_command(app, "evaluate", evaluate, panel=LOOK, has_config=True)
add_command(app, "info", info, panel=LOOK)
add_command(app, "serve", serve, panel=EXPORT)
add_command(app, "export", export, panel=EXPORT)
data = typer.Typer(
    cls=Group,
    help="List known data sets, and describe a data set or a file.",
    epilog="Example: ialspp data list",
    no_args_is_help=True,
)
add_command(data, "list", list_known)
add_command(data, "show", show_data)
app.add_typer(data, name="data", rich_help_panel=LOOK)


def _show_version(wanted: bool) -> None:
    if wanted:
        from .. import __version__

        print(f"ialspp {__version__}")
        raise typer.Exit


@app.callback(
    epilog=f"{EXIT_CODES}\n\nExample: ialspp fit ratings.csv --user userId --item movieId -o films.ialspp"
)
def common_options(
    show_version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
    debug: DebugOption = False,
) -> None:
    """Matrix factorisation for implicit feedback: train, recommend, explain, update, export."""


def main() -> None:
    """Run the command that `sys.argv` names; any error is a message on stderr and an exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # for ids that its encoding does not have
    warnings.simplefilter("ignore", WeightWarning)  # commands remark on weights, in words of their options
    with reported(), signals_raised(), reported():  # the first for signals around the second and third
        app(prog_name="ialspp")

"""Output of the commands: tables for people, one JSON document for programs, remarks on stderr."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..errors import InvalidValueError
from ..files.atomic import require_writable
from ..system.printable import printable
from .ours import Kind, require_ours

JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
USUAL_WIDTH = 80  # where the terminal does not say
LONGEST_NAME = 80  # characters of a name in a table
BORDERS = 3  # characters that a table adds to the text of each column
BREAKABLE = 14  # words longer than this may be broken; numbers are shorter


class Output(Console):
    """A rich console that prints text as it is, and does not end the program by itself."""

    def __init__(self, *, stderr: bool = False) -> None:
        plain = bool(os.environ.get("NO_COLOR"))  # rich would still print bold
        super().__init__(
            stderr=stderr, markup=False, highlight=False, emoji=False, color_system=None if plain else "auto"
        )
        if self.width < 1:  # COLUMNS=0
            self.width = USUAL_WIDTH

    def on_broken_pipe(self) -> NoReturn:
        """Raise, so that `failures` sets the exit code."""
        raise BrokenPipeError


def show_table(
    title: str, columns: Sequence[str], rows: Iterable[Sequence[Any]], *, words: Sequence[str] = ()
) -> None:
    """Print a table, or a list if the terminal is too narrow for the numbers.

    Parameters
    ----------
    title
        The line above the table.
    columns
        The names of the columns.
    rows
        A value for each column.
    words
        The columns that hold words, not numbers: aligned to the left, and broken where needed.
    """
    cells = [[shown(value) for value in row] for row in rows]
    output, table, needed = Output(), Table(), 1
    for place, name in enumerate(columns):
        is_words = name in words
        needed += _width([row[place] for row in [columns, *cells]], BREAKABLE if is_words else None)
        table.add_column(Text(name), justify="left" if is_words else "right", overflow="fold")
    for row in cells:
        table.add_row(*map(Text, row))
    output.print(printable(title), style="italic", soft_wrap=True)
    if needed > output.width:
        _show_list(output, columns, cells)
    else:
        output.print(table)


def show_facts(title: str, facts: Mapping[str, Any]) -> None:
    """Print names and values, one pair a line."""
    lines = [(name.replace("_", " "), shown(value)) for name, value in facts.items()]
    output, table = Output(), Table(show_header=False)
    for column in zip(*lines, strict=True):
        table.add_column(overflow="fold", min_width=_width(column, BREAKABLE) - BORDERS)
    for line in lines:
        table.add_row(*map(Text, line))
    output.print(printable(title), style="italic", soft_wrap=True)
    if 1 + sum(_width(column, BREAKABLE) for column in zip(*lines, strict=True)) > output.width:
        for name, value in lines:
            output.print(f"{name}: {value}", overflow="fold")
    else:
        output.print(table)


def show_line(text: str) -> None:
    """Print a line on stdout; only the terminal breaks it."""
    Output().print(text, soft_wrap=True)


def remark(text: str) -> None:
    """Print a line on stderr."""
    Output(stderr=True).print(text, soft_wrap=True)


def show_json(value: Any) -> None:
    """Print the one JSON document of a command."""
    print(as_json(value))


def as_json(value: Any) -> str:
    """Convert to JSON on one line. Infinities and NaN become null, paths become strings."""
    return json.dumps(_plain(value), allow_nan=False)


def shown(value: Any) -> str:
    """Format a value for people."""
    if isinstance(value, Mapping):
        return ", ".join(f"{name.replace('_', ' ')} {shown(part)}" for name, part in value.items())
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    return printable(str(value))


def shown_name(name: str) -> str:
    """Format a name of a user or an item, which may be anything, for one line."""
    text = printable(name)
    return text if len(text) <= LONGEST_NAME else f"{text[:LONGEST_NAME]}..."


def with_name(value: Any, name: str | None) -> str:
    """Format an id and its name, if it has one."""
    return shown_name(str(value)) if name is None else f"{shown_name(str(value))}, {shown_name(name)}"


def shown_loss(loss: float) -> str:
    """Format a loss with six digits, or with all digits before the point if there are more."""
    return f"{loss:,.0f}" if abs(loss) >= 1e5 else f"{loss:,.6g}"


def size(count: float) -> str:
    """Format a number of bytes for people."""
    for unit in ("bytes", "KB", "MB"):
        if count < 1000:
            return f"{count:,.3g} {unit}"
        count /= 1000
    return f"{count:,.3g} GB"


def _show_list(output: Console, columns: Sequence[str], cells: list[list[str]]) -> None:
    for row in cells:
        output.print()
        for column, cell in zip(columns, row, strict=True):
            output.print(f"{column}: {cell}".removeprefix(": "), overflow="fold")


def _width(column: Sequence[str], most: int | None) -> int:
    """Compute the least width of a column: its longest word, or `most` if longer words may be broken."""
    longest = max((cell_len(word) for text in column for word in text.split()), default=0)
    return BORDERS + (longest if most is None else min(longest, most))


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(name): _plain(part) for name, part in value.items()}
    if hasattr(value, "tolist"):  # numpy's arrays and numbers
        return _plain(value.tolist())
    if isinstance(value, (list, tuple)):
        return [_plain(part) for part in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, (bool, int, str)) else str(value)


def checked_target(
    path: Path, suffixes: Iterable[str] = (), *, kind: Kind | None = None, force: bool = False
) -> Path:
    """Check that a file can be written, before anything takes long; return its path.

    Parameters
    ----------
    path
        A new file, or one that will be replaced.
    suffixes
        What its name may end with. Default: anything.
    kind
        The kind of file that may be replaced. Default: any.
    force
        Replace a file of another kind too.
    """
    endings = list(suffixes)
    if endings and path.suffix.lower() not in endings:
        raise InvalidValueError(f"{path}: the name must end with {', '.join(endings)}, which sets the format")
    require_writable(path)
    if kind is not None:
        require_ours(path, kind, force)
    return path

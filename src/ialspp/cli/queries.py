"""What commands that query a model share: opening it, parsing ids, printing and writing rankings."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..data.ids import IdMap
from ..errors import InvalidValueError, UnknownIdError
from ..files.frames import WRITERS, write_frame
from ..model.model import ImplicitMF
from ..system.printable import printable
from ..system.progress import reporting
from .output import checked_target, remark, show_json, show_table

if TYPE_CHECKING:
    from ..model.ranking import Rankings

MOST_TABLES = 20  # that a terminal shows
INTEGER = re.compile("0|-?[1-9][0-9]*")  # the same text becomes an integer id when data is read

ModelArgument = Annotated[Path, typer.Argument(metavar="MODEL", help="A file that `ialspp fit` wrote.")]
KOption = Annotated[int, typer.Option("-k", help="The length of each ranking.")]
ThreadsOption = Annotated[int | None, typer.Option(help="Threads. Default: all CPUs this process may use.")]
TableOption = Annotated[
    Path | None,
    typer.Option("-o", "--out", help=f"Write a table to this file: {', '.join(WRITERS)}."),
]


def opened(file: Path, threads: int | None = None) -> ImplicitMF:
    """Open a model file."""
    with reporting("opening"):
        return ImplicitMF.load(file, threads=threads)


def checked_table(out: Path | None) -> None:
    """Check that the table can be written, before it is made."""
    if out is not None:
        checked_target(out, WRITERS)


def require_histories(model: ImplicitMF, file: Path, remedy: str) -> None:
    """Raise if the file was written without interactions; `remedy` says what to do."""
    if not model.keeps_interactions:
        raise InvalidValueError(f"{file} was written with --no-interactions; {remedy}")


def checked_k(k: int) -> int:
    """Check the length of rankings."""
    if k < 1:
        raise InvalidValueError(f"-k must be at least 1, got {k}")
    return k


def one_way(**ways: Any) -> str:
    """Find the one option that was given; none or several are an error."""
    said = [name for name, value in ways.items() if value]
    flags = [f"--{name.replace('_', '-')}" for name in ways]
    if len(said) != 1:
        got = " and ".join(f"--{name.replace('_', '-')}" for name in said) or "none"
        raise InvalidValueError(f"one of {', '.join(flags)} is required, got {got}")
    return said[0]


def ids_of(texts: Iterable[str], known: IdMap, where: str) -> list[Any]:
    """Convert text to ids of the model: to integers if its ids are integers.

    Parameters
    ----------
    texts
        What the user typed.
    known
        All ids of the users or of the items.
    where
        Where the user typed them, for an error: an option or a file.
    """
    listed = list(texts)
    if known.is_text:
        return listed
    for text in listed:
        if not INTEGER.fullmatch(text):
            raise InvalidValueError(f"{where}: the {known.name}s of this model are integers, got {text!r}")
    return [int(text) for text in listed]


def ids_in(file: Path, known: IdMap) -> list[Any]:
    """Read ids from a file, one a line, or from stdin if it is "-". Empty lines are skipped."""
    is_stdin = file == Path("-")
    if is_stdin and sys.stdin is None:
        raise InvalidValueError("-: standard input is closed")
    name, content = ("stdin", sys.stdin.buffer.read()) if is_stdin else (str(file), file.read_bytes())
    try:
        lines = content.decode("utf-8-sig").split("\n")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InvalidValueError(f"{name}, line {line}: not UTF-8") from error
    ids = ids_of([line.rstrip("\r") for line in lines if line.rstrip("\r")], known, name)
    if not ids:
        raise InvalidValueError(f"{name}: no ids; one a line is required")
    try:
        known.rows(ids)
    except UnknownIdError as error:
        raise UnknownIdError(f"{name}: {error}") from error
    return ids


def show_rankings(rankings: Rankings, as_json: bool, asked: Sequence[Any] | None = None) -> None:
    """Print a table for each ranking, or all as JSON.

    Parameters
    ----------
    rankings
        What to print.
    as_json
        Print JSON.
    asked
        What each ranking is for, if the rankings do not know.
    """
    question, answer = rankings.names
    parts = list(zip(plain_ids(rankings.asked) if asked is None else asked, rankings, strict=True))
    if as_json:
        lists = [{question: q, f"{answer}s": list(r), "scores": r.scores} for q, r in parts]
        show_json({"rankings": lists})
        return
    name = answer.replace("_", " ")
    for about, ranking in parts:
        rows = [
            [place, printable(str(item)), f"{score:.4f}"]
            for place, (item, score) in enumerate(zip(ranking, ranking.scores, strict=True), 1)
        ]
        shown = ", ".join(map(str, about)) if isinstance(about, list) else about
        show_table(f"{question.capitalize()} {shown}", ["rank", name, "score"], rows, words=[name])


def plain_ids(ids: Any) -> list[Any]:
    """Convert ids to a list of Python values."""
    return list(ids.tolist() if hasattr(ids, "tolist") else ids)


def write_rankings(rankings: Rankings, out: Path, as_json: bool) -> None:
    """Write rankings to a file, and report it."""
    frame = rankings.to_frame()
    with reporting("writing"):
        write_frame(frame, out)
    if as_json:
        show_json({"file": str(out), "rows": len(frame), "asked": len(rankings)})
    else:
        remark(f"{len(frame):,} rows in {out}")

"""What commands that query a model share: opening it, parsing ids, printing and writing rankings."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..data.ids import IdMap
from ..errors import InvalidValueError
from ..files.frames import WRITERS, write_frames
from ..model.model import ImplicitMF
from ..system.printable import printable
from ..system.progress import reporting
from .ours import TABLE
from .output import checked_target, remark, show_json, show_table
from .signals import keep_signals_from_polars, signals_kept

if TYPE_CHECKING:
    import polars as pl

    from ..model.ranking import Ranking, Rankings
    from ..model.skipped import Skipped

MOST_TABLES = 20  # that a terminal shows
FALLBACK = ": nothing is known, so the most popular items"  # in the title of a table
INTEGER = re.compile("0|-?[1-9][0-9]*")  # the same text becomes an integer id when data is read

ModelArgument = Annotated[Path, typer.Argument(metavar="MODEL", help="A file that `ialspp fit` wrote.")]
KOption = Annotated[int, typer.Option("-k", "--top", help="How many to list.")]
ThreadsOption = Annotated[int | None, typer.Option(help="Threads. Default: all CPUs this process may use.")]
TableOption = Annotated[
    Path | None,
    typer.Option("-o", "--out", help=f"Write a table to this file: {', '.join(WRITERS)}."),
]

SkipUnknownOption = Annotated[
    bool,
    typer.Option("--skip-unknown", help="Leave out ids that the model does not know, and say how many."),
]


def opened(file: Path, threads: int | None = None) -> ImplicitMF:
    """Open a model file."""
    with reporting("opening"):
        return ImplicitMF.load(file, threads=threads)


def checked_table(out: Path | None, force: bool) -> None:
    """Check that the table can be written, before it is made."""
    if out is not None:
        checked_target(out, WRITERS, kind=TABLE, force=force)


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
    parts = list(zip(plain_ids(rankings.asked) if asked is None else asked, rankings, strict=True))
    if as_json:
        lists = [_as_dict(about, ranking, rankings) for about, ranking in parts]
        show_json({"rankings": lists, "skipped": rankings.skipped.as_dict()})
        return
    _say_skipped(rankings.skipped)
    for about, ranking in parts:
        _show_ranking(about, ranking, rankings.columns)


def _as_dict(about: Any, ranking: Ranking, rankings: Rankings) -> dict[str, Any]:
    question, answer = rankings.columns
    found = {question: about, f"{answer}s": list(ranking), "scores": ranking.scores}
    return found if rankings.of_neighbours else {**found, "fallback": ranking.fallback}


def _show_ranking(about: Any, ranking: Ranking, names: tuple[str, str]) -> None:
    """Print a table. The scores of a fallback are numbers of users."""
    question, answer = names[0].capitalize(), names[1].replace("_", " ")
    shown = (", ".join(map(str, about)) or "without items") if isinstance(about, list) else about
    reason, score, digits = (FALLBACK, "users", ",.0f") if ranking.fallback else ("", "score", ".4f")
    rows = [
        [place, printable(str(item)), f"{number:{digits}}"]
        for place, (item, number) in enumerate(zip(ranking, ranking.scores, strict=True), 1)
    ]
    show_table(f"{question} {shown}{reason}", ["rank", answer, score], rows, words=[answer])


def _say_skipped(skipped: Skipped) -> None:
    if skipped:
        remark(str(skipped))


def plain_ids(ids: Any) -> list[Any]:
    """Convert ids to a list of Python values."""
    return list(ids.tolist() if hasattr(ids, "tolist") else ids)


def write_rankings(parts: Iterable[Rankings], out: Path, as_json: bool, skipped: Skipped) -> None:
    """Write rankings to a file, one part after another, and report it."""
    counts: Counter[str] = Counter()

    def frames() -> Iterator[pl.DataFrame]:
        for part in parts:
            frame = part.to_frame()
            counts.update(rows=len(frame), asked=len(part))
            if not part.of_neighbours:
                counts.update(fallback=int(part.fallback.sum()))
            yield frame

    with signals_kept():
        keep_signals_from_polars()
        write_frames(frames(), out)
    if as_json:
        show_json({"file": str(out), **counts, "skipped": skipped.as_dict()})
        return
    _say_skipped(skipped)
    popular = counts["fallback"]
    cold = f", with the most popular items for {popular:,} of {counts['asked']:,} users" if popular else ""
    remark(f"{counts['rows']:,} rows in {out}{cold}")

"""What commands that query a model share: opening it, parsing ids, printing and writing rankings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray

from ..data.id_values import INTEGER
from ..data.ids import IdMap
from ..errors import InvalidValueError
from ..files.frames import WRITERS, write_frames
from ..model.model import ImplicitMF
from ..system.progress import reporting
from .ours import TABLE
from .output import checked_target, remark, show_json, show_line, show_table, shown_name, with_name
from .signals import keep_signals_from_polars, signals_kept

if TYPE_CHECKING:
    import polars as pl

    from ..model.ranking import Ranking, Rankings
    from ..model.skipped import Skipped

NAME = "name"  # the column of names
MOST_TABLES = 20  # that a terminal shows
FALLBACK = ": nothing is known, so the most popular items"  # in the title of a table

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


def show_rankings(rankings: Rankings, as_json: bool, histories: Sequence[list[Any]] | None = None) -> None:
    """Print a table for each ranking, or all as JSON.

    Parameters
    ----------
    rankings
        What to print.
    as_json
        Print JSON.
    histories
        The items that each ranking is for, if it is not for a user or an item.
    """
    if histories is None:
        abouts = About.each(rankings.asked_ids, rankings.asked_rows)
    else:
        abouts = [About.all(rankings.ids, rankings.ids.rows(ids)) for ids in histories]
    parts = list(zip(abouts, rankings, strict=True))
    if as_json:
        lists = [_as_dict(about, ranking, rankings) for about, ranking in parts]
        show_json({"rankings": lists, "skipped": rankings.skipped.as_dict()})
        return
    _say_skipped(rankings.skipped)
    for about, ranking in parts:
        _show_ranking(about, ranking, rankings)


@dataclass(frozen=True, slots=True)
class About:
    """What a ranking is for: one user or item, or the items of a history."""

    ids: list[Any]
    names: list[str | None]
    has_names: bool  # whether any of all users or items has one
    is_list: bool = False

    @classmethod
    def each(cls, ids: IdMap, rows: NDArray[np.integer[Any]]) -> list[About]:
        """Name some users or items, one by one."""
        pairs = zip(ids.named(rows), ids.names_of(rows), strict=True)
        return [cls([value], [name], ids.names is not None) for value, name in pairs]

    @classmethod
    def all(cls, ids: IdMap, rows: NDArray[np.integer[Any]]) -> About:
        """Name the items of a history."""
        return cls(ids.named(rows), ids.names_of(rows), ids.names is not None, is_list=True)

    def as_dict(self, question: str) -> dict[str, Any]:
        """Return plain values, for JSON."""
        if self.is_list:
            return {question: self.ids, **({f"{question}_names": self.names} if self.has_names else {})}
        return {question: self.ids[0], **({f"{question}_name": self.names[0]} if self.has_names else {})}

    def __str__(self) -> str:
        shown = [with_name(value, name) for value, name in zip(self.ids, self.names, strict=True)]
        return ("; " if any(self.names) else ", ").join(shown) or "without items"


def _as_dict(about: About, ranking: Ranking, rankings: Rankings) -> dict[str, Any]:
    question, answer = rankings.columns
    names = {} if rankings.ids.names is None else {f"{answer}_names": ranking.names}
    found = {**about.as_dict(question), f"{answer}s": list(ranking), **names, "scores": ranking.scores}
    return found if rankings.of_neighbours else {**found, "fallback": ranking.fallback}


def _show_ranking(about: About, ranking: Ranking, rankings: Rankings) -> None:
    """Print a table. The scores of a fallback are numbers of users."""
    question, answer = rankings.columns[0].capitalize(), rankings.columns[1].replace("_", " ")
    reason, score, digits = (FALLBACK, "users", ",.0f") if ranking.fallback else ("", "score", ".4f")
    numbers = [f"{number:{digits}}" for number in ranking.scores]
    rows = zip(range(1, len(ranking) + 1), ranking, ranking.names, numbers, strict=True)
    columns = ["rank", answer, NAME, score]
    show_named(f"{question} {about}{reason}", columns, rows, rankings.ids.names is not None)
    if not ranking:
        show_line(f"No {answer} is left for this {question.lower()}.")


def show_named(title: str, columns: Sequence[str], rows: Iterable[Sequence[Any]], has_names: bool) -> None:
    """Print a table of which one column holds ids, and the next one names if there are any."""
    at = columns.index(NAME)
    cells = [[*row[: at - 1], str(row[at - 1]), shown_name(row[at] or ""), *row[at + 1 :]] for row in rows]
    if not has_names:
        columns, cells = [*columns[:at], *columns[at + 1 :]], [[*row[:at], *row[at + 1 :]] for row in cells]
    show_table(title, columns, cells, words=[columns[at - 1], NAME])


def _say_skipped(skipped: Skipped) -> None:
    if skipped:
        remark(str(skipped))


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

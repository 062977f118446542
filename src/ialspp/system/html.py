"""Small pieces of HTML for notebooks: tables with bars, and a progress bar.

All text is escaped. Colours are those of the page, with bars in tones that suit light and dark ones. Styles
stand in the elements themselves, because a notebook keeps no style sheet of ours.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any, NamedTuple

from .printable import printable

MOST_ROWS = 20  # of a table; the rest is counted
UP, DOWN = "#3d8bd4", "#d07a2d"  # bars of positive and negative numbers: readable on white and on black
CELL = "padding:2px 10px 2px 0;text-align:{align};border:0"


class Bar(NamedTuple):
    """A number with a bar beside it: its text, and the length and direction of the bar from -1 to 1."""

    text: str
    share: float


def bars(numbers: Sequence[float], digits: int = 4) -> list[Bar]:
    """Give numbers bars, the longest one to the largest of them."""
    largest = max((abs(number) for number in numbers), default=0) or 1.0
    return [Bar(f"{number:.{digits}f}", number / largest) for number in numbers]


def table(title: str, header: Sequence[str], rows: Iterable[Sequence[Any]], note: str = "") -> str:
    """Draw a table. Cells are text, numbers, `Bar`s, or None for an empty one."""
    listed = list(rows)
    hidden = len(listed) - MOST_ROWS
    body = "".join(_row(row) for row in listed[:MOST_ROWS])
    head = "".join(f'<th style="{CELL.format(align="left")}">{_text(name)}</th>' for name in header)
    more = [f"and {hidden:,} more"] if hidden > 0 else []
    below = "".join(_small(line) for line in (*more, *filter(None, note.split("\n"))))
    return (
        f'<div style="color:inherit"><div style="font-weight:600">{_text(title)}</div>'
        f'<table style="border-collapse:collapse;color:inherit;background:none">'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{below}</div>"
    )


def facts(title: str, values: Mapping[str, Any], note: str = "") -> str:
    """Draw names and their values, one below the other."""
    return table(title, (), [(name, _shown(value)) for name, value in values.items()], note)


def progress_bar(task: str, done: float, total: float | None, note: str) -> str:
    """Draw how far work has come."""
    known = f' value="{done:g}" max="{total:g}"' if total else ""
    style = "width:16em;vertical-align:middle;margin:0 .7em"
    return f'<div>{_text(task)}<progress style="{style}"{known}></progress>{_text(note)}</div>'


def _row(cells: Sequence[Any]) -> str:
    return f'<tr style="background:none">{"".join(map(_cell, cells))}</tr>'


def _cell(value: Any) -> str:
    if isinstance(value, Bar):
        return f'<td style="{CELL.format(align="left")};white-space:nowrap">{_drawn(value)}</td>'
    align = "right" if isinstance(value, (int, float)) and not isinstance(value, bool) else "left"
    return f'<td style="{CELL.format(align=align)}">{_text(_shown(value))}</td>'


def _drawn(bar: Bar) -> str:
    colour, width = (UP if bar.share >= 0 else DOWN), min(abs(bar.share), 1.0) * 6
    line = f"display:inline-block;height:.6em;width:{width:.2f}em;background:{colour};border-radius:2px"
    number = "display:inline-block;min-width:4.5em;text-align:right;margin-right:.6em"
    return f'<span style="{number}">{_text(bar.text)}</span><span style="{line}"></span>'


def _shown(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return str(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:,.6g}"


def _small(line: str) -> str:
    return f'<div style="opacity:.75;font-size:90%">{_text(line)}</div>'


def _text(text: str) -> str:
    return escape(printable(text))

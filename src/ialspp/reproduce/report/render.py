"""A document as one HTML file that needs nothing beside it, and as Markdown, which has no pictures."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import escape

from ...system.printable import printable
from ..figures import Picture
from .css import CSS
from .document import Cell, Commands, Document, Items, Part, Section, Table

SHORT_CELL, LONG_CELL = 20, 40  # characters: up to the first not broken, beyond the second not squeezed
ONE_PAGE = 20  # rows: a table up to that is not cut by a page's end
ADDRESS = re.compile(r"(https?://[^\s<>\"]*[^\s<>\".,;:)])")
MEANS_SOMETHING = re.compile(r"([\\`*_|<>~\[\]&$#])")  # to Markdown, or to GitHub's


def html(document: Document) -> str:
    """The whole page."""
    contents = "".join(
        f'<li><a href="#{_text(section.anchor)}">{_text(section.title)}</a></li>\n'
        for section in document.sections
    )
    summary = "".join(f"<p>{_linked(line)}</p>\n" for line in document.summary)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{_text(document.title)}</title>\n<style>{CSS}</style>\n</head>\n<body>\n<main>\n"
        f"<header>\n<h1>{_text(document.title)}</h1>\n{summary}</header>\n"
        f'<nav aria-label="Contents">\n<ol>\n{contents}</ol>\n</nav>\n'
        + "".join(map(_html_section, document.sections))
        + "</main>\n</body>\n</html>\n"
    )


def markdown(document: Document) -> str:
    """The same without its pictures."""
    blocks = [f"# {_plain(document.title)}", *map(_plain, document.summary)]
    for section in document.sections:
        blocks += [f"## {_plain(section.title)}", *filter(None, map(_markdown_part, section.parts))]
    return "\n\n".join(blocks) + "\n"


# HTML


def _text(text: str) -> str:
    return escape(printable(text))


def _linked(text: str) -> str:
    """Escaped, with what looks like an address as a link."""
    return _around_addresses(text, _text, lambda address: f'<a href="{_text(address)}">{_text(address)}</a>')


def _html_section(section: Section) -> str:
    parts = "".join(map(_html_part, section.parts))
    return f'<section id="{_text(section.anchor)}">\n<h2>{_text(section.title)}</h2>\n{parts}</section>\n'


def _html_part(part: Part) -> str:
    if isinstance(part, Table):
        return _html_table(part)
    if isinstance(part, Picture):
        return _html_picture(part)
    if isinstance(part, Items):
        items = "".join(f"<li>{_linked(item)}</li>\n" for item in part.items)
        return f'<p class="title">{_text(part.title)}</p>\n<ul class="items">\n{items}</ul>\n'
    if isinstance(part, Commands):
        return f"<pre><code>{chr(10).join(map(_text, part.lines))}</code></pre>\n"
    return f"<p>{_linked(part)}</p>\n"


def _html_picture(picture: Picture) -> str:
    """A narrow screen scrolls it sideways: it is not legible at a third of its width."""
    return (
        f'<figure>\n<div class="scroll" tabindex="0">\n{picture.svg}\n</div>\n<figcaption>'
        f"<strong>{_text(picture.title)}.</strong> {_linked(picture.caption)}</figcaption>\n</figure>\n"
    )


def _html_table(table: Table) -> str:
    """A narrow screen scrolls it too; one of words alone becomes a list there, with its columns' names."""
    stacked = len(table.columns) > 3 and set(table.columns) == set(table.words)
    classes = [_classes(table, place) for place in range(len(table.columns))]
    labels = [f' data-label="{_text(name)}"' if stacked else "" for name in table.columns]
    head = "".join(
        f'<th scope="col"{_attribute(own)}>{_text(name)}</th>'
        for name, own in zip(table.columns, classes, strict=True)
    )
    rows = "".join(
        f"<tr{_attribute(group)}>{''.join(map(_html_cell, row, classes, labels))}</tr>\n"
        for row, group in zip(table.rows, _groups(table), strict=True)
    )
    whole = " whole" if len(table.rows) <= ONE_PAGE else ""
    note = f'<p class="note">{_linked(table.note)}</p>\n' if table.note else ""
    return (
        f'<div class="block{whole}">\n<p class="title">{_text(table.title)}</p>\n'
        f'<div class="scroll" role="region" tabindex="0" aria-label="{_text(table.title)}">\n'
        f"<table{_attribute(['stacked'] if stacked else [])}>\n<thead>\n<tr>{head}</tr>\n</thead>\n"
        f"<tbody>\n{rows}</tbody>\n</table>\n</div>\n{note}</div>\n"
    )


def _classes(table: Table, place: int) -> list[str]:
    """Of all cells of a column."""
    if table.columns[place] not in table.words:
        return []
    longest = max((len("".join(_parts(row[place]))) for row in table.rows), default=0)
    if longest <= SHORT_CELL:
        return ["words", "short"]
    return ["words", "long"] if longest > LONG_CELL else ["words"]


def _groups(table: Table) -> list[list[str]]:
    """Classes of the rows: where d has several, a new one begins a group."""
    firsts = [_parts(row[0]) for row in table.rows]
    if table.columns[0] in table.words or len(set(firsts)) == len(firsts):
        return [[]] * len(firsts)
    return [["group"] if place and first != firsts[place - 1] else [] for place, first in enumerate(firsts)]


def _html_cell(cell: str | Cell, classes: list[str], label: str) -> str:
    text, detail = map(_linked, _parts(cell))
    if isinstance(cell, Cell):
        tag = "strong" if cell.kind == "strong" else "span"
        text = f'<{tag} class="{cell.kind}">{text}</{tag}>'
    return f"<td{_attribute(classes)}{label}>{text}{detail}</td>"


def _attribute(classes: list[str]) -> str:
    return f' class="{" ".join(classes)}"' if classes else ""


# Markdown


def _plain(text: str) -> str:
    """Text that means nothing to Markdown but itself; an address stays one."""
    return _around_addresses(
        text,
        lambda words: MEANS_SOMETHING.sub(r"\\\1", printable(words)),
        lambda address: f"<{printable(address).replace('|', '%7C')}>",
    )


def _markdown_part(part: Part) -> str:
    if isinstance(part, Picture):
        return ""
    if isinstance(part, Table):
        return _markdown_table(part)
    if isinstance(part, Items):
        return "\n".join([f"{_plain(part.title)}\n", *(f"- {_plain(item)}" for item in part.items)])
    if isinstance(part, Commands):
        return "\n".join(f"    {printable(line)}" for line in part.lines)
    return _plain(part)


def _markdown_table(table: Table) -> str:
    rules = ["---" if name in table.words else "---:" for name in table.columns]
    rows = [[*map(_plain, table.columns)], rules, *([*map(_markdown_cell, row)] for row in table.rows)]
    lines = [f"| {' | '.join(row)} |" for row in rows]
    note = f"\n\n{_plain(table.note)}" if table.note else ""
    return f"**{_plain(table.title)}**\n\n" + "\n".join(lines) + note


def _markdown_cell(cell: str | Cell) -> str:
    text, detail = map(_plain, _parts(cell))
    is_bold = isinstance(cell, Cell) and cell.kind in ("strong", "fails")
    return f"**{text}**{detail}" if is_bold else text + detail


# Both


def _parts(cell: str | Cell) -> tuple[str, str]:
    """What may stand out, and what follows it."""
    if not isinstance(cell, Cell):
        return cell, ""
    return cell.text, f": {cell.detail}" if cell.detail else ""


def _around_addresses(text: str, words: Callable[[str], str], address: Callable[[str], str]) -> str:
    parts = ADDRESS.split(text)  # words and addresses in turn
    return "".join(address(part) if place % 2 else words(part) for place, part in enumerate(parts))

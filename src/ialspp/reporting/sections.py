"""The sections of a report: each a heading, a picture or a table, and what it says in words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..data.ids import IdMap
from ..explorer import ItemMap
from ..model.history import EpochRecord
from .charts import Chart, Point, dot, linear, logarithmic, text
from .findings import MAPPED, Exposure, Neighbourhood

PARTS = ("observed", "unobserved", "regularization")
NEVER = 0.5  # where a logarithmic axis shows items that were never recommended
MOST_DOTS = 2000  # of a chart; more would cover each other
SIZE = 1000  # of the map
NAMED = 40  # items of the map with a label, if there is room
LETTER, LINE = 9.0, 20.0  # about the width of a letter and the height of a line of a label
LONGEST = 26  # letters of a label on the map


def section(title: str, body: str, words: str, kind: str = "") -> str:
    """Put a section together."""
    return f'<section class="{kind}"><h2>{text(title)}</h2>{body}<p>{text(words)}</p></section>'


def of_training(history: Sequence[EpochRecord]) -> str:
    """Show the loss and its parts, epoch by epoch."""
    epochs = [record.epoch for record in history]
    highest = max(record.loss for record in history)
    chart = Chart(linear("epoch", min(epochs), max(epochs)), linear("loss", 0, highest))
    lines = [
        chart.line([(record.epoch, getattr(record, name)) for record in history], f"line {name}")
        for name in (*PARTS, "loss")
    ]
    first, last = history[0], history[-1]
    fall = f" It was {first.loss:,.6g} after the first." if len(history) > 1 else ""
    words = f"After epoch {last.epoch} the loss is {last.loss:,.6g}.{fall}"
    picture = chart.drawn(*lines, title="The loss and its parts after each epoch")
    return section("Training", f"{picture}<p>{_keys('loss', *PARTS)}</p>", words)


def of_exposure(exposure: Exposure, items: IdMap) -> str:
    """Show how often items are recommended, beside their popularity."""
    rows = _evenly(np.argsort(-exposure.popularity, kind="stable"), MOST_DOTS)
    users, times = np.maximum(exposure.popularity[rows], NEVER), np.maximum(exposure.times[rows], NEVER)
    chart = Chart(
        logarithmic("users in the training data", [*users.tolist(), 1]),
        logarithmic("times recommended", [*times.tolist(), 1]),
    )
    labels = [
        f"{label}: {n:,} users, recommended {m:,} times"
        for label, n, m in zip(
            items.labels(rows), exposure.popularity[rows].tolist(), exposure.times[rows].tolist(), strict=True
        )
    ]
    points = list(zip(users.tolist(), times.tolist(), strict=True))
    picture = chart.drawn(chart.dots(points, labels, "dot"), title="Popularity and recommendations of items")
    words = f"The {exposure.k} best items for each of {exposure.users:,} users."
    if (exposure.times == 0).any():
        words += " Dots on the lowest line were never recommended."
    return section("Popularity", picture, words)


def of_coverage(exposure: Exposure) -> str:
    """Show how interactions and recommendations add up over the items, the most popular ones first."""
    chart = Chart(linear("share of items, the most popular first", 0, 1), linear("share of all", 0, 1))
    lines, gets = [], {}
    for name, counts in (("interactions", exposure.popularity), ("recommendations", exposure.times)):
        shares = exposure.cumulative(counts)
        places = _evenly(np.arange(len(shares)), MOST_DOTS)
        points = [(0.0, 0.0), *(((at + 1) / len(shares), float(shares[at])) for at in places.tolist())]
        lines.append(chart.line(points, f"line {name}"))
        gets[name] = exposure.share_of_popular(counts)
    picture = chart.drawn(*lines, title="Cumulative shares of interactions and recommendations")
    words = (
        f"{exposure.coverage:.1%} of all items are recommended to someone. The most popular tenth of the "
        f"items had {gets['interactions']:.1%} of the interactions, and gets "
        f"{gets['recommendations']:.1%} of the recommendations."
    )
    return section("Coverage", f"{picture}<p>{_keys(*gets)}</p>", words)


def _keys(*names: str) -> str:
    return "".join(f'<span class="key {name}">{name}</span>' for name in names)


def of_spectrum(values: NDArray[np.float64]) -> str:
    """Show the singular values of the scores."""
    there = values[values > values[:1].max(initial=0) * 1e-6]
    if len(there) == 0:
        return section("Spectrum", "", "All scores are zero.")
    chart = Chart(linear("dimension", 1, max(len(there), 2)), logarithmic("singular value", there.tolist()))
    points: list[Point] = [(float(number), float(value)) for number, value in enumerate(there, start=1)]
    shares = np.cumsum(there**2) / np.sum(there**2)
    enough = int(np.searchsorted(shares, 0.9) + 1)
    words = (
        f"The singular values of the matrix of all scores. The first {enough} of {len(values)} dimensions "
        "carry 90 % of the squared scores."
    )
    line = chart.line(points, "line loss")
    return section("Spectrum", chart.drawn(line, title="Singular values of the scores"), words)


def of_neighbours(found: Sequence[Neighbourhood]) -> str:
    """List well-known items with those most like them."""
    cards = "".join(
        f"<li><h3>{text(each.label)}</h3><ol>{''.join(map(_neighbour, each.neighbours))}</ol></li>"
        for each in found
    )
    words = "Items with many users that are little alike, each with its most similar items and their cosines."
    return section("Neighbours", f'<ul class="cards">{cards}</ul>', words, "wide")


def _neighbour(pair: tuple[str, float]) -> str:
    label, cosine = pair
    bar = f'<svg class="bar" viewBox="0 0 100 8"><rect width="{max(cosine, 0) * 100:.0f}" height="8"/></svg>'
    return f"<li><span>{text(label)}</span>{bar}<span>{cosine:.2f}</span></li>"


def of_map(found: ItemMap, items: IdMap) -> str:
    """Show the best-known items in the plane."""
    labels = items.labels(found.rows)
    x, y = ((1 + axis) * SIZE / 2 for axis in (found.x, -found.y))
    radii = np.full(len(x), 4.0) if found.users is None else _radii(found.users)
    dots = [dot(*each, "dot") for each in zip(x.tolist(), y.tolist(), radii.tolist(), labels, strict=True)]
    names = _placed_names(x, y, [_shortened(label) for label in labels[: 4 * NAMED]])
    frame = f'viewBox="-20 -20 {SIZE + 40} {SIZE + 40}" role="img" aria-label="A map of items"'
    picture = f'<svg class="map" {frame}>{"".join(dots[::-1])}{"".join(names)}</svg>'
    which = "All items" if len(items) <= MAPPED else f"The {len(found.rows):,} items with the most users"
    words = (
        f"{which}; similar ones are close together, and larger dots have more users. Point at a dot for its "
        "name."
    )
    return section("Map", picture, words, "wide")


def _radii(users: NDArray[np.int64]) -> NDArray[np.float64]:
    return np.asarray(2.5 + 7.5 * np.sqrt(users / max(int(users.max(initial=1)), 1)))


def _shortened(label: str) -> str:
    return label if len(label) <= LONGEST else f"{label[: LONGEST - 1]}…"


def _placed_names(x: NDArray[np.float64], y: NDArray[np.float64], labels: Sequence[str]) -> list[str]:
    """Write the names of the best-known items, each where no other name is yet."""
    drawn: list[str] = []
    taken: list[tuple[float, float, float]] = []  # the middle, and half the width
    for across, down, label in zip(x.tolist(), y.tolist(), labels, strict=False):
        half = len(label) * LETTER / 2
        middle = min(max(across, half), SIZE - half)
        if any(abs(middle - m) < half + h and abs(down - d) < LINE for m, d, h in taken):
            continue
        taken.append((middle, down, half))
        drawn.append(f'<text class="label middle" x="{middle:.0f}" y="{down - 9:.0f}">{text(label)}</text>')
        if len(drawn) == NAMED:
            break
    return drawn


def _evenly(rows: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    """Choose rows from the first to the last, at equal distances."""
    return rows[np.linspace(0, len(rows) - 1, min(len(rows), most)).round().astype(np.int64)]

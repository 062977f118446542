"""Charts as SVG: axes with ticks, lines and dots. Colours and fonts come from the page's style."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

from ..system.printable import printable

WIDTH, HEIGHT = 480, 300
LEFT, RIGHT, TOP, BOTTOM = 76, 24, 12, 44  # room for the ticks and the names of the axes
Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Axis:
    """Numbers from `low` to `high`, spaced evenly, or by their logarithms."""

    name: str
    low: float
    high: float
    logarithmic: bool = False

    def share(self, value: float) -> float:
        """Return where a number is between the ends, from 0 to 1."""
        if self.logarithmic:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)

    def ticks(self) -> list[float]:
        """Return round numbers between the ends."""
        if self.logarithmic:
            first, last = math.ceil(math.log10(self.low) - 1e-9), math.floor(math.log10(self.high) + 1e-9)
            step = (last - first) // 6 + 1
            return [10.0**power for power in range(first, last + 1, step)]
        size = _round_step((self.high - self.low) / 5)
        first, last = math.ceil(self.low / size - 1e-9), math.floor(self.high / size + 1e-9)
        return [number * size for number in range(first, last + 1)]


def logarithmic(name: str, values: Sequence[float]) -> Axis:
    """Make an axis from the powers of ten around positive numbers."""
    low, high = min(values), max(values)
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    return Axis(name, 10.0**first, 10.0 ** max(last, first + 1), logarithmic=True)


def linear(name: str, low: float, high: float) -> Axis:
    """Make an axis with some room above the highest number."""
    return Axis(name, low, high + (high - low) * 0.04 if high > low else low + 1)


def _round_step(least: float) -> float:
    power = 10.0 ** math.floor(math.log10(least))
    return next(step * power for step in (1, 2, 5, 10) if step * power >= least * (1 - 1e-9))


@dataclass(frozen=True, slots=True)
class Chart:
    """Two axes, and how numbers become places."""

    x: Axis
    y: Axis

    def place(self, point: Point) -> Point:
        """Return where a point is drawn."""
        across, up = self.x.share(point[0]), self.y.share(point[1])
        return LEFT + across * (WIDTH - LEFT - RIGHT), HEIGHT - BOTTOM - up * (HEIGHT - TOP - BOTTOM)

    def drawn(self, *layers: str, title: str) -> str:
        """Return the whole picture; title: what a screen reader says."""
        inside = self._axes() + "".join(layers)
        return f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{text(title)}">{inside}</svg>'

    def line(self, points: Iterable[Point], kind: str) -> str:
        """Draw a line through points; kind: the class that the style knows."""
        places = " ".join(f"{x:.1f},{y:.1f}" for x, y in map(self.place, points))
        return f'<polyline class="{kind}" points="{places}"/>'

    def dots(self, points: Iterable[Point], labels: Iterable[str], kind: str) -> str:
        """Draw dots, each with what it says when pointed at."""
        return "".join(
            dot(*self.place(point), 3, label, kind) for point, label in zip(points, labels, strict=True)
        )

    def _axes(self) -> str:
        bottom, right = HEIGHT - BOTTOM, WIDTH - RIGHT
        parts = [f'<path class="axis" d="M{LEFT},{TOP}V{bottom}H{right}"/>']
        for tick in self.x.ticks():
            x, _ = self.place((tick, self.y.low))
            parts.append(f'<text class="tick middle" x="{x:.1f}" y="{bottom + 16}">{_number(tick)}</text>')
        for tick in self.y.ticks():
            _, y = self.place((self.x.low, tick))
            parts.append(f'<path class="grid" d="M{LEFT},{y:.1f}H{right}"/>')
            parts.append(f'<text class="tick end" x="{LEFT - 6}" y="{y + 4:.1f}">{_number(tick)}</text>')
        middle = (LEFT + right) / 2
        parts.append(f'<text class="name middle" x="{middle}" y="{HEIGHT - 8}">{text(self.x.name)}</text>')
        turned = f"translate(13,{(TOP + bottom) / 2}) rotate(-90)"
        parts.append(f'<text class="name middle" transform="{turned}">{text(self.y.name)}</text>')
        return "".join(parts)


def dot(x: float, y: float, radius: float, label: str, kind: str) -> str:
    """Draw one dot with its label."""
    place = f'cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}"'
    return f'<circle class="{kind}" {place}><title>{text(label)}</title></circle>'


def text(value: str) -> str:
    """Escape untrusted text."""
    return escape(printable(value))


def _number(value: float) -> str:
    if abs(value) >= 1e6 or 0 < abs(value) < 1e-3:
        return f"{value:.3g}".replace("e+0", "e").replace("e-0", "e-")
    return f"{value:,.6g}"

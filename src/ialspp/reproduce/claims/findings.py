"""What is found about a claim, and the words and numbers that findings have in common."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """Our value, whether the claim holds (None: not measured), and why it does not or what is missing."""

    ours: str
    holds: bool | None
    why: str = ""


def needs(what: str, ours: str = "") -> Finding:
    """Nothing can be said without this."""
    return Finding(ours, None, f"needs {what}")


def both(first: Finding, second: Finding) -> Finding:
    """Of a sentence that says two things: it fails if one of them does, else both must be measured."""
    findings = (first, second)
    ours = "; ".join(each.ours for each in findings if each.ours)
    holds = _all(each.holds for each in findings)
    whys = dict.fromkeys(each.why for each in findings if each.why and each.holds is holds)
    return Finding(ours, holds, "; ".join(whys))


def _all(verdicts: Iterable[bool | None]) -> bool | None:
    known = set(verdicts)
    return False if False in known else None if None in known else True


def number(value: float) -> str:
    """Three digits, never in scientific notation where a reader would stumble: 11.3, 1,536, 0.16."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def times(factor: float) -> str:
    """A factor: 11.3x."""
    return f"{number(factor)}x"


def percent(share: float) -> str:
    """A share: 0.052 is 5.20 %."""
    value = 100 * share
    return f"{value:.2f} %" if abs(value) < 10 else f"{value:,.1f} %"


def duration(seconds: float) -> str:
    """In seconds; below 0.1 s in milliseconds, from two minutes on in minutes."""
    if seconds < 0.1:
        return f"{number(1000 * seconds)} ms"
    return f"{number(seconds)} s" if seconds < 120 else f"{number(seconds / 60)} min"


def at_dims(values: Mapping[int, str], unit: str = "") -> str:
    """Values by d: "5.0, 5.4 epochs at d = 64, 128"."""
    listed = f"{', '.join(values.values())} {unit}".rstrip()
    return f"{listed} at d = {', '.join(map(str, values))}"

"""What is found about a claim, and how numbers are written in it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ..run import Run


@dataclass(frozen=True, slots=True)
class Finding:
    """Our value, whether the claim holds (None: not measured), and why not or what is missing."""

    ours: str
    holds: bool | None
    why: str = ""


Judge = Callable[[Run], Finding]


def needs(what: str, ours: str = "") -> Finding:
    """Leave a claim open, and say which measurement it needs."""
    return Finding(ours, None, f"needs {what}")


def decided(ours: str, holds: bool, why: str) -> Finding:
    """Find that a claim holds or not; `why` is the reason where it does not."""
    return Finding(ours, holds, "" if holds else why)


def both(*judges: Judge) -> Judge:
    """Judge a sentence with several parts: it fails if one of them fails, else all must be measured."""

    def judge(run: Run) -> Finding:
        findings = [part(run) for part in judges]
        verdicts = {each.holds for each in findings}
        holds = False if False in verdicts else None if None in verdicts else True
        whys = dict.fromkeys(each.why for each in findings if each.why and each.holds is holds)
        return Finding("; ".join(each.ours for each in findings if each.ours), holds, "; ".join(whys))

    return judge


def number(value: float) -> str:
    """Write three digits, never in scientific notation: 11.3, 1,536, 0.16."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def times(factor: float) -> str:
    return f"{number(factor)}x"


def percent(share: float) -> str:
    """Write a share: 0.052 is 5.20 %."""
    value = 100 * share
    return f"{value:.2f} %" if abs(value) < 10 else f"{value:,.1f} %"


def duration(seconds: float) -> str:
    """Write milliseconds below 0.1 s, minutes from two minutes on."""
    if seconds < 0.1:
        return f"{number(1000 * seconds)} ms"
    return f"{number(seconds)} s" if seconds < 120 else f"{number(seconds / 60)} min"


def at_dims(values: Mapping[int, str], unit: str = "") -> str:
    """Write values by d: "5.0, 5.4 epochs at d = 64, 128"."""
    values_in_order = f"{', '.join(values.values())} {unit}".rstrip()
    return f"{values_in_order} at d = {', '.join(map(str, values))}"

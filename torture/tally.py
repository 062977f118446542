"""What an attack counted."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

MOST_SHOWN = 20  # faults of one attack


@dataclass(slots=True)
class Tally:
    """How often each thing happened, and what must never happen, with what repeats it."""

    counts: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)

    def fault(self, what: str) -> None:
        """Note a fault: what happened, and what was drawn."""
        self.counts["faults"] += 1
        if len(self.faults) < MOST_SHOWN:
            self.faults.append(what)

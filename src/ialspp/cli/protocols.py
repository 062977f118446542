"""The options of a protocol to a split."""

from __future__ import annotations

from typing import Any, Literal

from .. import split as splits
from ..datasets import KNOWN
from ..interactions import Interactions
from ..progress import working
from ..split import Split
from .source import Source


def _strong(data: Interactions, options: dict[str, Any]) -> Split:
    return splits.strong(data, **_only(options, "held_out", "test_share", "min_user", "min_item", "seed"))


def _leave_one_out(data: Interactions, options: dict[str, Any]) -> Split:
    pick: Literal["latest", "random"] = "random" if data.times is None else "latest"
    return splits.leave_one_out(_enough(data, options), pick=pick, **_only(options, "negatives", "seed"))


def _last_days(data: Interactions, options: dict[str, Any]) -> Split:
    if "days" not in options:
        raise ValueError("--protocol last-days needs --days")
    return splits.last_days(_enough(data, options), **_only(options, "days"))


def _last_item(data: Interactions, options: dict[str, Any]) -> Split:
    return splits.last_item(_enough(data, options), **_only(options))


def _random(data: Interactions, options: dict[str, Any]) -> Split:
    return splits.random(_enough(data, options), **_only(options, "test_share", "seed"))


PROTOCOLS = {
    "strong": _strong,
    "leave-one-out": _leave_one_out,
    "last-days": _last_days,
    "last-item": _last_item,
    "random": _random,
}


def split_of(source: Source, protocol: str | None, options: dict[str, Any]) -> Split:
    """As the data was published, or as the protocol says."""
    known = KNOWN[source.source] if source.is_known else None
    if known is not None and protocol in (None, "strong") and known.strong is not None:
        protocol, options = "strong", {**known.strong, **options}
        loaded = source.load(**known.strong_load)
    else:
        loaded = source.load()
    if isinstance(loaded, Split):
        if protocol is not None or options:
            raise ValueError(f"{source.source} is split already; leave out --protocol and its options")
        return loaded
    if protocol not in PROTOCOLS:
        raise ValueError(f"--protocol must be one of {', '.join(PROTOCOLS)}, got {protocol!r}")
    with working("splitting"):
        return PROTOCOLS[protocol](loaded, options)


def _enough(data: Interactions, options: dict[str, Any]) -> Interactions:
    """Users and items with enough interactions; the options for that are used up."""
    return data.core(options.pop("min_user", 1), options.pop("min_item", 1))


def _only(options: dict[str, Any], *known: str) -> dict[str, Any]:
    """These options; any other is one that the protocol does not have."""
    flags = [f"--{'split-seed' if n == 'seed' else n.replace('_', '-')}" for n in options if n not in known]
    if flags:
        raise ValueError(f"{', '.join(flags)} means nothing for this protocol")
    return options

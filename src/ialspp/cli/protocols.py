"""The options for splitting data, one protocol a function."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

import typer

from .. import split as splits
from ..data.interactions import Interactions
from ..datasets import KNOWN
from ..errors import InvalidValueError
from ..split import Split
from ..system.progress import reporting
from .options import given
from .output import remark
from .source import Source


def _strong(data: Interactions, options: dict[str, Any]) -> Split:
    return splits.strong(data, **_only(options, "held_out", "test_share", "min_user", "min_item", "seed"))


def _leave_one_out(data: Interactions, options: dict[str, Any]) -> Split:
    pick: Literal["latest", "random"] = "random" if data.times is None else "latest"
    if data.times is None:
        remark("there are no times (--time), so a random item of each user is held out, not the latest")
    return splits.leave_one_out(_enough(data, options), pick=pick, **_only(options, "negatives", "seed"))


def _last_days(data: Interactions, options: dict[str, Any]) -> Split:
    if "days" not in options:
        raise InvalidValueError("--protocol last-days needs --days")
    _require_times(data, "last-days")
    return splits.last_days(_enough(data, options), **_only(options, "days"))


def _last_item(data: Interactions, options: dict[str, Any]) -> Split:
    _require_times(data, "last-item")
    return splits.last_item(_enough(data, options), **_only(options))


def _last_share(data: Interactions, options: dict[str, Any]) -> Split:
    _require_times(data, "last-share")
    return splits.last_share(_enough(data, options), **_only(options, "test_share"))


def _random(data: Interactions, options: dict[str, Any]) -> Split:
    return splits.random(_enough(data, options), **_only(options, "test_share", "per_user", "seed"))


def _require_times(data: Interactions, protocol: str) -> None:
    if data.times is None:
        prepared = "" if data.file is None else ", when the data is prepared"
        raise InvalidValueError(f"--protocol {protocol} needs times; --time must name their column{prepared}")


PROTOCOLS = {
    "strong": _strong,
    "leave-one-out": _leave_one_out,
    "last-days": _last_days,
    "last-item": _last_item,
    "last-share": _last_share,
    "random": _random,
}


RANDOM = "random"


@dataclass(frozen=True, slots=True)
class Splitting:
    """How to split the data; None where an option was not given."""

    panel: ClassVar[str] = "Split"

    protocol: Annotated[
        str | None,
        typer.Option(help=f"Required unless the data set has a published split: {', '.join(PROTOCOLS)}."),
    ] = None
    held_out: Annotated[
        int | None,
        typer.Option(
            help="strong: number of test users, and of validation users. Default: a tenth, at most 10,000."
        ),
    ] = None
    test_share: Annotated[
        float | None, typer.Option(help="strong, random, last-share: share of the pairs to predict.")
    ] = None
    per_user: Annotated[
        bool | None, typer.Option("--per-user", help="random: a share of each user's pairs, at least one.")
    ] = None
    days: Annotated[float | None, typer.Option(help="last-days: number of days in the test set.")] = None
    negatives: Annotated[
        int | None, typer.Option(help="leave-one-out: number of items to rank with the test item.")
    ] = None
    min_user: Annotated[int | None, typer.Option(help="Leave out users with fewer items.")] = None
    min_item: Annotated[int | None, typer.Option(help="Leave out items with fewer users.")] = None
    split_seed: Annotated[int | None, typer.Option(help="Seed of the split. Default: the published one.")] = (
        None
    )

    def split(self, source: Source, default: str | None = None) -> Split:
        """Load the data and split it as published, by the protocol, or else by the default one."""
        known = KNOWN[source.source] if source.is_known else None
        if self.protocol is None and known is None and default is None:
            raise _unsaid(source)
        if self.protocol is not None and self.protocol not in PROTOCOLS:
            raise InvalidValueError(
                f"--protocol must be one of {', '.join(PROTOCOLS)}, got {self.protocol!r}"
            )
        published = known if self.protocol in (None, "strong") else None
        loaded = source.load(**(published.strong_load if published else {}))
        options = given(self, "protocol", "split_seed")
        if self.split_seed is not None:
            options["seed"] = self.split_seed
        if isinstance(loaded, Split):
            if self.protocol is not None or options:
                raise InvalidValueError(
                    f"{source.source} is already split; leave out --protocol and its options"
                )
            return loaded
        strong = published.strong if published else None
        protocol = self.protocol or (default if strong is None else "strong")
        if protocol is None:
            raise _unsaid(source)
        with reporting("splitting"):
            return PROTOCOLS[protocol](loaded, {**(strong or {}), **options})


@dataclass(frozen=True, slots=True)
class TuneSplitting(Splitting):
    """How to split the data for a search, which need not be said."""

    protocol: Annotated[
        str | None,
        typer.Option(
            help=f"{', '.join(PROTOCOLS)}. Default: the published split of the data set, or else {RANDOM}."
        ),
    ] = None


def _unsaid(source: Source) -> InvalidValueError:
    return InvalidValueError(f"--protocol must say how to split {source.source}: {', '.join(PROTOCOLS)}")


def _enough(data: Interactions, options: dict[str, Any]) -> Interactions:
    """Keep users and items with enough interactions, and remove those options."""
    return data.core(options.pop("min_user", 0), options.pop("min_item", 0))


def _only(options: dict[str, Any], *known: str) -> dict[str, Any]:
    """Check that there are no options but these, and return them."""
    flags = [f"--{'split-seed' if n == 'seed' else n.replace('_', '-')}" for n in options if n not in known]
    if flags:
        raise InvalidValueError(f"{', '.join(flags)} does not apply to this protocol")
    return options

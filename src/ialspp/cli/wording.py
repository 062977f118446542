"""How the help speaks: headings, and words for what an option takes. Each option is taken once."""

from __future__ import annotations

import inspect
from collections import Counter
from copy import copy
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, get_args, get_origin

from rich.markup import escape
from typer.core import TyperCommand, TyperGroup
from typer.models import OptionInfo

from ..errors import InvalidValueError

TRAIN, QUERY, LOOK, EXPORT = "Train a model", "Query a model", "Look", "Use a model elsewhere"
WORDS = {bool: "", int: "INTEGER", float: "NUMBER", str: "TEXT", Path: "PATH"}


def in_paragraphs(text: str) -> str:
    """Join the lines of each paragraph: the help breaks them anew, where the terminal ends."""
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in text.split("\n\n"))


def in_words(parameter: inspect.Parameter) -> inspect.Parameter:
    """Say in words what a parameter takes, and keep rich from reading tags in its help."""
    if get_origin(parameter.annotation) is not Annotated:  # the context
        return parameter
    hint, info = get_args(parameter.annotation)
    shown = copy(info)  # because commands share options
    if shown.metavar is None:
        is_option = isinstance(shown, OptionInfo)
        shown.metavar = WORDS[kind_of(parameter)] if is_option else parameter.name.upper()
    shown.help = escape(shown.help)
    return parameter.replace(annotation=Annotated[hint, shown])


def kind_of(parameter: inspect.Parameter) -> type:
    """Find X in an annotation of `X`, `X | None` or `list[X] | None`."""
    hint = get_args(parameter.annotation)[0]
    if isinstance(hint, UnionType):
        hint = next(part for part in get_args(hint) if part is not type(None))
    kind: type = get_args(hint)[0] if get_origin(hint) is list else hint
    return kind


class Command(TyperCommand):
    """A command of typer that takes each option once and whose help names no types of Python."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Refuse an option that is given twice: only its last value would count."""
        _, _, order = self.make_parser(ctx).parse_args(list(args))
        for parameter, count in Counter(order).items():
            if count > 1 and _has_one_value(parameter):
                raise InvalidValueError(f"{parameter.opts[-1]} may be given once, got it {count} times")
        return super().parse_args(ctx, args)

    def get_params(self, ctx: Any) -> list[Any]:
        """List the parameters, with typer's own options in words too."""
        return _without_types(super().get_params(ctx))

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """List the parts of the usage; typer may put braces around what is required."""
        return [piece.strip("{}") for piece in super().collect_usage_pieces(ctx)]


class Group(TyperGroup):
    """A group of commands whose help names no types of Python."""

    def get_params(self, ctx: Any) -> list[Any]:
        """List the parameters, with typer's own options in words too."""
        return _without_types(super().get_params(ctx))


def _has_one_value(parameter: Any) -> bool:
    if parameter.param_type_name != "option" or parameter.multiple:
        return False
    return not parameter.is_flag or bool(parameter.secondary_opts)  # --json --json says the same twice


def _without_types(parameters: list[Any]) -> list[Any]:
    for parameter in parameters:
        if parameter.param_type_name == "argument":
            parameter.display_type_rich = lambda ctx: ""  # noqa: ARG005  # newer versions of typer print it
        elif parameter.metavar is None and parameter.is_flag:
            parameter.metavar = ""
    return parameters

"""Groups of options that commands share: a parameter that is a dataclass stands for all its fields."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import MISSING, fields, is_dataclass
from typing import Any, get_args, get_type_hints

import typer
from rich.markup import escape
from typer.models import OptionInfo

from .config import config_option
from .failures import DebugOption, reported
from .messages import naming_options
from .wording import Command, in_paragraphs, in_words

RENAMED = {"as_json", "everyone", "k"}  # parameters whose option has another name
EXAMPLE = "\n\nExample: "


def add_command(
    group: typer.Typer,
    name: str,
    command: Callable[..., None],
    *,
    panel: str | None = None,
    has_config: bool = False,
) -> None:
    """Make a function a command. Its docstring is the help; the example at its end is the last line there.

    Parameters
    ----------
    group
        The app or the group that gets the command.
    name
        The name of the command.
    command
        The function to run. A parameter that is a dataclass stands for all its fields.
    panel
        The heading above the command in the help of the group. Default: "Commands".
    has_config
        Whether the command has --config, which takes options from a file.
    """
    text, _, example = escape(in_paragraphs(inspect.getdoc(command) or "")).rpartition(EXAMPLE)
    run = with_options(command, name if has_config else None)
    epilog = f"{EXAMPLE.strip()} {example}"
    group.command(name, cls=Command, help=text, epilog=epilog, rich_help_panel=panel)(run)


def with_options(command: Callable[..., None], config_of: str | None = None) -> Callable[..., None]:
    """Wrap a command for typer: every field of its dataclasses becomes an option of its own."""
    own = inspect.signature(command, eval_str=True).parameters
    groups: dict[str, Any] = {
        name: parameter.annotation for name, parameter in own.items() if is_dataclass(parameter.annotation)
    }

    def run(**values: Any) -> None:
        for name in {"config", "debug"} & values.keys():  # these took effect when they were parsed
            del values[name]
        with reported(), naming_options(arguments):
            for name, group in groups.items():
                chosen = {field.name: values.pop(field.name) for field in fields(group)}
                values[name] = group(**chosen)
            command(**values)

    parameters = [
        option
        for name, parameter in own.items()
        for option in (_options_of(groups[name]) if name in groups else [parameter])
    ]
    if config_of is not None:
        options = [option for option in parameters if option.annotation is not typer.Context]
        parameters.append(config_option(config_of, options))
    parameters.append(_keyword("debug", DebugOption, False))
    arguments = [option.name for option in parameters if option.name not in RENAMED]
    keywords = [in_words(option.replace(kind=inspect.Parameter.KEYWORD_ONLY)) for option in parameters]
    shown: Any = run  # typer reads its signature
    shown.__signature__ = inspect.Signature(keywords)
    shown.__annotations__ = {option.name: option.annotation for option in keywords}
    return run


def _options_of(group: Any) -> Iterator[inspect.Parameter]:
    """List the options of a group; `panel` is the heading of those that have none of their own."""
    hints = get_type_hints(group, include_extras=True)
    for field in fields(group):
        for info in get_args(hints[field.name])[1:]:
            if isinstance(info, OptionInfo) and info.rich_help_panel is None:
                info.rich_help_panel = getattr(group, "panel", None)
        default = inspect.Parameter.empty if field.default is MISSING else field.default
        yield _keyword(field.name, hints[field.name], default)


def _keyword(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def given(options: Any, *but: str) -> dict[str, Any]:
    """List the options that the user gave: the fields that are not None, except those named."""
    values = {field.name: getattr(options, field.name) for field in fields(options) if field.name not in but}
    return {name: value for name, value in values.items() if value is not None}

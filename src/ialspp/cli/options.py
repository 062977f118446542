"""Options that commands share, as values: a parameter that is a dataclass stands for all its fields."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import MISSING, fields, is_dataclass
from typing import Any, get_args, get_type_hints

import typer
from typer.models import OptionInfo

from .config import config_option
from .failures import DebugOption, reported

EXAMPLE = "\n\nExample: "


def add_command(
    group: typer.Typer, name: str, command: Callable[..., None], *, has_config: bool = False
) -> None:
    """Make a function a command: its docstring is the help, the example at its end comes last there too.

    Parameters
    ----------
    group
        Where it belongs.
    name
        As it is typed.
    command
        What is run. A parameter that is a dataclass stands for all its fields.
    has_config
        Whether options may also come from a file.
    """
    text, _, example = (inspect.getdoc(command) or "").rpartition(EXAMPLE)
    run = with_options(command, name if has_config else None)
    group.command(name, help=text, epilog=f"{EXAMPLE.strip()} {example}")(run)


def with_options(command: Callable[..., None], config_of: str | None = None) -> Callable[..., None]:
    """The command as typer is to see it, every field of its dataclasses an option of its own."""
    own = inspect.signature(command, eval_str=True).parameters
    groups: dict[str, Any] = {
        name: parameter.annotation for name, parameter in own.items() if is_dataclass(parameter.annotation)
    }

    def run(**values: Any) -> None:
        for name in {"config", "debug"} & values.keys():  # did their work when they were read
            del values[name]
        with reported():
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
        parameters.append(config_option(config_of, parameters))
    parameters.append(_keyword("debug", DebugOption, False))
    keywords = [option.replace(kind=inspect.Parameter.KEYWORD_ONLY) for option in parameters]
    shown: Any = run  # what typer looks at
    shown.__signature__ = inspect.Signature(keywords)
    shown.__annotations__ = {option.name: option.annotation for option in keywords}
    return run


def _options_of(group: Any) -> Iterator[inspect.Parameter]:
    """Under a heading of their own in the help, where the group has a name for it."""
    hints = get_type_hints(group, include_extras=True)
    for field in fields(group):
        for info in get_args(hints[field.name])[1:]:
            if isinstance(info, OptionInfo):
                info.rich_help_panel = getattr(group, "panel", None)
        default = inspect.Parameter.empty if field.default is MISSING else field.default
        yield _keyword(field.name, hints[field.name], default)


def _keyword(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def given(options: Any, *but: str) -> dict[str, Any]:
    """What was said: the fields that are not None, without those named."""
    values = {field.name: getattr(options, field.name) for field in fields(options) if field.name not in but}
    return {name: value for name, value in values.items() if value is not None}

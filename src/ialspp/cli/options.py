"""Options that commands share, as values: a parameter that is a dataclass stands for all its fields."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import MISSING, fields, is_dataclass
from typing import Any, get_type_hints


def with_options(command: Callable[..., None]) -> Callable[..., None]:
    """The command as typer is to see it, every field of its dataclasses an option of its own."""
    own = inspect.signature(command, eval_str=True).parameters
    groups: dict[str, Any] = {
        name: parameter.annotation for name, parameter in own.items() if is_dataclass(parameter.annotation)
    }

    def run(**values: Any) -> None:
        for name, group in groups.items():
            chosen = {field.name: values.pop(field.name) for field in fields(group)}
            values[name] = group(**chosen)
        command(**values)

    parameters = [
        option
        for name, parameter in own.items()
        for option in (_options_of(groups[name]) if name in groups else [parameter])
    ]
    keywords = [option.replace(kind=inspect.Parameter.KEYWORD_ONLY) for option in parameters]
    shown: Any = run  # what typer looks at
    shown.__signature__ = inspect.Signature(keywords)
    shown.__annotations__ = {option.name: option.annotation for option in keywords}
    shown.__doc__ = command.__doc__
    return run


def _options_of(group: Any) -> Iterator[inspect.Parameter]:
    hints = get_type_hints(group, include_extras=True)
    for field in fields(group):
        default = inspect.Parameter.empty if field.default is MISSING else field.default
        yield inspect.Parameter(
            field.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=hints[field.name]
        )


def given(options: Any, *but: str) -> dict[str, Any]:
    """What was said: the fields that are not None, without those named."""
    values = {field.name: getattr(options, field.name) for field in fields(options) if field.name not in but}
    return {name: value for name, value in values.items() if value is not None}

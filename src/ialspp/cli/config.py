"""--config FILE: options from a TOML file. An option on the command line takes precedence.

Keys are the names of options. Those at the top of the file are for every command that has them, those in a
table for the command of that name: `dim = 64`, then `[fit]` and `out = "films.ialspp"`. Paths are relative to
the current folder.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin

import typer

from ..errors import InvalidValueError
from .wording import kind_of

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

COMMANDS = ("prepare", "fit", "evaluate", "tune", "update")  # those that have --config
COLUMN = "COLUMN"  # stands for a column in the help: its name or its position
KEYS: dict[str, dict[str, Key]] = {}  # of each command, as they are declared
KINDS = {bool: "true or false", int: "an integer", float: "a number", str: "text", Path: "text"}


@dataclass(frozen=True, slots=True)
class Key:
    """A key that the file may contain."""

    parameter: str  # the parameter of the command
    kind: type
    is_list: bool
    may_be_position: bool

    @classmethod
    def of(cls, option: inspect.Parameter) -> Key:
        """Derive a key from an option that is declared as `X`, `X | None` or `list[X] | None`."""
        hint, *remarks = get_args(option.annotation)
        is_list = any(get_origin(part) is list for part in (hint, *get_args(hint)))
        return cls(option.name, kind_of(option), is_list, any(info.metavar == COLUMN for info in remarks))

    @property
    def required(self) -> str:
        """Describe what a value must be."""
        name = KINDS[self.kind] + (" or a position from 0" if self.may_be_position else "")
        return f"a list, each entry {name}" if self.is_list else name

    def takes(self, value: Any) -> bool:
        """Check whether a value has the type of this key."""
        if self.is_list:
            return isinstance(value, list) and all(map(self._takes_one, value))
        return self._takes_one(value)

    def _takes_one(self, value: Any) -> bool:
        if isinstance(value, bool):
            return self.kind is bool
        if isinstance(value, int):
            return self.kind in (int, float) or self.may_be_position
        return isinstance(value, str if self.kind is Path else self.kind)


def config_option(command: str, options: Iterable[inspect.Parameter]) -> inspect.Parameter:
    """Make the option --config, which is parsed before the others and sets their defaults."""
    keys = KEYS[command] = {name: Key.of(option) for option in options for name in _names(option)}

    def read(context: typer.Context, file: Path | None) -> Path | None:
        if file is not None and not context.resilient_parsing:
            context.default_map = {**(context.default_map or {}), **defaults(file, command, keys)}
        return file

    about = typer.Option("--config", callback=read, is_eager=True, help="Take options from this TOML file.")
    return inspect.Parameter(
        "config", inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Annotated[Path | None, about]
    )


def _names(option: inspect.Parameter) -> list[str]:
    """List the names of an option, without the dashes in front: "min_user", "out"."""
    info = get_args(option.annotation)[1]
    declared = [name.split("/")[0] for name in (info.default, *(info.param_decls or ())) if _is_flag(name)]
    return [name.lstrip("-").replace("-", "_") for name in declared] or [option.name]


def _is_flag(name: Any) -> bool:
    return isinstance(name, str) and name.startswith("--")  # typer keeps the first one in `default`


def defaults(file: Path, command: str, keys: dict[str, Key]) -> dict[str, Any]:
    """Read the options of a command from a file, by the names of its parameters."""
    content = _parsed(file)
    tables = {name: value for name, value in content.items() if isinstance(value, dict)}
    for name in tables:
        if name not in COMMANDS:
            raise InvalidValueError(f"{file}: [{name}] must be one of the commands {', '.join(COMMANDS)}")
    shared = {name: value for name, value in content.items() if name not in tables}
    found = {}
    others = {name for of_command in KEYS.values() for name in of_command} - keys.keys()
    for name, value in [*shared.items(), *tables.get(command, {}).items()]:
        key = keys.get(name.replace("-", "_"))
        if key is None:
            if name in shared and name.replace("-", "_") in others:
                continue
            raise InvalidValueError(f"{file}: {name} is not an option of {command}{_hint(name, keys)}")
        if not key.takes(value):
            raise InvalidValueError(f"{file}: {name} must be {key.required}, got {value!r}")
        found[key.parameter] = str(value) if key.may_be_position else value
    return found


def _hint(name: str, keys: Iterable[str]) -> str:
    close = get_close_matches(name.replace("-", "_"), list(keys), 1)
    return f"; did you mean {close[0]}?" if close else f"; it has {', '.join(sorted(keys))}"


def _parsed(file: Path) -> dict[str, Any]:
    try:
        text = file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidValueError(f"{file}: not UTF-8: {error}") from error
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        end = f"at line {text.rstrip().count(chr(10)) + 1}, the end of the file"
        raise InvalidValueError(
            f"{file}: not TOML: {str(error).replace('at end of document', end)}"
        ) from error

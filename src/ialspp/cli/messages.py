"""Errors of the library in the words of the command line: `held_out` becomes --held-out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from ..errors import IalsppError

REQUIREMENT = r"(?= (?:must|can|belongs|is required)\b)"


@contextmanager
def naming_options(arguments: Iterable[str]) -> Iterator[None]:
    """Let the library's errors in the block name options where they name these arguments of Python."""
    try:
        yield
    except IalsppError as error:
        if error.args and isinstance(error.args[0], str):
            error.args = (in_options(error.args[0], arguments), *error.args[1:])
        raise


def in_options(message: str, arguments: Iterable[str]) -> str:
    """Replace names of arguments by options.

    A word such as "dim" may stand for anything else, so it must be `dim=...`, or begin the message and be
    followed by what is required of it. Words in quotes are the user's own, such as the names of columns.
    """
    for name in arguments:
        option, opposite = (f"--{flag.replace('_', '-')}" for flag in (name, f"no_{name}"))
        for value, flag in (("True", option), ("False", opposite)):
            message = re.sub(rf"(?<![-\w.'\"`/\\]){name}={value}\b", flag, message)
        message = re.sub(rf"(?<![-\w.'\"`/\\]){name}=(?=[,;) ])", option, message)
        message = re.sub(rf"(?<![-\w.'\"`/\\]){name}=(?=[\w'\"])", f"{option} ", message)
        message = re.sub(rf"^{name}{REQUIREMENT}", option, message)
        if "_" in name:
            message = re.sub(rf"(?<![-\w.'\"`/\\]){name}(?![-\w.'\"`/\\])", option, message)
    return message

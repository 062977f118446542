"""ialspp fit --checkpoint and --resume: a fit that a kill does not take back to its start.

The checkpoint keeps the options of the command, so that `ialspp fit --resume PATH` is all there is to type.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from ..errors import InvalidValueError
from ..model.checkpoint import note_of, progress_of, require_free
from ..system.checks import checked_integer
from .model import ModelOptions
from .source import Source

MAY_CHANGE = {"threads", "out", "runs", "source", "path"}  # the result does not depend on them, or is checked


def _read_options(context: typer.Context, file: Path | None) -> Path | None:
    """Make the options of the interrupted command the defaults of this one."""
    if file is not None and not context.resilient_parsing:
        context.default_map = {**(context.default_map or {}), **_options_in(file)}
    return file


ResumeOption = Annotated[
    Path | None,
    typer.Option(
        "--resume",
        metavar="PATH",
        callback=_read_options,
        is_eager=True,
        help="Go on with the fit that wrote this checkpoint, with its options.",
    ),
]


def as_note(
    source: Source,
    settings: ModelOptions,
    out: Path,
    min_user: int,
    min_item: int,
    until: float | None,
    no_interactions: bool,
    runs: Path | None,
) -> dict[str, Any]:
    """List the options that a resumed command needs, by the names of the parameters."""
    found = {
        **asdict(source),
        **asdict(settings),
        "source": _found_from_anywhere(source.source),
        "path": None if source.path is None else str(source.path.absolute()),
        "out": str(out.absolute()),
        "min_user": min_user,
        "min_item": min_item,
        "until": until,
        "no_interactions": no_interactions,
        "runs": None if runs is None else str(runs.absolute()),
    }
    return {name: value for name, value in found.items() if value is not None}


def _found_from_anywhere(source: str) -> str:
    """Return the source so that another working folder does not matter."""
    is_path = Path(source).exists() or any(sign in source for sign in "*?[")
    return str(Path(source).absolute()) if is_path else source


def checked_checkpoint(
    checkpoint: Path | None, every: int, resume: Path | None, options: dict[str, Any]
) -> Path | None:
    """Check the options before anything takes long, and return the file that will hold the state."""
    if resume is None:
        if checkpoint is None and every != 1:
            raise InvalidValueError("--every is for --checkpoint, which was not given")
        if checkpoint is not None:
            checked_integer("every", every, 1)
            require_free(checkpoint)
        return checkpoint
    if checkpoint is not None or every != 1:
        raise InvalidValueError(
            "--resume goes on with its own checkpoint; leave out --checkpoint and --every"
        )
    before = _options_in(resume)
    changed = sorted(
        name
        for name in (before.keys() | options.keys()) - MAY_CHANGE
        if before.get(name) != options.get(name)
    )
    if changed:
        name = changed[0]
        raise InvalidValueError(
            f"--resume goes on with the options of the first command: --{name.replace('_', '-')} was "
            f"{before.get(name)!r}, got {options.get(name)!r}"
        )
    return resume


def _options_in(file: Path) -> dict[str, Any]:
    """Return the options that a checkpoint of `ialspp fit` keeps."""
    note = note_of(file)
    if not {"source", "out"} <= note.keys():
        raise InvalidValueError(
            f"{file} was not written by `ialspp fit`; ImplicitMF.resume goes on with a fit from Python"
        )
    return note


@contextmanager
def telling_how_to_resume(checkpoint: Path | None) -> Iterator[None]:
    """Add to an interrupt of the block how the fit can go on."""
    try:
        yield
    except KeyboardInterrupt as stop:
        if checkpoint is None:
            raise
        raise type(stop)(_advice(checkpoint)) from stop


def _advice(checkpoint: Path) -> str:
    if not checkpoint.exists():
        return f"no epoch has ended, so there is no {checkpoint}"
    return (
        f"{progress_of(checkpoint)} is kept; go on with: ialspp fit --resume {shlex.quote(str(checkpoint))}"
    )

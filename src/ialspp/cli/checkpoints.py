"""ialspp fit --checkpoint and --resume: a fit that a kill does not take back to its start.

The checkpoint keeps the options of the command, so that `ialspp fit --resume PATH` is all there is to type.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from ..errors import InvalidValueError
from ..files.version import FileVersion
from ..model.checkpoint import Checkpoint, checked_every, require_free
from ..solvers import Solver

PANEL = "Checkpoints"
NOT_KEPT = {"checkpoint", "every", "resume", "config", "as_json", "debug"}  # of the command's options
PATHS = {"path", "out", "runs", "item_names", "user_names", "item_features", "user_features"}
FOUND = "early_stopping"  # what the checkpoint has beside the options, see `training`
MAY_CHANGE = {
    "threads",
    "ray",
    "workers",
    "fetch",
    "push_to",
    "out",
    "force",
    "runs",
    "source",
    "path",
    "item_names",
    "user_names",
    "name_columns",
    "name_encoding",
    "name_separator",
    "item_features",
    "user_features",
}  # the result does not depend on them, or is checked


def _read_options(context: typer.Context, file: Path | None) -> Path | None:
    """Make the options of the interrupted command the defaults of this one."""
    if file is not None and not context.resilient_parsing:
        kept = {name: value for name, value in _options_in(file).items() if value is not None}
        context.default_map = {**(context.default_map or {}), **kept}
    return file


CheckpointOption = Annotated[
    Path | None,
    typer.Option(
        help="Write the state of the fit to this file, until the model is saved.", rich_help_panel=PANEL
    ),
]
EveryOption = Annotated[
    float | None,
    typer.Option(
        help="Epochs from one checkpoint to the next; 0.5 keeps half epochs too. Default: 1, and 0.5 on Ray.",
        rich_help_panel=PANEL,
    ),
]
ResumeOption = Annotated[
    Path | None,
    typer.Option(
        "--resume",
        metavar="PATH",
        callback=_read_options,
        is_eager=True,
        help="Go on with the fit that wrote this checkpoint, with its options.",
        rich_help_panel=PANEL,
    ),
]


def kept_options(context: typer.Context) -> dict[str, Any]:
    """List the options that a resumed command needs, by the names of the parameters."""
    return {
        name: _found_from_anywhere(name, value)
        for name, value in context.params.items()
        if name not in NOT_KEPT
    }


def _found_from_anywhere(name: str, value: Any) -> Any:
    """Return an option so that another working folder does not matter."""
    is_path = name in PATHS and value is not None
    is_source = name == "source" and (Path(value).exists() or any(sign in value for sign in "*?["))
    return str(Path(value).absolute()) if is_source or is_path else value


def checked_checkpoint(
    checkpoint: Path | None,
    every: float | None,
    solver: Solver,
    resume: Path | None,
    out: Path,
    options: dict[str, Any],
) -> Path | None:
    """Check the options before anything takes long, and return the file that will hold the state."""
    if resume is not None and (checkpoint is not None or every is not None):
        raise InvalidValueError(
            "--resume goes on with its own checkpoint; leave out --checkpoint and --every"
        )
    if checkpoint is None and every is not None:
        raise InvalidValueError("--every is for --checkpoint, which was not given")
    keeping = checkpoint if resume is None else resume
    if keeping is None:
        return None
    if os.path.realpath(keeping) == os.path.realpath(out):
        raise InvalidValueError(f"--out must not be the file of the checkpoint, {keeping}")
    if resume is None:
        if every is not None:
            checked_every(every, solver)
        require_free(keeping)
    else:
        _refuse_other_options(resume, options)
    return keeping


def _refuse_other_options(file: Path, options: dict[str, Any]) -> None:
    for name, before in _options_in(file).items():
        if name not in MAY_CHANGE and options.get(name) != before:
            raise InvalidValueError(
                f"--resume goes on with the options of the first command: --{name.replace('_', '-')} was "
                f"{before!r}, got {options.get(name)!r}"
            )


def _options_in(file: Path) -> dict[str, Any]:
    """Return the options that a checkpoint of `ialspp fit` keeps."""
    options = {name: value for name, value in Checkpoint.read(file).job.note.items() if name != FOUND}
    if not {"source", "out"} <= options.keys():
        raise InvalidValueError(
            f"{file} was not written by `ialspp fit`; ImplicitMF.resume goes on with a fit from Python"
        )
    return options


def remove(checkpoint: Path) -> None:
    """Remove a checkpoint whose model is saved. A link stays, for the next one."""
    Path(os.path.realpath(checkpoint)).unlink(missing_ok=True)


@contextmanager
def telling_how_to_resume(checkpoint: Path | None, resume: Path | None) -> Iterator[None]:
    """Add to an interrupt of the block how the fit can go on."""
    finished_before = _version(checkpoint) if resume is None else None
    try:
        yield
    except KeyboardInterrupt as stop:
        if checkpoint is None:
            raise
        raise type(stop)(_advice(checkpoint, finished_before)) from stop


def _advice(checkpoint: Path, finished_before: FileVersion | None) -> str:
    if _version(checkpoint) == finished_before:
        return f"no epoch has ended, so {checkpoint} does not keep one"
    progress = Checkpoint.read(checkpoint).progress
    return f"{checkpoint} keeps {progress}; go on with: ialspp fit --resume {shlex.quote(str(checkpoint))}"


def _version(file: Path | None) -> FileVersion | None:
    return FileVersion.of(file) if file is not None and file.exists() else None

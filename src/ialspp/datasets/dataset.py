"""What is known of a data set: where it comes from, its terms, and how it is loaded."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..data.interactions import Interactions
from ..split import Split
from .archive import located
from .remote import Remote


@dataclass(frozen=True, slots=True, kw_only=True)
class DataSet:
    """A data set with a name."""

    description: str
    load: Callable[..., Interactions | Split]  # called with path and the options of its function
    files: str  # what `path` is, or holds
    home: str  # a page about it
    terms: str
    remote: Remote | None = None  # None: not downloaded, `path` or a package has it
    strong: Mapping[str, Any] | None = None  # how Liang et al. (2018) split it: options of `split.strong`
    strong_load: Mapping[str, Any] = field(default_factory=dict)  # and how they load it

    def file(self, path: str | Path | None) -> Path:
        """The file that is read, from `path` or downloaded."""
        return located(path, self.files, self.remote)

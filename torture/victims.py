"""What the processes do that an attack strikes."""

from __future__ import annotations

import sys

import ialspp_main
from ialspp import ImplicitMF


def command(*arguments: str) -> None:
    """Run the command `ialspp`."""
    sys.argv = ["ialspp", *arguments]
    ialspp_main.main()


def save(path: str, *sources: str) -> None:
    """Save each of these models to one file, the last one last."""
    models = [ImplicitMF.load(source, threads=1) for source in sources]
    for model in models:
        model.save(path)

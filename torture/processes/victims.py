"""What the processes do that are struck. They end as the command does: with a line and an exit code."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import ialspp_main
from ialspp import ImplicitMF
from ialspp.cli.failures import reported
from ialspp.datasets.archive import extracted


def command(*arguments: str) -> None:
    """Run the command `ialspp`."""
    sys.argv = ["ialspp", *arguments]
    ialspp_main.main()


def save(path: str, *sources: str) -> None:
    """Save each of these models to one file, the last one last."""
    with reported():
        for source in sources:
            ImplicitMF.load(source, threads=1).save(path)


def unpack(archive: str, name: str, cache: str) -> None:
    """Unpack a file of an archive into the cache."""
    os.environ["IALSPP_CACHE"] = cache
    with reported():
        extracted(Path(archive), name)

"""Read forged data files one after another, and report on each: the process that `data_files` watches.

python -m torture.data_files.reader SEED FIRST END FOLDER

A line of standard output per try: what happened, and what is wrong with that, if anything. What
polars prints of its own accord goes to standard error, which must be a file.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from random import Random

from ialspp import ImplicitMF, Interactions
from ialspp.data.reading.names import read_names
from ialspp.errors import IalsppError
from ialspp.solvers import SOLVERS
from torture.data_files.forged import draw
from torture.memory import peak_memory
from torture.questions import questions
from torture.soundness import unsound

MOST_MEMORY = 2**30  # bytes that the process may ever have taken
ENCODINGS = ("utf-8",) * 4 + ("latin-1", "cp1252", "utf-16", "utf-16-le", "utf-7", "utf-8-sig", "gb18030")
HARD_LIMIT = 8 * 2**30  # of address space; spares the machine what the parent would notice too late


def main() -> None:
    """Try what the command line names."""
    resource.setrlimit(resource.RLIMIT_AS, (HARD_LIMIT, HARD_LIMIT))
    warnings.simplefilter("ignore")  # numbers that overflow are among what comes out
    seed, first, end = map(int, sys.argv[1:4])
    for number in range(first, end):
        outcome, wrong = tried(seed, number, Path(sys.argv[4]))
        printed = _printed()
        if outcome == "refused" and "panicked at" in printed:
            # polars panicked over the file, we refused it, and what Rust prints of that cannot be silenced.
            outcome, printed = "refused after a panic of polars", ""
        wrong = "; ".join(filter(None, (wrong, printed, _memory())))
        print(json.dumps([outcome, wrong]), flush=True)


def tried(seed: int, number: int, folder: Path) -> tuple[str, str]:
    """Read one forgery; say what came of it, and what is wrong with that ("" if nothing)."""
    forgery = draw(seed, number)
    place = folder / "forged"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    for name, content in forgery.files.items():
        (place / name).write_bytes(content)
    path = place if len(forgery.files) > 1 else place / next(iter(forgery.files))
    random = Random(f"{seed} {number} questions")
    if random.random() < 0.2 and (fault := _names_read(path, random.choice(ENCODINGS))):
        return "failed", fault
    try:
        data = Interactions.read(path, **forgery.options, progress=False)
    except (IalsppError, OSError) as error:
        said = str(error)
        is_named = any(str(name) in said for name in (*forgery.files, place, *forgery.options))
        return "refused", "" if is_named else f"neither file nor option in {said!r}"
    except BaseException as error:  # polars' panics are no Exceptions
        return "failed", f"{type(error).__name__}: {error}"
    return "read", unsound(data) or _asked(data, random, folder / "model")


def _names_read(path: Path, encoding: str) -> str:
    """Read the file as one of names; say what is wrong with that ("" if nothing)."""
    return _fault(f"read_names in {encoding}", lambda: read_names(path, encoding=encoding))


def _asked(data: Interactions, random: Random, target: Path) -> str:
    """Train on the data and ask the model everything; say what is wrong ("" if nothing)."""
    model = ImplicitMF(2, solver=random.choice(list(SOLVERS.values()))(), epochs=2, threads=1)
    if fault := _fault("fit", lambda: model.fit(data, progress=False)):
        return fault
    if not model.history:  # refused: the numbers overflow, or there are none
        return ""
    known = (*data.users.ids[:5].tolist(), *data.items.ids[:5].tolist())
    faults = (_fault(*asked) for asked in questions(model, known, data, target, random))
    return "; ".join(filter(None, faults))


def _fault(name: str, question: Callable[[], object]) -> str:
    """Ask; an error of the library or the system is an answer, too, and any other is a fault."""
    try:
        question()
    except (IalsppError, OSError):
        return ""
    except BaseException as error:  # as above
        return f"{name}: {type(error).__name__}: {error}"
    return ""


def _printed() -> str:
    """What was printed to standard error since the last call."""
    size = os.fstat(2).st_size
    if not size:
        return ""
    os.lseek(2, 0, os.SEEK_SET)
    text = os.read(2, size).decode(errors="replace")
    os.ftruncate(2, 0)
    os.lseek(2, 0, os.SEEK_SET)
    return f"printed {text[:300]!r}"


def _memory() -> str:
    most = peak_memory()
    return f"took {most >> 20} MB" if most > MOST_MEMORY else ""


if __name__ == "__main__":
    main()

"""The child of the attack on native calls: makes the calls, and says in a file which one it is making.

python -m torture.native_calls.worker SEED TRIES FIRST FILE    all calls of an attack from the first one on
python -m torture.native_calls.worker SEED NAME INDEX          one call, whose arguments are shown
"""

from __future__ import annotations

import faulthandler
import importlib.util
import os
import resource
import signal
import sys
import warnings
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any

import numpy as np

from torture.native_calls.arguments import INFINITE, NAMES, drawn_call
from torture.native_calls.draw import Draw
from torture.native_calls.mutations import mutated

REFUSALS = (TypeError, ValueError, MemoryError)
FAILURES = {
    "Dictionary.encode": (RuntimeError,),  # of the stream that it reads
    "rank": (OverflowError,),  # of scores
}
MOST_SECONDS = 10  # of CPU time for one call
MOST_MEMORY = 8 << 30  # bytes
VALID_SHARE = 0.3  # calls with arguments that have to work


def load_core() -> ModuleType:
    """Import the extension that IALSPP_CORE names, or else the installed one."""
    path = os.environ.get("IALSPP_CORE")
    if path is None:
        # The sanitizers reserve more address space than any limit, and limit single allocations instead.
        resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
        return importlib.import_module("ialspp._core")
    spec = importlib.util.spec_from_file_location("_core", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is no extension module")
    core = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(core)
    return core


def call(core: ModuleType, seed: int, name: str, index: int, *, shown: bool = False) -> bool:
    """Make one call, and return whether it worked. What it must not do is an AssertionError."""
    random = Random(f"{seed} {name} {index}")
    core.select_isa(random.choice(core.available_isas()))
    draw = Draw(core, random)
    function, arguments = drawn_call(draw, name)
    valid = random.random() < VALID_SHARE
    if not valid:
        arguments = mutated(draw, arguments)
    if shown:
        print(name, "valid" if valid else "mutated", arguments, core.isa(), flush=True)
    signal.setitimer(signal.ITIMER_PROF, MOST_SECONDS)
    try:
        result = function(*arguments)
        _read(result, finite=valid and name not in INFINITE)
    except (*REFUSALS, *FAILURES.get(name, ())) as refusal:
        if valid:
            raise AssertionError("valid arguments were refused") from refusal
        return False
    return True


def _read(result: Any, *, finite: bool) -> None:
    """Read all of a result, so that memory which is not there is noticed, and check its numbers."""
    for part in result if isinstance(result, tuple | list) else [result]:
        if isinstance(part, np.ndarray):
            part.tobytes()
        if finite and isinstance(part, float | np.ndarray) and not np.isfinite(part).all():
            raise AssertionError(f"the result is not finite: {part}")


def make_calls(core: ModuleType, seed: int, tries: int, first: int, file: Path) -> None:
    """Make the calls of an attack, counting them in a file: the call's number, what worked, what did not."""
    progress = np.memmap(file, np.int64, "r+")
    for number in range(first, tries * len(NAMES)):
        progress[0] = number
        function, index = divmod(number, tries)
        worked = call(core, seed, NAMES[function], index)
        progress[1 + function + (0 if worked else len(NAMES))] += 1


def main(arguments: list[str]) -> None:
    """Do what the command line says."""
    warnings.simplefilter("ignore")  # nanobind warns of objects that were never initialised
    core = load_core()
    if "IALSPP_CORE" not in os.environ:
        faulthandler.enable()  # otherwise the sanitizer shows more
    seed = int(arguments[0])
    if arguments[1] in NAMES:
        call(core, seed, arguments[1], int(arguments[2]), shown=True)
    else:
        make_calls(core, seed, int(arguments[1]), int(arguments[2]), Path(arguments[3]))


if __name__ == "__main__":
    main(sys.argv[1:])

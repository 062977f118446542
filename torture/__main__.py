"""Run attacks and print a table of what they counted; the exit code is 1 where one found a fault.

python -m torture                        all of them
python -m torture kills disks            some
python -m torture --share 0.01 --seed 7  a hundredth of the tries, drawn from this seed
"""

from __future__ import annotations

import argparse
import importlib
import sys
import tempfile
import time
from pathlib import Path

ATTACKS = (
    "kills",
    "model_files",
    "prepared_files",
    "data_files",
    "native_calls",
    "disks",
    "load",
    "serving",
    "numbers",
    "offsets",
    "cluster",
)


def main() -> int:
    """Run what the command line names."""
    parser = argparse.ArgumentParser(prog="python -m torture", description="Attack ialspp.")
    parser.add_argument("attacks", nargs="*", metavar="ATTACK", help=f"of {', '.join(ATTACKS)}; default: all")
    parser.add_argument("--seed", type=int, default=int(time.time()), help="of everything that is drawn")
    parser.add_argument("--share", type=float, default=1.0, help="of the tries that a full run makes")
    options = parser.parse_args()
    unknown = sorted(set(options.attacks) - set(ATTACKS))
    if unknown:
        parser.error(f"there is no attack {unknown[0]!r}; there are {', '.join(ATTACKS)}")
    found = [run(name, options.seed, options.share) for name in options.attacks or ATTACKS]
    return 1 if any(found) else 0


def run(name: str, seed: int, share: float) -> bool:
    """Run one attack, print its line of the table and its faults, and return whether there are any."""
    module = importlib.import_module(f"torture.{name}")
    tries = max(1, round(module.FULL * share))
    start = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="ialspp-torture-") as folder:
        tally = module.attack(tries, seed, Path(folder))
    counts = ", ".join(f"{count:,} {what}" for what, count in sorted(tally.counts.items()))
    seconds = time.perf_counter() - start
    print(
        f"{name:12}  seed {seed}  {tries:,} tries  {seconds:.0f} s  {counts or 'nothing counted'}", flush=True
    )
    for fault in tally.faults:
        print(f"    FAULT {fault}", flush=True)
    return bool(tally.faults)


if __name__ == "__main__":
    sys.exit(main())

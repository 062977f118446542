"""A process that updates a model file again and again, until its standard input ends."""

from __future__ import annotations

import select
import sys
from pathlib import Path

from ialspp import ImplicitMF
from torture.load.known_states import news, number_of


def main() -> None:
    """Load the file, update the model and save it, again and again."""
    path, seed = Path(sys.argv[1]), int(sys.argv[2])
    replaced = 0
    while not select.select([sys.stdin], [], [], 0)[0]:
        model = ImplicitMF.load(path, mapped=replaced % 2 == 0, threads=1)
        model.update(news(seed, number_of(model) + 1))
        model.save(path)
        replaced += 1
    print(replaced)


if __name__ == "__main__":
    main()

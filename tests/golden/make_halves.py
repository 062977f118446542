"""Made checkpoint-v4: a checkpoint of format 4, after two and a half of four epochs.

It was run once, as make.py was: python tests/golden/make_halves.py checkpoint
"""

import sys
from contextlib import suppress

from make import FIRST, interactions

from ialspp import ImplicitMF
from ialspp.model.checkpointer import Checkpointer

keep_half = Checkpointer.keep_half


def keep_and_interrupt(self, users, items, history, seconds):
    keep_half(self, users, items, history, seconds)
    if len(history) == 2:
        raise KeyboardInterrupt


def main():
    Checkpointer.keep_half = keep_and_interrupt
    model = ImplicitMF(3, epochs=4, seed=11)
    with suppress(KeyboardInterrupt):
        model.fit(interactions(FIRST), checkpoint=sys.argv[1], every=0.5, progress=False)


if __name__ == "__main__":
    main()

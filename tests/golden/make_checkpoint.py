"""Made checkpoint-v1: a checkpoint of format 1, after two of four epochs. It was run once, as make.py was.

python tests/golden/make_checkpoint.py checkpoint
"""

import sys
from contextlib import suppress

from make import FIRST, interactions

from ialspp import ImplicitMF


def interrupt(_model, record):
    if record.epoch == 2:
        raise KeyboardInterrupt


def main():
    model = ImplicitMF(3, epochs=4, seed=11)
    with suppress(KeyboardInterrupt):
        model.fit(
            interactions(FIRST), until=1e-9, checkpoint=sys.argv[1], callbacks=[interrupt], progress=False
        )


if __name__ == "__main__":
    main()

"""Made checkpoint-v2: a checkpoint of format 2, after four of six epochs, the best of which was the second.

It was run once, as make.py was: python tests/golden/make_stopping.py checkpoint
"""

import sys
from contextlib import suppress

from make import FIRST, interactions

from ialspp import EarlyStopping, ImplicitMF, split


def interrupt(_model, record):
    if record.epoch == 4:
        raise KeyboardInterrupt


def parts():
    return split.random(interactions(FIRST), test_share=0.3)


def stopping():
    return EarlyStopping(parts().test, "ndcg@3", patience=5)


def main():
    model = ImplicitMF(3, epochs=6, seed=11)
    with suppress(KeyboardInterrupt):
        model.fit(parts().train, checkpoint=sys.argv[1], callbacks=[stopping(), interrupt], progress=False)


if __name__ == "__main__":
    main()

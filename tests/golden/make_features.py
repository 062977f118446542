"""Made model-v3.ialspp and checkpoint-v3: files of format 3, which have features.

It was run once, as make.py was: python tests/golden/make_features.py model.ialspp checkpoint
"""

import sys

import polars as pl
from make import FIRST, interactions

from ialspp import IALS, Features, ImplicitMF

FILMS = pl.DataFrame(
    {
        "film": [3, 12, 40, 2**40],
        "genre": [["comedy"], ["drama"], ["comedy", "drama"], []],
        "year": [0.25, 0.5, 0.0, -1.0],
    }
)


def main():
    model = ImplicitMF(2, solver=IALS(), epochs=2, init="random", seed=5)
    features = Features.from_frame(FILMS, id="film", regularization=0.5)
    model.fit(interactions(FIRST), item_features=features, checkpoint=sys.argv[2], progress=False)
    model.save(sys.argv[1])


if __name__ == "__main__":
    main()

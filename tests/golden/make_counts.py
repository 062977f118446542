"""Made model-v2-counts.ialspp: a model file without interactions, which has names and the counts of items.

It was run once, as make.py was: python tests/golden/make_counts.py model.ialspp
"""

import sys

from make import FIRST, interactions
from make_names import ITEMS

from ialspp import ImplicitMF


def main():
    data = interactions(FIRST).with_names(items=ITEMS)
    model = ImplicitMF(2, epochs=2, init="random", seed=5).fit(data, progress=False)
    model.save(sys.argv[1], interactions=False)


if __name__ == "__main__":
    main()

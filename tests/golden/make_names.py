"""Made model-v2.ialspp: a model file of format 2, which has names and every later version must read.

It was run once, as make.py was: python tests/golden/make_names.py model.ialspp
"""

import sys

from make import FIRST, LATER, interactions

from ialspp import IALS, ImplicitMF

ITEMS = {3: "Amélie", 40: "Toy Story (1995)", 500: "", 2**40: "two\nlines", 12: "not in the data"}
USERS = {"ann": "Ann Lee", "😀": "\u05e9\u05dc\u05d5\u05dd", "Zoë": "half \ud800 a pair"}


def main():
    model = ImplicitMF(2, solver=IALS(), epochs=2, init="random", seed=5)
    model.fit(interactions(FIRST).with_names(items=ITEMS, users=USERS), progress=False)
    model.update(interactions(LATER).with_names(items={-7: "New", 40: "Toy Story"}))
    model.save(sys.argv[1])


if __name__ == "__main__":
    main()

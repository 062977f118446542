"""Made model-v1.ialspp: a model file of format 1, which every later version must read.

It was run once. Run again it gives other seconds in the history, and perhaps other last bits of vectors: a
later format gets a file of its own, and this one stays as it is.

    python tests/golden/make.py model.ialspp
"""

import sys

from ialspp import IALSpp, ImplicitMF, Interactions, Objective

# Labels and weights are sums of powers of two: they can be written down exactly.
FIRST = [
    ("ann", 40, 1, 1),
    ("ann", 500, 0.5, 2),
    ("ann", 3, 2, 0.25),
    ("Zoë", 40, 1, 4),
    ("Zoë", 2**40, 1.5, 1),
    ("😀", 3, -1, 1),
    ("😀", 2**40, 1, 0.75),
    ("\u05e9\u05dc\u05d5\u05dd", 500, 1, 1),
    ("\u05e9\u05dc\u05d5\u05dd", 40, 3, 1.5),
    ("\ud800", 3, 1, 1),
    ("\ud800", 500, 0.125, 1),
    ("a\0b", 2**40, 1, 1),
    ("a\0b", 500, 1, 2.5),
]
LATER = [("", -7, 1, 2), ("", 40, 0.5, 1), ("line\nbreak", 3, 1, 1), ("ann", -7, 2, 1), ("Zoë", 40, 0.75, 4)]


def interactions(rows):
    return Interactions.from_arrays(
        **dict(zip(("user", "item", "label", "weight"), zip(*rows, strict=True), strict=True))
    )


def main():
    model = ImplicitMF(
        3,
        solver=IALSpp(block_size=2, sweep="block"),
        objective=Objective(unobserved_weight=0.25, regularization=0.0625, exponent=0.5),
        epochs=4,
        init="random",
        init_stddev=0.375,
        seed=11,
    )
    model.fit(interactions(FIRST), progress=False)
    model.update(interactions(LATER), epochs=2)
    model.save(sys.argv[1])


if __name__ == "__main__":
    main()

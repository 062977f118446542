"""What the paper's words mean as numbers: claims are judged by these alone."""

ORDER, ABOUT_AN_ORDER, NEARLY_TWO_ORDERS = 10.0, 5.0, 50.0
HUNDRED_TIMES = 100.0
TWICE = 2.0
ROUGHLY = 4.0
EQUAL = 1.1
AROUND_100, AROUND_1000 = (64, 160), (800, 1250)
SMALLEST, SMALL, LARGE, VERY_LARGE = 64, 256, 1024, 2000
EXPONENT = 0.3
PAPER_BLOCK = 64
FEWEST_BLOCKS = 4
ONE_BLOCK = 1.25
FULL = 0.9
FEW_MINUTES = 600.0
FLAT = 0.02
CONVERGED = 0.99
PAPER_EPOCHS, LAST_EPOCHS, SETTLED = 16, 4, 0.01
SIMILAR_EPOCHS = 3.0

_EQUAL_PERCENT = f"{100 * (EQUAL - 1):.0f} %"
THRESHOLDS = [
    f"“An order of magnitude” is a factor of at least {ORDER:g}, “about an order” one of at least "
    f"{ABOUT_AN_ORDER:g}, “nearly two orders” one of at least {NEARLY_TWO_ORDERS:g}.",
    f"“Comparable” and “as fast as” mean at most {TWICE:g} times as long; “much faster” and “clearly better” "
    f"mean at least {TWICE:g} times as fast. Numbers “roughly match” within a factor of {ROUGHLY:g}.",
    f"An advantage grows or shrinks if it changes by more than {_EQUAL_PERCENT}. It vanishes if it is there "
    f"at a small d and gone at a large one. Times over block sizes that are less than {_EQUAL_PERCENT} apart "
    "are equal. A solver is faster than another by any margin.",
    "“d ≈ 100” is the measured d nearest to 100 from {} to {}, ".format(*AROUND_100)
    + "“d = 1000” the one nearest to 1000 from {} to {}.".format(*AROUND_1000),
    f"No d below {SMALLEST} counts. Small d are below {SMALL}, large d are {LARGE} and above, “d ≫ 1000” is "
    f"{VERY_LARGE} and above. A claim about small and large d, or about epochs at all d or as d grows, holds "
    "if both were measured, and fails if it fails at any d. “Large enough” is the largest measured d.",
    "Other claims about final quality and convergence are judged at the trained d, which our value names.",
    f"Where the paper exempts iALS at d ≈ 100, every d above {AROUND_100[1]} counts for it; one of the timed "
    "d has to be large.",
    "The paper says some things more than once. Each sentence is judged, so one measurement may count for "
    "several.",
    "A solver overtakes another “at” a d if the measured times, interpolated in logarithms, cross within a "
    f"factor of {TWICE:g} of it.",
    "Where no block size of iALS++ is named, the fastest measured block counts at each d.",
    "Growth from small to large d is cubic or quadratic if the fitted exponent is at most "
    f"{EXPONENT:g} above the exponent of the solver's formula over the same d, which is given with it. Two "
    f"exponents are the same if they differ by at most {EXPONENT:g}.",
    "A curve over block sizes is U-shaped if the times of iALS++ fall to the fastest block and rise from "
    "there, and iCD and iALS at its ends are slower. A curve needs "
    f"{FEWEST_BLOCKS} block sizes. If its d is at most {PAPER_BLOCK}, it has no room to rise, and counts "
    f"neither here nor for the best block size “around {PAPER_BLOCK}”.",
    f"“Around {PAPER_BLOCK}” is from {PAPER_BLOCK // 2} to {2 * PAPER_BLOCK}. One block size fits every d if "
    f"it is nowhere more than {100 * (ONE_BLOCK - 1):.0f} % slower than the fastest.",
    f"An absolute time holds if ours is at most {TWICE:g} times as long, unless the paper gives a limit; “a "
    f"few minutes” are at most {FEW_MINUTES / 60:g}. A converged model takes {PAPER_EPOCHS} epochs. All of "
    f"the data is needed: scale 1, and at least {100 * FULL:.0f} % of the paper's interactions. “5 times” "
    f"the holdout users is within {_EQUAL_PERCENT}.",
    "Results are indistinguishable, match, or make a flat curve if they differ by at most "
    f"{100 * FLAT:.0f} %; over block sizes, that is the range divided by the mean.",
    f"A training has converged when it reaches {100 * CONVERGED:.0f} % of its final quality, interpolated "
    f"between epochs. It is well converged within {PAPER_EPOCHS} epochs if the last {LAST_EPOCHS} of them "
    f"change the quality by at most {100 * SETTLED:.0f} %. A training with a final quality of 0 counts as "
    "not measured.",
    "For the time to converge at one d, the time of an epoch is used where both solvers were timed but not "
    "trained there; our value says so.",
    f"Convergence is similar if no solver or block size needs more than {SIMILAR_EPOCHS:g} epochs more than "
    f"another. It is slightly slower if it needs more epochs, but at most {SIMILAR_EPOCHS:g} more.",
    "Gop/s are 10⁹ operations of a solver's complexity formula per second.",
]

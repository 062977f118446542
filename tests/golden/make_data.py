"""Made data-v1.ialsdata: prepared data of format 1, which every later version must read.

It was run once, as make.py was: python tests/golden/make_data.py data.ialsdata
"""

import sys

from ialspp import Interactions

USER = ["ann", "ann", "Zoë", "😀", "ann"]
ITEM = [3, 2**40, 3, -7, 3]
TIME = [1_700_000_000.5, 1_700_000_100, 1_700_000_200, 1_700_000_300, 1_700_000_400]


def main():
    data = Interactions.from_arrays(
        user=USER,
        item=ITEM,
        label=[1, 2, 0.5, 1, 1],
        time=TIME,
        half_life=100,
        users=["Zoë", "ann", "nobody", "😀"],
    )
    data.with_names(items={3: "Amélie"}).save(sys.argv[1])


if __name__ == "__main__":
    main()

"""Attacks on the software: kills, forged files, full disks, hostile numbers. `make torture` runs all of them.

Each attack is a folder of that name, whose `__init__.py` has two names:

    FULL      how many tries `make torture` makes
    attack    a function (tries, seed, folder) -> Tally

The seed decides everything that is drawn, so that a run can be repeated.
"""

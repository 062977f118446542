"""Errors of the library, as the command line says them."""

import pytest
from support.commands import COLUMNS, ialspp, refuses, write_log

from ialspp.cli.messages import in_options

OPTIONS = [
    "dim",
    "rating",
    "min_rating",
    "min_user",
    "held_out",
    "init",
    "init_stddev",
    "separator",
    "format",
    "header",
    "per_user",
]


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("dim must be at least 1, got 0", "--dim must be at least 1, got 0"),
        ("rating='stars' needs min_rating, which", "--rating 'stars' needs --min-rating, which"),
        (
            "9 users are left with min_user=3, so held_out",
            "9 users are left with --min-user 3, so --held-out",
        ),
        ('init_stddev belongs to init="random"', '--init-stddev belongs to --init "random"'),
        ("pass separator=, or format= (csv)", "pass --separator, or --format (csv)"),
        ("give header=True, or header=False if", "give --header, or --no-header if"),
        ("needs per_user=True", "needs --per-user"),
        ("log.csv: column 'min_user' is missing", "log.csv: column 'min_user' is missing"),
        ("data/min_user.csv: no such file", "data/min_user.csv: no such file"),
        ("min_user.csv: the file is empty", "min_user.csv: the file is empty"),
        ("the dim must be small", "the dim must be small"),
        ("--min-rating is too high", "--min-rating is too high"),
    ],
)
def test_arguments_become_options(said, shown):
    assert in_options(said, OPTIONS) == shown


def test_commands_name_options(tmp_path):
    write_log(tmp_path / "log.csv")
    evaluate = ["evaluate", "log.csv", *COLUMNS, "--protocol"]
    for arguments, words in (
        ([*evaluate, "strong", "--held-out", 99], ["--held-out 99 needs 199 or more", "--min-user 5"]),
        ([*evaluate, "random", "--test-share", 2], ["--test-share must be"]),
        ([*evaluate, "last-item"], ["--protocol last-item needs times; --time must name their column"]),
        ([*evaluate, "last-share"], ["--protocol last-share needs times; --time must name their column"]),
        ([*evaluate, "random", "--rating", "stars"], ["--rating 'stars' needs --min-rating"]),
        (
            ["fit", "log.csv", *COLUMNS, "--min-item", -3, "-o", "x"],
            ["--min-item must be at least 0, got -3"],
        ),
    ):
        done = ialspp(*arguments, cwd=tmp_path)
        refuses(*words)(done)

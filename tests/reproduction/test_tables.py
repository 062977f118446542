"""Tables of made-up runs."""

from dataclasses import replace

import pytest
from support.made_up_runs import ML20M, MSD, NCF, made_up, only, paper_quality, paper_seconds

from reproduction.report.missing import left_out_lines
from reproduction.report.tables import (
    Bold,
    data_table,
    exponents_table,
    published_table,
    quality_table,
    three_digits,
    times_table,
)

DIMS = (64, 128, 256)


@pytest.fixture(scope="module")
def run():
    return made_up(dims=DIMS, seeds=2, rounds=2)


@pytest.mark.parametrize(
    ("data", "here", "paper"),
    [
        (ML20M, "68,338", {"data": "ML20M", "|U|": "136,677", "|S|": "10.0M", "alpha0": "0.1", "nu": "1"}),
        (
            replace(MSD, name="synthetic:msd"),
            "285,677",
            {"data": "MSD", "|U|": "571,355", "|S|": "33.6M", "alpha0": "0.02", "nu": "1"},
        ),
    ],
    ids=["ml-20m", "synthetic:msd"],
)
def test_the_papers_values_stand_beside_those_of_its_data_sets(data, here, paper):
    table = data_table(made_up(None, None, dims=(64,), data=data, scale=0.5))
    assert table.columns == ("", "here", "the paper")
    rows = {name: own for name, *own in table.rows}
    assert rows["data"][0] == data.name
    assert rows["scale"] == ["0.5", "1"]
    assert rows["|U|"][0] == here
    assert {name: rows[name][1] for name in paper} == paper


def test_other_data_stands_alone():
    table = data_table(made_up(None, None, dims=(64,), data=replace(ML20M, name="mine.csv")))
    assert table.columns == ("", "here")
    assert ("hyperparameters from", "the paper's data table") in table.rows


def test_the_fastest_block_of_each_d_is_bold_and_spectral_never_is(run):
    table = times_table(run)
    assert table.columns == ("d", "iCD", "2", "4", "8", "16", "32", "64", "128", "iALS", "SpectralCG")
    for row in table.rows:
        dim = int(row[0])
        fastest = min(
            paper_seconds(dim, block) for block in (1, 2, 4, 8, 16, 32, 64, 128, dim) if block <= dim
        )
        assert [cell for cell in row if isinstance(cell, Bold)] == [three_digits(fastest)]
        assert row[-1] == three_digits(paper_seconds(dim, None))


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0.0123, "0.0123"), (0.5, "0.500"), (99.96, "100"), (12.34, "12.3"), (1234.6, "1,235")],
)
def test_seconds_have_three_digits(value, shown):
    assert three_digits(value) == shown


def test_exponents_have_their_points_and_their_range(run):
    rows = {(row[0], row[1]): row[2:] for row in exponents_table(run).rows}
    assert rows["iCD", "d"] == ("1.14", "1.67", "3", "64 to 256")
    assert rows["iCD, d = 128", "|S|"] == ("1.00", "0.20", "3", "2,134,712 to 8,538,846")
    assert rows["iALS++, d = 256", "block"][2:] == ("2", "64 to 128")


def test_quality_is_the_mean_over_seeds_with_its_spread():
    run = made_up(
        None, lambda *at: 0.3 + 0.02 * at[2], dims=(64,), blocks=(1,), seeds=3, metrics=("ndcg@100",)
    )
    assert quality_table(run).rows[0] == ("64", "iCD", "3", "0.3200 ± 0.0200")
    once = replace(run, trainings=run.trainings[:1])
    assert quality_table(once).rows == (("64", "iCD", "1", "0.3000"),)


def ours(table):
    """System and d of the rows that were measured here, which are above those that others published."""
    own = [row for row in table.rows if row[-1] == "measured here" and all(isinstance(c, Bold) for c in row)]
    others = table.rows[len(own) :]
    assert table.rows[: len(own)] == tuple(own)
    assert others
    assert all(row[-1].startswith("published: ") for row in others)
    return [row[:2] for row in own]


def best_at_128(dim, block, seed, _):
    """And with a block of 64."""
    return 0.3 + 0.01 * (dim == 128) + 0.005 * (block == 64) + 0.1 * seed


def test_each_solver_is_at_its_best_d_beside_numbers_of_any_d():
    run = made_up(None, best_at_128, dims=DIMS, blocks=(1, 32, 64, 0), seeds=2, epochs=1)
    table = published_table(run)
    assert ours(table) == [
        ("iCD", "128"),
        ("iALS", "128"),
        ("iALS++ (64)", "128"),
        ("SpectralCG (not in the paper)", "128"),
    ]
    assert table.rows[2][-2] == "0.3650"
    assert "best NDCG@100 on the test users" in table.note


def test_each_solver_is_at_the_published_d_where_it_was_trained_there():
    run = made_up(
        None,
        best_at_128,
        dims=(64, 128, 192),
        blocks=(1, 32, 64, 0),
        data=NCF,
        metrics=("ndcg@10",),
        epochs=1,
    )
    assert ours(published_table(run)) == [
        ("iCD", "64"),
        ("iCD", "192"),
        ("iALS", "64"),
        ("iALS", "192"),
        ("iALS++ (32)", "64"),
        ("iALS++ (64)", "192"),
        ("SpectralCG (not in the paper)", "64"),
        ("SpectralCG (not in the paper)", "192"),
    ]


def test_a_solver_that_was_not_trained_at_the_published_d_is_at_its_best_and_others_have_no_row():
    quality = only(paper_quality, solvers=("iCD", "SpectralCG"))
    run = made_up(None, quality, dims=(16, 32), data=NCF, metrics=("ndcg@10",), epochs=1)
    assert ours(published_table(run)) == [("iCD", "32"), ("SpectralCG (not in the paper)", "32")]


@pytest.mark.parametrize("run", [made_up(None, dims=(64,), scale=0.5), made_up(quality=None, dims=(64,))])
def test_neither_a_part_of_the_data_nor_times_are_beside_published_numbers(run):
    assert published_table(run).rows == ()


def test_what_was_left_out_is_grouped():
    def seconds(dim, block, _):
        return None if block == dim or (dim, block) == (128, 64) else 1.0

    def quality(dim, block, seed, _):
        return None if dim == 128 or (block == 2 and seed > 0) else 0.3

    run = made_up(seconds, quality, dims=(64, 128), blocks=(1, 2, 64, 0), seeds=3, shares=(1.0,))
    assert left_out_lines(run) == [
        "timing, d = 64: iALS",
        "timing on 0.25 and 0.5 of the pairs, d = 128: iCD, SpectralCG",
        "timing on 0.25 and 0.5 and all of the pairs, d = 128: block 64, iALS",
        "training from seeds 1, 2, d = 64: block 2",
        "training from seeds 0, 1, 2, d = 128: everything",
    ]

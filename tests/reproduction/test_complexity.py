"""The complexity formulas, and exponents fitted to times that are exact powers."""

from dataclasses import replace

import pytest
from support.made_up_runs import ML20M, made_up, only, paper_seconds

from reproduction.complexity import FORMULAS, exponents, over_dims, work, work_on
from reproduction.grid import Configuration

POWERS = {"iCD": 1.4, "iALS": 2.7, "iALS++": 1.2, "SpectralCG": 0.9}


def powers(dim, block, share=1.0):
    """A different power of d for each solver, a square root of the share, and of the block size too."""
    solver = Configuration(dim, block).solver
    return dim ** POWERS[solver] * share**0.5 * (block**0.5 if solver == "iALS++" else 1)


def by_variable(run, variable):
    return [each for each in exponents(run) if each.variable == variable]


def test_the_formulas_are_those_of_the_papers_table():
    d, b, S, N = 6, 3, 1000, 70
    assert FORMULAS["iALS"].work(d, d, S, N) == 36 * 1000 + 216 * 70
    assert FORMULAS["iCD"].work(d, 1, S, N) == 6 * 1000 + 36 * 70
    assert FORMULAS["iALS++"].work(d, b, S, N) == 18 * 1000 + (36 + 54) * 70
    assert FORMULAS["SpectralCG"].work(d, 0, S, N) == 2 * 6 * 1000 + 36 * 70 + 216
    assert [name for name, formula in FORMULAS.items() if not formula.vector_instructions] == ["iCD"]


@pytest.mark.parametrize(("block", "solver"), [(1, "iCD"), (8, "iALS++"), (64, "iALS"), (None, "SpectralCG")])
def test_the_work_of_a_configuration_is_that_of_its_solver(block, solver):
    assert work(Configuration(64, block), 500, 20) == FORMULAS[solver].work(64, block or 0, 500, 20)


def test_a_share_of_the_pairs_keeps_all_users_and_items():
    rows = ML20M.train_users + ML20M.train_items
    half = work_on(ML20M, Configuration(64, 1), 0.5)
    assert half == work(Configuration(64, 1), ML20M.train_interactions / 2, rows)


def test_exponents_of_d_are_found_for_every_line_that_the_paper_draws():
    found = by_variable(made_up(powers), "d")
    lines = [(each.solver, each.block) for each in found]
    assert lines == [
        ("iCD", None), ("iALS", None), ("iALS++", 32), ("iALS++", 64), ("iALS++", 128), ("SpectralCG", None),
    ]  # fmt: skip
    assert [each.measured for each in found] == pytest.approx([POWERS[solver] for solver, _ in lines])
    assert {each.dim for each in found} == {None}
    assert [x for x, _ in found[0].points] == [64, 128, 256, 512, 1024, 2048]


def test_other_blocks_are_taken_where_none_of_the_papers_was_timed_twice():
    found = by_variable(made_up(powers, dims=(8, 16, 32), quality=None), "d")
    assert [each.block for each in found if each.solver == "iALS++"] == [2, 4, 8]


def test_exponents_of_interactions_are_found_where_two_shares_were_timed():
    found = by_variable(made_up(powers), "|S|")
    timed = [(each.solver, each.block, each.dim) for each in found]
    assert timed == [("iCD", None, 128), ("iALS++", 64, 128), ("iALS", None, 128), ("SpectralCG", None, 128)]
    assert [each.measured for each in found] == pytest.approx([0.5] * 4)
    assert [x for x, _ in found[0].points] == [share * ML20M.train_interactions for share in (0.25, 0.5, 1)]
    assert by_variable(made_up(powers, shares=(1.0,)), "|S|") == []
    assert len(by_variable(made_up(powers, shares=(0.5, 0.25)), "|S|")) == 4


def test_exponents_of_the_block_size_are_those_of_the_rising_branch():
    def valley(dim, block, share=1.0):
        return powers(dim, block, share) * ((16 / block) ** 2 if block and block < 16 else 1)

    found = by_variable(made_up(valley), "block")
    assert [(each.dim, each.points[0][0], each.points[-1][0]) for each in found] == [
        (dim, 16, dim / 2) for dim in (64, 128, 256, 512, 1024, 2048)
    ]
    assert [each.measured for each in found] == pytest.approx([0.5] * 6)
    assert {(each.solver, each.block) for each in found} == {("iALS++", None)}


def test_a_branch_of_one_point_has_no_exponent():
    assert by_variable(made_up(powers, blocks=(1, 4, 0), quality=None), "block") == []


def test_the_formulas_exponent_is_fitted_to_the_very_same_points():
    def as_the_formula(dim, block, share=1.0):
        return 1e-9 * work_on(ML20M, Configuration(dim, block), share)

    found = exponents(made_up(as_the_formula, quality=None))
    assert {each.variable for each in found} == {"d", "|S|", "block"}
    assert [each.measured for each in found] == pytest.approx([each.formula for each in found])


def test_the_formulas_exponents_are_those_of_the_larger_term():
    few_rows = replace(ML20M, train_users=1, train_items=1)
    by_solver = {each.solver: each for each in by_variable(made_up(powers, data=few_rows), "d")}
    assert by_solver["iALS"].formula == pytest.approx(2, abs=0.01)
    assert by_solver["iCD"].formula == pytest.approx(1, abs=0.01)


def test_one_dimension_has_no_exponent():
    run = made_up(only(paper_seconds, solvers=("iCD",)), dims=(64,), quality=None)
    assert over_dims(run, "iCD") is None
    assert by_variable(run, "d") == []

"""How claims are judged: which d and block size count, where the limits are, and what the reasons say."""

from dataclasses import replace

import pytest
from support.made_up_runs import (
    ML20M,
    MSD,
    NCF,
    converging,
    faster,
    growing,
    made_up,
    only,
    paper_like,
    paper_quality,
    paper_seconds,
    valley,
    worse,
)

from reproduction.claims.findings import times
from reproduction.claims.reached import epochs_to_converge, seconds_to_converge
from reproduction.claims.table import CLAIMS
from reproduction.complexity import over_dims
from reproduction.grid import Configuration


def judge(words):
    """How the one sentence with these words is judged."""
    (found,) = [claim.judge for claim in CLAIMS if words in claim.sentence]
    return found


OVERTAKEN_AT_800 = judge("at d ≈ 800")
VANISHES = judge("This advantage vanishes")
CUBIC = judge("cubic runtime")
NEAR_100 = judge("slower than a careful iALS")
ORDER_THROUGHOUT = judge("faster than iCD, for small and large d")
ABOUT_AN_ORDER_THROUGHOUT = judge("throughout all d")
LEAD_GROWS = judge("Figure 1: the advantages")
MUCH_FASTER_THROUGHOUT = judge("Throughout, iALS++ is much faster")
U_SHAPE = judge("U-shape")
AROUND_64 = judge("around 64")
ONE_BLOCK = judge("hardware dependent constant")
FLAT = judge("the curves are mostly flat")
SETTLED = judge("within 16 epochs")
GOOD_BLOCK = judge("a good block size")
CONVERGES_MUCH_FASTER = judge("much faster overall convergence")
CONVERGES_AN_ORDER_FASTER = judge("Figure 4: iALS++ converges")
AHEAD_AT_2048 = judge("nearly two faster")
FEW_MINUTES = judge("in a few minutes")

# Where iCD overtakes iALS


def crossing_at(place, dims=(64, 256, 1024, 4096)):
    """Times that cross there exactly, at the difference of their powers of d."""
    return made_up(
        lambda d, b, _: d * place if b == 1 else d * d if b == d else 1, None, dims=dims, blocks=(1, 0)
    )


@pytest.mark.parametrize(
    ("place", "holds"), [(100, False), (390, False), (410, True), (800, True), (1700, False)]
)
def test_a_crossover_is_found_between_the_measured_dimensions(place, holds):
    found = OVERTAKEN_AT_800(crossing_at(place))
    assert found.ours == f"d ≈ {place}" if place < 1000 else f"d ≈ {place:,}"
    assert found.holds is holds


@pytest.mark.parametrize(
    ("place", "dims", "ours", "holds"),
    [
        (9000, (64, 2048), "beyond d = 2,048", False),
        (9000, (64, 1024), None, None),
        (10, (64, 1024), "below d = 64", False),
        (10, (512, 1024), None, None),
    ],
)
def test_a_crossover_outside_is_judged_where_that_is_clear(place, dims, ours, holds):
    found = OVERTAKEN_AT_800(crossing_at(place, dims))
    assert found.holds is holds
    assert ours in (None, found.ours)


def test_the_reason_for_another_crossover_compares_operations_in_a_second_with_the_papers():
    found = OVERTAKEN_AT_800(faster("iCD", 5))
    assert "Gop/s" in found.why
    assert "in the paper 1,536 times at d = 128, hence 12x" in found.why
    d = 256  # measured, and nearest to where they cross
    ratio = d * (paper_seconds(d, 1) / 5) / paper_seconds(d, d)
    assert f"iALS does {ratio:.3g} times as many operations per second, for 256 times the work" in found.why


def test_as_fast_as_icd_is_an_advantage_that_has_vanished_but_not_one_of_icd():
    def meeting(dim, block, share=1.0):
        return paper_seconds(dim, 1, share) / 1.05 if block == dim > 512 else paper_seconds(dim, block, share)

    run = made_up(meeting, None)
    assert VANISHES(run).holds is True
    assert judge("As the asymptotic analysis says")(run).holds is False


def test_an_advantage_that_never_was_does_not_vanish():
    found = VANISHES(faster("iCD", 100))
    assert found.holds is False
    assert found.why.startswith("iALS is not ahead at small d. iCD, d = 64 takes ")


@pytest.mark.parametrize("claim", [MUCH_FASTER_THROUGHOUT, CONVERGES_MUCH_FASTER])
@pytest.mark.parametrize(
    ("solver", "dim", "holds"), [("iALS", 128, True), ("iALS", 256, False), ("iCD", 128, False)]
)
def test_much_faster_exempts_ials_near_100_alone(claim, solver, dim, holds):
    """One solver is as fast as iALS++ at one d."""
    block = {"iALS": dim, "iCD": 1}[solver]

    def seconds(d, b, share=1.0):
        return paper_seconds(d, 64 if (d, b) == (dim, block) else b, share)

    assert claim(made_up(seconds)).holds is holds


def test_a_good_block_is_compared_with_the_slower_end():
    run = made_up(dims=(128, 2048))
    slower = (Configuration(128, 1), Configuration(2048, 2048))
    factors = [
        seconds_to_converge(run, each) / seconds_to_converge(run, Configuration(each.dim, 64))
        for each in slower
    ]
    told = "iALS++ {}, {} as fast as the slower of iCD and iALS at d = 128, 2048 (block 64)"
    assert GOOD_BLOCK(run).ours == told.format(*map(times, factors))


@pytest.mark.parametrize(("above", "holds"), [(-1.5, True), (0.25, True), (0.35, False)])
def test_growth_is_judged_by_the_formulas_own_exponent(above, holds):
    formula = over_dims(paper_like(), "iALS").formula
    found = CUBIC(growing("iALS", formula + above))
    assert found.holds is holds
    assert f"d^{formula + above:.2f} (the formula: d^{formula:.2f})" in found.ours


# Which d and which block size


@pytest.mark.parametrize(
    ("dims", "used"), [((64, 128), 128), ((64, 192), 64), ((96, 100), 100), ((32, 192), None)]
)
def test_about_100_is_the_nearest_measured_dimension(dims, used):
    found = NEAR_100(made_up(dims=dims, quality=None))
    assert (
        found.ours.endswith(f"at d = {used}")
        if used
        else found.why == "needs iCD and iALS timed at a d from 64 to 160"
    )


def test_the_fastest_block_counts_and_is_named():
    found = ORDER_THROUGHOUT(paper_like())
    assert found.ours.endswith("(blocks 32, 64, 64, 64, 64, 64)")
    assert judge("block size (64)")(paper_like()).ours.endswith("(block 64)")


def test_a_claim_on_all_dimensions_is_open_while_the_large_ones_are_missing():
    found = ABOUT_AN_ORDER_THROUGHOUT(made_up(dims=(64, 128), quality=None))
    assert found.holds is None
    assert found.ours.startswith("iALS++ 14.7x, 15x as fast as iCD at d = 64, 128")
    assert found.why == "needs iCD and iALS++ timed at a d below 256 and one of at least 1024"


ALL_DIMS_OF_EPOCHS = [
    LEAD_GROWS,
    MUCH_FASTER_THROUGHOUT,
    judge("iCD is a poor choice"),
    VANISHES,
    U_SHAPE,
    AROUND_64,
    ONE_BLOCK,
]


@pytest.mark.parametrize("claim", ALL_DIMS_OF_EPOCHS)
@pytest.mark.parametrize("dims", [(128,), (128, 512), (256, 1024)], ids=str)
def test_claims_on_epochs_at_all_dimensions_need_small_and_large_ones(claim, dims):
    found = claim(made_up(dims=dims))
    assert found.holds is None
    assert "one of at least 1024" in found.why
    assert claim(made_up(dims=(128, 1024))).holds is True


@pytest.mark.parametrize("claim", [LEAD_GROWS, ONE_BLOCK])
def test_nothing_measured_is_not_enough(claim):
    assert claim(made_up(None)).holds is None


def test_quality_and_convergence_are_judged_at_the_dimensions_that_were_trained():
    judges = [
        FLAT,
        judge("The three algorithms"),
        judge("the curves of Recall@20"),
        SETTLED,
        GOOD_BLOCK,
        CONVERGES_AN_ORDER_FASTER,
    ]
    found = [claim(made_up(None, dims=(128,))) for claim in judges]
    assert [each.holds for each in found] == [True] * len(judges)
    assert all("at d = 128" in each.ours for each in found)
    assert judge("faster convergence than iCD, over")(made_up(None, dims=(128,))).holds is None


def test_a_curve_whose_medium_block_is_ials_itself_does_not_count():
    def slow_64(dim, block, share=1.0):
        return paper_seconds(dim, block, share) * (9 if dim == 64 and block in (32, 64) else 1)

    for claim in (AROUND_64, U_SHAPE):
        assert claim(made_up(dims=(64,))).why.startswith("needs 4 block sizes")
        assert claim(made_up(slow_64, None, dims=(64, 128, 1024))).holds is True


def test_an_order_is_more_than_about_an_order():
    run = faster("iCD", 1.5)
    assert ORDER_THROUGHOUT(run).holds is False
    assert ABOUT_AN_ORDER_THROUGHOUT(run).holds is True


def test_the_reason_for_another_best_block_says_what_64_costs():
    found = AROUND_64(valley(lambda _: 16))
    assert "d = 128: block 32 (" in found.why
    assert ", 20.0 % more than block 16 (" in found.why


def test_times_that_are_5_percent_apart_are_equal():
    def nearly(dim, block, share=1.0):
        return 0.95 * paper_seconds(dim, 64, share) if block == 16 else paper_seconds(dim, block, share)

    run = made_up(nearly, None, dims=(128, 1024))
    assert run.fastest_block(1024) == 16
    assert AROUND_64(run).holds is True


def test_a_bump_is_no_valley():
    bumpy = made_up(lambda d, b, share: paper_seconds(d, b, share) * (2 if b == 32 else 1), None, dims=(256,))
    found = U_SHAPE(bumpy)
    assert found.holds is False
    assert "not one valley: block 32 (" in found.why


def test_a_special_solver_at_the_end_may_be_faster_than_its_neighbour():
    fast_icd = faster("iCD", 8)
    assert fast_icd.over_blocks(128)[1] < fast_icd.over_blocks(128)[2]
    assert U_SHAPE(fast_icd).holds is True


# All of the data

ABSOLUTE = [
    FEW_MINUTES,
    judge("less than a minute"),
    judge("about 3 minutes"),
    judge("about 15 minutes"),
    judge("An epoch of iCD"),
    judge("An epoch of iALS"),
    judge("roughly match"),
    judge("more than 100x"),
    judge("Earlier data is comparable"),
]


@pytest.mark.parametrize("claim", ABSOLUTE)
@pytest.mark.parametrize(
    "options",
    [
        {"scale": 0.5},
        {"data": replace(ML20M, name="ratings.csv")},
        {"data": replace(ML20M, interactions=8_900_000)},
    ],
    ids=["half", "another", "thinner"],
)
def test_absolute_claims_need_all_of_the_data(claim, options):
    found = claim(made_up(quality=None, **options))
    assert found.holds is None
    assert "--scale 1" in found.why


@pytest.mark.parametrize("name", ["ml-20m", "synthetic:ml20m"])
def test_generated_data_of_the_same_shape_will_do(name):
    run = made_up(quality=None, data=replace(ML20M, name=name))
    assert {claim(run).holds for claim in ABSOLUTE} == {True}


def test_a_few_minutes_may_be_those_of_msd():
    run = made_up(lambda *of: 1.5 * paper_seconds(*of), None, data=MSD)
    assert FEW_MINUTES(run).holds is True
    assert judge("less than a minute")(run).holds is None


def test_half_of_1000_is_not_1000():
    found = FEW_MINUTES(made_up(dims=(512, 2048), quality=None))
    assert found.why == "needs iALS++ timed at a d from 800 to 1250"


# Quality and convergence


@pytest.mark.parametrize(("spread", "verb"), [(0.0, "does not explain"), (0.1, "explains")])
def test_the_reason_for_a_curve_that_is_not_flat_names_block_and_chance(spread, verb):
    def noisy(dim, block, seed, epoch):
        return paper_quality(dim, block, 0, epoch) * (0.95 if block == 8 else 1 + spread * (seed - 0.5))

    found = FLAT(made_up(None, noisy, dims=(128,), seeds=2))
    assert "iALS++ (8), d = 128 is 5.00 % below the median" in found.why
    assert f"which {verb} the" in found.why


def test_one_seed_cannot_tell_chance():
    run = replace(worse(8), trainings=tuple(t for t in worse(8).trainings if t.task.seed == 0))
    assert "one seed cannot tell whether that is chance" in FLAT(run).why


@pytest.mark.parametrize("icd", [0.3, 0.7], ids=["earlier", "much later"])
@pytest.mark.parametrize("words", ["converges slightly slower", "the same convergence speed"])
def test_slightly_slower_is_neither_faster_nor_much_slower(words, icd):
    found = judge(words)(converging(icd))
    assert found.holds is False
    assert "has converged after" in found.why


def test_convergence_is_interpolated_between_epochs():
    curve = [0.5, 0.98, 1.0, 1.0]
    run = made_up(
        lambda *_: 2.0, lambda _d, _b, _seed, epoch: curve[epoch - 1], dims=(64,), blocks=(1,), epochs=4
    )
    assert epochs_to_converge(run, Configuration(64, 1)) == pytest.approx(2.5)
    assert seconds_to_converge(run, Configuration(64, 1)) == pytest.approx(5.0)


@pytest.mark.parametrize("curve", [[1.0, 1.0], [1.0, 0.5], [0.0, 0.0]])
def test_convergence_takes_an_epoch_at_least(curve):
    run = made_up(quality=lambda *of: curve[of[-1] - 1], dims=(64,), blocks=(1,), epochs=2)
    assert epochs_to_converge(run, Configuration(64, 1)) == 1.0
    assert seconds_to_converge(run, Configuration(64, 1)) == paper_seconds(64, 1)


def test_fewer_epochs_cannot_tell_whether_16_are_enough():
    found = SETTLED(made_up(dims=(64,), epochs=12))
    assert found.why == "needs iCD, iALS, iALS++ trained at one d for 16 epochs"


def test_a_slow_drift_over_the_last_epochs_is_not_well_converged():
    found = SETTLED(made_up(quality=lambda *of: 0.3 * 1.004 ** of[-1], dims=(64,)))
    assert found.holds is False
    assert found.ours == "the last 4 epochs change at most 1.58 % at d = 64"


def test_the_reason_for_slow_convergence_is_epochs_and_their_seconds():
    found = judge("iALS++ and iALS converge an order")(faster("iCD", 2))
    assert "At d = 128, iCD takes 5.4 epochs of 12 s, iALS takes 5.0 epochs of 2 s" in found.why


def test_epochs_stand_in_at_a_d_that_was_timed_but_not_trained():
    timed_alone = AHEAD_AT_2048(made_up(quality=None))
    assert timed_alone.holds is True
    assert timed_alone.ours.count("in an epoch") == 2
    assert "in an epoch" not in AHEAD_AT_2048(paper_like()).ours
    slow_icd = only(paper_quality, solvers=("iALS", "iALS++"))
    assert AHEAD_AT_2048(made_up(quality=slow_icd)).ours.count("in an epoch") == 1


def test_published_numbers_of_another_d_are_not_compared():
    run = made_up(None, dims=(128,), metrics=("hit_rate@10", "ndcg@10"), data=NCF)
    assert judge("matches that of the study")(run).holds is None

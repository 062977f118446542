"""How claims are judged: which d and block size count, where the limits are, and what the reasons say."""

from dataclasses import replace

import pytest
from reproductions import (
    ML20M,
    MSD,
    NCF,
    converging,
    faster,
    made_up,
    only,
    paper_like,
    paper_quality,
    paper_seconds,
    valley,
    worse,
)

from ialspp.reproduce.claims import absolute, blocks, convergence, epochs, quality
from ialspp.reproduce.claims.reached import epochs_to_converge, seconds_to_converge
from ialspp.reproduce.grid import Configuration

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
    found = epochs.overtaken_at_800(crossing_at(place))
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
    found = epochs.overtaken_at_800(crossing_at(place, dims))
    assert found.holds is holds
    assert ours in (None, found.ours)


def test_the_reason_for_another_crossover_compares_operations_in_a_second_with_the_papers():
    found = epochs.overtaken_at_800(faster("iCD", 5))
    assert "Gop/s" in found.why
    assert "1,536, which is 12x" in found.why
    d = 256  # measured, and nearest to where they cross
    ratio = d * (paper_seconds(d, 1) / 5) / paper_seconds(d, d)
    assert f"{ratio:.3g} times as many, for 256 times the work" in found.why


# Which d and which block size


@pytest.mark.parametrize(
    ("dims", "used"), [((64, 128), 128), ((64, 192), 64), ((96, 100), 100), ((32, 192), None)]
)
def test_about_100_is_the_nearest_measured_dimension(dims, used):
    found = epochs.icd_slower_near_100(made_up(dims=dims, quality=None))
    assert (
        found.ours.endswith(f"at d = {used}")
        if used
        else found.why == "needs iCD and iALS timed at a d from 64 to 160"
    )


def test_the_fastest_block_counts_and_is_named():
    found = epochs.order_throughout(paper_like())
    assert found.ours.endswith("(blocks 32, 64, 64, 64, 64, 64)")
    assert epochs.about_an_order_with_64(paper_like()).ours.endswith("(block 64)")


def test_a_claim_on_all_dimensions_is_open_while_the_large_ones_are_missing():
    found = epochs.about_an_order_throughout(made_up(dims=(64, 128), quality=None))
    assert found.holds is None
    assert found.ours.startswith("iALS++ 14.7x, 15x as fast as iCD at d = 64, 128")
    assert found.why == "needs iCD and iALS++ timed at a d below 256 and one of at least 1024"


def test_an_order_is_more_than_about_an_order():
    run = faster("iCD", 1.5)
    assert epochs.order_throughout(run).holds is False
    assert epochs.about_an_order_throughout(run).holds is True


def test_the_reason_for_another_best_block_says_what_64_costs():
    found = blocks.block_around_64(valley(lambda _: 16))
    assert "d = 128: block 32 (" in found.why
    assert ", 20.0 % more than block 16 (" in found.why


def test_times_that_are_5_percent_apart_are_equal():
    def nearly(dim, block, share=1.0):
        return 0.95 * paper_seconds(dim, 64, share) if block == 16 else paper_seconds(dim, block, share)

    run = made_up(nearly, None, dims=(256, 512))
    assert run.fastest_block(256) == 16
    assert blocks.block_around_64(run).holds is True


def test_a_bump_is_no_valley():
    bumpy = made_up(lambda d, b, share: paper_seconds(d, b, share) * (2 if b == 32 else 1), None, dims=(256,))
    found = blocks.u_shape(bumpy)
    assert found.holds is False
    assert "not one valley: block 32 (" in found.why


def test_a_special_solver_at_the_end_may_be_faster_than_its_neighbour():
    fast_icd = made_up(lambda d, b, share: 3 if b == 1 else paper_seconds(d, b, share), None, dims=(128,))
    assert fast_icd.seconds(128, 1) < fast_icd.seconds(128, 2)
    assert blocks.u_shape(fast_icd).holds is True


# All of the data

ABSOLUTE = [
    absolute.few_minutes_at_1000,
    absolute.converged_at_128,
    absolute.converged_at_512,
    absolute.converged_at_2048,
    absolute.icd_in_24_seconds,
    absolute.ials_in_2_seconds,
    absolute.icd_roughly_as_before,
    absolute.ials_hundred_times_faster,
    absolute.sizes_like_ml20m,
]


@pytest.mark.parametrize("judge", ABSOLUTE, ids=lambda judge: judge.__name__)
@pytest.mark.parametrize(
    "options",
    [
        {"scale": 0.5},
        {"data": replace(ML20M, name="ratings.csv")},
        {"data": replace(ML20M, interactions=8_900_000)},
    ],
    ids=["half", "another", "thinner"],
)
def test_absolute_claims_need_all_of_the_data(judge, options):
    found = judge(made_up(quality=None, **options))
    assert found.holds is None
    assert "--scale 1" in found.why


@pytest.mark.parametrize("name", ["ml-20m", "synthetic:ml20m"])
def test_generated_data_of_the_same_shape_will_do(name):
    run = made_up(quality=None, data=replace(ML20M, name=name))
    assert {judge(run).holds for judge in ABSOLUTE} == {True}


def test_a_few_minutes_may_be_those_of_msd():
    run = made_up(lambda *of: 1.5 * paper_seconds(*of), None, data=MSD)
    assert absolute.few_minutes_at_1000(run).holds is True
    assert absolute.converged_at_128(run).holds is None


def test_half_of_1000_is_not_1000():
    found = absolute.few_minutes_at_1000(made_up(dims=(512, 2048), quality=None))
    assert found.why == "needs iALS++ timed at a d from 800 to 1250"


# Quality and convergence


@pytest.mark.parametrize(("spread", "verb"), [(0.0, "does not explain"), (0.1, "explains")])
def test_the_reason_for_a_curve_that_is_not_flat_names_block_and_chance(spread, verb):
    def noisy(dim, block, seed, epoch):
        return paper_quality(dim, block, 0, epoch) * (0.95 if block == 8 else 1 + spread * (seed - 0.5))

    found = quality.flat(made_up(None, noisy, dims=(128,), seeds=2))
    assert "iALS++ (8), d = 128 is 5.00 % below the median" in found.why
    assert f"which {verb} the" in found.why


def test_one_seed_cannot_tell_chance():
    run = replace(worse(8), trainings=tuple(t for t in worse(8).trainings if t.task.seed == 0))
    assert "no telling whether that is chance" in quality.flat(run).why


@pytest.mark.parametrize("icd", [0.3, 0.7], ids=["earlier", "much later"])
@pytest.mark.parametrize("judge", [convergence.icd_slightly_slower, convergence.ials_slightly_faster])
def test_slightly_slower_is_neither_faster_nor_much_slower(judge, icd):
    found = judge(converging(icd))
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
    found = convergence.settled(made_up(dims=(64,), epochs=12))
    assert found.why == "needs iCD, iALS, iALS++ trained at one d for 16 epochs"


def test_a_slow_drift_over_the_last_epochs_is_not_well_converged():
    found = convergence.settled(made_up(quality=lambda *of: 0.3 * 1.004 ** of[-1], dims=(64,)))
    assert found.holds is False
    assert found.ours == "the last 4 epochs change at most 1.58 %"


def test_the_reason_for_slow_convergence_is_epochs_and_their_seconds():
    found = convergence.order_at_128(faster("iCD", 2))
    assert "iCD takes 5.4 epochs of 12 s, iALS takes 5.0 epochs of 2 s, d = 128" in found.why


def test_epochs_stand_in_at_a_d_that_was_timed_but_not_trained():
    timed_alone = convergence.ahead_of_both_at_2048(made_up(quality=None))
    assert timed_alone.holds is True
    assert timed_alone.ours.count("in an epoch") == 2
    assert "in an epoch" not in convergence.ahead_of_both_at_2048(paper_like()).ours
    slow_icd = only(paper_quality, solvers=("iALS", "iALS++"))
    assert convergence.ahead_of_both_at_2048(made_up(quality=slow_icd)).ours.count("in an epoch") == 1


def test_published_numbers_of_another_d_are_not_compared():
    run = made_up(None, dims=(128,), metrics=("hit_rate@10", "ndcg@10"), data=NCF)
    assert quality.matches_published(run).holds is None

"""The table of claims on made-up measurements that support each, contradict it, and lack it."""

from dataclasses import replace
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ialspp.reproduce.claims import CLAIMS, THRESHOLDS, absolute, blocks, claims, convergence, epochs, quality
from support.reproductions import (
    ML20M,
    MSD,
    NCF,
    converging,
    faster,
    growing,
    made_up,
    only,
    paper_like,
    paper_seconds,
    slow_machine,
    valley,
    with_metric,
    worse,
)

each_claim = pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: str(claim.number))


def on_ncf(hits, ndcg):
    run = made_up(None, lambda *_: ndcg, dims=(64,), metrics=("hit_rate@10", "ndcg@10"), data=NCF)
    return with_metric(run, "hit_rate@10", lambda values: [hits] * len(values))


def sized(data, **counts):
    return made_up(dims=(64,), quality=None, data=replace(data, **counts))


# What supports a claim where the paper's own figures do not, and what contradicts it.
SUPPORT = {
    quality.matches_published: lambda: on_ncf(0.722, 0.445),
    absolute.more_holdout_users: lambda: sized(MSD),
    absolute.smaller_than_msd: lambda: sized(MSD),
}
CONTRADICTION = {
    epochs.cubic: lambda: growing("iALS", 3.5),
    epochs.quadratic: lambda: growing("iCD", 2.8),
    epochs.icd_slower_near_100: lambda: faster("iCD", 2),
    epochs.icd_not_faster_near_100: lambda: faster("iCD", 15),
    epochs.icd_slower_at_small: lambda: faster("iCD", 3),
    epochs.ials_better_at_small: lambda: faster("iCD", 10),
    epochs.overtaken_at_800: lambda: faster("iCD", 5),
    epochs.overtaken_at_1000: lambda: faster("iCD", 5),
    epochs.icd_faster_at_large: lambda: faster("iALS", 50),
    epochs.ials_lead_vanishes: lambda: faster("iALS", 50),
    epochs.order_throughout: lambda: faster("iCD", 1.3),
    epochs.about_an_order_throughout: lambda: faster("iCD", 3),
    epochs.about_an_order_with_64: lambda: faster("iCD", 3),
    epochs.lead_over_ials_grows: lambda: growing("iALS", 1),
    epochs.comparable_at_small: lambda: faster("iALS", 5),
    epochs.much_faster_throughout: lambda: faster("iALS", 2),
    epochs.better_but_near_100: lambda: faster("iALS", 2),
    epochs.icd_never_fastest: lambda: faster("iCD", 20),
    epochs.ials_very_slow: lambda: faster("iALS", 10),
    epochs.same_dependency: lambda: growing("iCD", 2),
    blocks.u_shape: lambda: faster("iALS", 10),
    blocks.block_around_64: lambda: valley(lambda _: 8),
    blocks.one_block_for_all: lambda: valley(lambda dim: dim / 4),
    quality.flat: lambda: worse(8),
    quality.indistinguishable: lambda: worse(1),
    quality.matches_published: lambda: on_ncf(0.722, 0.43),
    convergence.similar_convergence: lambda: converging(0.7),
    convergence.similar_metrics: lambda: with_metric(
        paper_like(), "capped_recall@20", lambda values: [0.05 * (e + 1) for e in range(len(values))]
    ),
    convergence.settled: lambda: converging(0.9, 0.9),
    convergence.icd_slightly_slower: lambda: converging(0.3),
    convergence.ials_slightly_faster: lambda: converging(0.7),
    convergence.no_side_effects: lambda: worse(8),
    convergence.good_block_much_faster: lambda: faster("iCD", 10),
    convergence.much_faster: lambda: faster("iCD", 10),
    convergence.order: lambda: faster("iCD", 2),
    convergence.order_throughout: lambda: faster("iCD", 2),
    convergence.lead_over_ials_grows: lambda: growing("iALS", 1),
    convergence.order_at_128: lambda: faster("iCD", 2),
    convergence.within_one_epoch_of_icd: lambda: faster("iCD", 5),
    convergence.ials_lead_shrinks_to_512: lambda: growing("iALS", 1),
    convergence.ahead_of_both_at_512: lambda: faster("iALS", 5),
    convergence.ahead_of_both_at_2048: lambda: faster("iALS", 2),
    absolute.few_minutes_at_1000: slow_machine,
    absolute.converged_at_128: slow_machine,
    absolute.converged_at_512: slow_machine,
    absolute.converged_at_2048: slow_machine,
    absolute.icd_in_24_seconds: slow_machine,
    absolute.ials_in_2_seconds: slow_machine,
    absolute.icd_roughly_as_before: lambda: faster("iCD", 4),
    absolute.ials_hundred_times_faster: slow_machine,
    absolute.more_holdout_users: lambda: sized(MSD, test_users=40_000),
    absolute.sizes_like_ml20m: lambda: sized(ML20M, interactions=12_000_000),
    absolute.smaller_than_msd: lambda: sized(MSD, users=150_000),
}


# Every claim


def test_claims_are_numbered_in_the_papers_order():
    assert [claim.number for claim in CLAIMS] == list(range(1, len(CLAIMS) + 1))
    places = [claim.where for claim in CLAIMS]
    assert list(dict.fromkeys(places)) == ["abstract", "evaluation", "conclusion"]
    assert places == sorted(places, key=["abstract", "evaluation", "conclusion"].index)
    assert len({(claim.where, claim.sentence) for claim in CLAIMS}) == len(CLAIMS)
    assert all(claim.sentence and claim.paper for claim in CLAIMS)


def test_thresholds_are_whole_sentences():
    assert all(sentence.endswith(".") and "{" not in sentence for sentence in THRESHOLDS)


@each_claim
def test_a_claim_holds_where_measurements_support_it(claim):
    run = SUPPORT.get(claim.judge, paper_like)()
    found = claim.judge(run)
    assert (found.holds, found.why) == (True, "")
    assert found.ours


@each_claim
def test_a_claim_fails_with_a_reason_where_measurements_contradict_it(claim):
    found = claim.judge(CONTRADICTION[claim.judge]())
    assert found.holds is False
    assert found.ours
    assert any(character.isdigit() for character in found.why)


@each_claim
def test_a_claim_says_what_it_needs_where_nothing_was_measured_for_it(claim):
    unrelated = made_up(only(paper_seconds, solvers=("SpectralCG",)), None, data=replace(ML20M, name="other"))
    found = claim.judge(unrelated)
    assert found.holds is None
    assert found.why.startswith("needs ")


def test_the_papers_own_figures_support_everything_that_can_be_judged_by_them():
    missing = [each.claim.judge for each in claims(paper_like()) if each.holds is not True]
    assert missing == [
        absolute.more_holdout_users,
        quality.matches_published,
        absolute.smaller_than_msd,
    ]


def test_dimensions_below_the_papers_do_not_count():
    found = claims(made_up(dims=(8, 16, 32), data=replace(ML20M, name="other")))
    assert {each.holds for each in found} == {None}


@given(st.data(), st.booleans())
@settings(deadline=None, max_examples=30)
def test_whatever_part_was_measured_every_claim_gets_a_verdict(data, keep):
    """A few configurations alone, or all but a few; trained and timed ones are drawn apart."""

    def part(measured):
        drawn = data.draw(st.sets(st.sampled_from(whole_run().grids[0].all)))
        return tuple(each for each in measured if (each.task.configuration in drawn) is keep)

    run = replace(whole_run(), timings=part(whole_run().timings), trainings=part(whole_run().trainings))
    for each in claims(run):
        assert (each.why == "") is (each.holds is True)
        assert each.holds is not None or each.why.startswith("needs ")
        assert each.ours or each.holds is None


@given(st.data())
@settings(deadline=None, max_examples=30)
def test_a_training_that_ends_at_0_counts_as_not_measured(data):
    """In one metric or in all, for any of the configurations or every one."""
    drawn = data.draw(st.sets(st.sampled_from(whole_run().grids[0].all)) | st.just(whole_run().grids[0].all))
    metrics = data.draw(st.sets(st.sampled_from(whole_run().settings.metrics), min_size=1))
    learned = tuple(t for t in whole_run().trainings if t.task.configuration not in drawn)
    failed = tuple(
        replace(t, metrics={**t.metrics, **dict.fromkeys(metrics, (0.1, 0.0, 0.0))})
        for t in whole_run().trainings
        if t.task.configuration in drawn
    )
    without = replace(whole_run(), trainings=learned)
    assert claims(replace(without, trainings=learned + failed)) == claims(without)


@cache
def whole_run():
    return made_up(dims=(64, 128, 512, 1024, 2048), blocks=(1, 2, 32, 64, 0), epochs=3)

"""The table of claims on made-up measurements that support each, contradict it, and lack it."""

from dataclasses import replace
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
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
    paper_seconds,
    slow_machine,
    valley,
    with_metric,
    worse,
)

from reproduction.claims.table import CLAIMS, judge_claims
from reproduction.claims.thresholds import THRESHOLDS

each_claim = pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: str(claim.number))


def on_ncf(hits, ndcg):
    run = made_up(None, lambda *_: ndcg, dims=(64,), metrics=("hit_rate@10", "ndcg@10"), data=NCF)
    return with_metric(run, "hit_rate@10", lambda values: [hits] * len(values))


def sized(data, **counts):
    return made_up(dims=(64,), quality=None, data=replace(data, **counts))


def late_recall():
    return with_metric(
        paper_like(), "capped_recall@20", lambda values: [0.05 * (e + 1) for e in range(len(values))]
    )


# By words of the sentence: what supports it where the paper's own figures do not, and what contradicts it.
SUPPORT = {
    "5 times more holdout users": lambda: sized(MSD),
    "matches that of the study": lambda: on_ncf(0.722, 0.445),
    "Their data is smaller than MSD": lambda: sized(MSD),
}
CONTRADICTION = {
    "cubic runtime": lambda: growing("iALS", 3.5),
    "to quadratic in d": lambda: growing("iCD", 2.8),
    "can be an order of magnitude slower than a careful iALS": lambda: faster("iCD", 2),
    "only performs better than iALS at d ≈ 1000": lambda: faster("iCD", 5),
    "an order of magnitude faster than iCD, for small and large d": lambda: faster("iCD", 1.3),
    "in a few minutes": slow_machine,
    "5 times more holdout users": lambda: sized(MSD, test_users=40_000),
    "matches that of the study": lambda: on_ncf(0.722, 0.43),
    "moderate block size (64)": lambda: faster("iCD", 3),
    "Figure 1: the advantages": lambda: growing("iALS", 1),
    "For d < 256, iALS is about an order": lambda: faster("iCD", 3),
    "faster than iALS at d ≈ 800": lambda: faster("iCD", 5),
    "As the asymptotic analysis says": lambda: faster("iALS", 50),
    "clearly a better choice": lambda: faster("iCD", 10),
    "throughout all d": lambda: faster("iCD", 3),
    "the same dependency on d": lambda: growing("iCD", 2),
    "comparable to that of iALS": lambda: faster("iALS", 5),
    "U-shape": lambda: faster("iALS", 10),
    "a medium block size of around 64": lambda: valley(lambda _: 8),
    "hardware dependent constant": lambda: valley(lambda dim: dim / 4),
    "Figure 2: solver and block size": lambda: worse(8),
    "the curves are mostly flat": lambda: worse(8),
    "Figure 3: solver and block size": lambda: converging(0.7),
    "a good block size makes convergence": lambda: faster("iCD", 10),
    "the curves of Recall@20 and Recall@50": late_recall,
    "The three algorithms": lambda: converging(0.7),
    "within 16 epochs": lambda: converging(0.9, 0.9),
    "iCD converges slightly slower": lambda: converging(0.3),
    "much faster overall convergence": lambda: faster("iCD", 10),
    "iALS++ and iALS converge an order": lambda: faster("iCD", 2),
    "when iCD has finished one epoch": lambda: faster("iCD", 5),
    "slowly vanish": lambda: growing("iALS", 1),
    "much faster than iALS": lambda: faster("iALS", 5),
    "nearly two faster than iALS": lambda: faster("iALS", 2),
    "less than a minute at d = 128": slow_machine,
    "about 3 minutes at d = 512": slow_machine,
    "about 15 minutes at d = 2048": slow_machine,
    "Figure 4: iALS++ converges": lambda: faster("iCD", 2),
    "Figure 4: the advantages": lambda: growing("iALS", 1),
    "Earlier data is comparable to ML20M": lambda: sized(ML20M, interactions=12_000_000),
    "Their data is smaller than MSD": lambda: sized(MSD, users=150_000),
    "earlier studies had iCD about 10x": lambda: faster("iCD", 15),
    "An epoch of iCD": slow_machine,
    "An epoch of iALS": slow_machine,
    "roughly match": lambda: faster("iCD", 4),
    "more than 100x faster": slow_machine,
    "more or less the same convergence speed": lambda: converging(0.7),
    "mostly indistinguishable": lambda: worse(1),
    "faster runtime than iCD for small d": lambda: faster("iCD", 2),
    "This advantage vanishes": lambda: faster("iALS", 50),
    "iALS becomes very slow": lambda: faster("iALS", 10),
    "faster convergence than iCD, over": lambda: faster("iCD", 2),
    "For small d, iALS++ is as fast": lambda: faster("iALS", 5),
    "a large advantage over iALS": lambda: growing("iALS", 1),
    "No undesirable side effects": lambda: worse(8),
    "Throughout, iALS++ is much faster": lambda: faster("iALS", 2),
    "But for d ≈ 100": lambda: faster("iALS", 2),
    "iCD is a poor choice": lambda: faster("iCD", 20),
    "prohibitively slow": lambda: faster("iALS", 10),
}


def entry(table, claim, default=None):
    """The entry whose words are in the sentence; of several the longest, which says most."""
    found = [words for words in table if words in claim.sentence]
    return table[max(found, key=len)] if found else default


# Every claim


def test_claims_are_numbered_in_the_papers_order():
    assert [claim.number for claim in CLAIMS] == list(range(1, 60))
    places = [claim.where for claim in CLAIMS]
    assert places == sorted(places, key=["abstract", "evaluation", "conclusion"].index)
    assert len({(claim.where, claim.sentence) for claim in CLAIMS}) == len(CLAIMS)
    assert all(claim.sentence and claim.paper for claim in CLAIMS)
    assert len({id(entry(CONTRADICTION, claim)) for claim in CLAIMS}) > 50


def test_thresholds_are_whole_sentences():
    assert all(sentence.endswith(".") and "{" not in sentence for sentence in THRESHOLDS)


@each_claim
def test_a_claim_holds_where_measurements_support_it(claim):
    found = claim.judge(entry(SUPPORT, claim, paper_like)())
    assert (found.holds, found.why) == (True, "")
    assert found.ours


@each_claim
def test_a_claim_fails_with_a_reason_where_measurements_contradict_it(claim):
    found = claim.judge(entry(CONTRADICTION, claim)())
    assert found.holds is False
    assert found.ours
    assert any(character.isdigit() for character in found.why)


@each_claim
def test_a_claim_says_what_it_needs_where_nothing_was_measured_for_it(claim):
    found = claim.judge(unrelated())
    assert found.holds is None
    assert found.why.startswith("needs ")


@cache
def unrelated():
    return made_up(only(paper_seconds, solvers=("SpectralCG",)), None, data=replace(ML20M, name="other"))


def test_the_papers_own_figures_support_everything_that_can_be_judged_by_them():
    missing = [each.claim for each in judge_claims(paper_like()) if each.finding.holds is not True]
    assert [claim for claim in CLAIMS if entry(SUPPORT, claim)] == missing
    assert len(missing) == len(SUPPORT)


def test_dimensions_below_the_papers_do_not_count():
    found = judge_claims(made_up(dims=(8, 16, 32), data=replace(ML20M, name="other")))
    assert {each.finding.holds for each in found} == {None}


def test_a_verdict_as_json_has_the_claim_and_what_was_found():
    verdict = judge_claims(unrelated())[0]
    assert verdict.as_dict() == {
        "number": 1,
        "where": "abstract",
        "sentence": "iALS has a “cubic runtime dependency on d”",
        "paper": "d³",
        "ours": "",
        "holds": None,
        "why": verdict.finding.why,
    }


@given(st.data(), st.booleans())
@settings(deadline=None, max_examples=12)
def test_whatever_part_was_measured_every_claim_gets_a_verdict(data, keep):
    """A few configurations alone, or all but a few; trained and timed ones are drawn apart."""

    def part(measured):
        drawn = data.draw(st.sets(st.sampled_from(whole_run().grids[0].all)))
        return tuple(each for each in measured if (each.task.configuration in drawn) is keep)

    run = replace(whole_run(), timings=part(whole_run().timings), trainings=part(whole_run().trainings))
    for each in judge_claims(run):
        found = each.finding
        assert (found.why == "") is (found.holds is True)
        assert found.holds is not None or found.why.startswith("needs ")
        assert found.ours or found.holds is None


@given(st.data())
@settings(deadline=None, max_examples=12)
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
    assert judge_claims(replace(without, trainings=learned + failed)) == judge_claims(without)


@cache
def whole_run():
    return made_up(dims=(64, 128, 512, 2048), blocks=(1, 32, 64, 0), epochs=3)

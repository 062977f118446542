"""Every quantitative sentence of the paper's abstract, evaluation and conclusion, beside what a run found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from ..run import Run
from . import absolute, blocks, convergence, epochs, quality
from .findings import Finding
from .thresholds import SMALLEST

ABSTRACT, EVALUATION, CONCLUSION = "abstract", "evaluation", "conclusion"


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence of the paper, in its words or close to them, and who judges it."""

    number: int
    where: str
    sentence: str
    paper: str  # its value
    judge: Callable[[Run], Finding]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a run says about a claim. Where it was not measured, holds is None, and why says what it needs."""

    claim: Claim
    ours: str
    holds: bool | None
    why: str


def claims(run: Run) -> list[Verdict]:
    """All, in the paper's order, judged by what was measured at d as large as the paper's."""
    judged = replace(
        run,
        timings=tuple(t for t in run.timings if t.task.configuration.dim >= SMALLEST),
        trainings=tuple(t for t in run.trainings if t.task.configuration.dim >= SMALLEST),
    )
    found = [(claim, claim.judge(judged)) for claim in CLAIMS]
    return [Verdict(claim, each.ours, each.holds, each.why) for claim, each in found]


_SENTENCES: dict[str, list[tuple[str, str, Callable[[Run], Finding]]]] = {
    ABSTRACT: [
        ("iALS has a “cubic runtime dependency on d”", "d³", epochs.cubic),
        ("iCD lowers the complexity “to quadratic in d”", "d²", epochs.quadratic),
        (
            "iCD can be an order of magnitude slower than a careful iALS at d ≈ 100",
            "10x",
            epochs.icd_slower_near_100,
        ),
        ("iCD only performs better than iALS at d ≈ 1000", "d ≈ 1000", epochs.overtaken_at_1000),
        (
            "iALS++ is an order of magnitude faster than iCD, for small and large d",
            "10x",
            epochs.order_throughout,
        ),
        (
            "iALS++ solves ML20M or MSD at d = 1000 “in a few minutes”",
            "a few minutes",
            absolute.few_minutes_at_1000,
        ),
    ],
    EVALUATION: [
        ("Setup: MSD has 5 times more holdout users than ML20M", "5x", absolute.more_holdout_users),
        (
            "Setup: the quality of iALS matches that of the study the hyperparameters are from (judged on "
            "MovieLens 1M, where a number is at hand)",
            "equal",
            quality.matches_published,
        ),
        (
            "Figure 1: iALS++ with a moderate block size (64) is about an order of magnitude faster than iCD",
            "about 10x",
            epochs.about_an_order_with_64,
        ),
        (
            "Figure 1: the advantages of iALS++ over iALS increase with d",
            "increase",
            epochs.lead_over_ials_grows,
        ),
        (
            "For d < 256, iALS is about an order of magnitude faster than iCD",
            "about 10x",
            epochs.icd_slower_at_small,
        ),
        (
            "For larger d the advantages disappear: iCD becomes faster than iALS at d ≈ 800",
            "d ≈ 800",
            epochs.overtaken_at_800,
        ),
        (
            "As the asymptotic analysis says, iCD has the better performance for large enough d",
            "iCD faster",
            epochs.icd_faster_at_large,
        ),
        (
            "At smaller d, iALS is “clearly a better choice” than iCD",
            "iALS faster",
            epochs.ials_better_at_small,
        ),
        (
            "iALS++ is about an order of magnitude faster than iCD throughout all d",
            "about 10x",
            epochs.about_an_order_throughout,
        ),
        ("iCD and iALS++ have the same dependency on d", "the same", epochs.same_dependency),
        (
            "For smaller d, the runtime of iALS++ is comparable to that of iALS",
            "comparable",
            epochs.comparable_at_small,
        ),
        ("Each curve of runtime over block size has a U-shape", "U-shape", blocks.u_shape),
        ("For all curves, a medium block size of around 64 works best", "64", blocks.block_around_64),
        (
            "The best block size is a hardware dependent constant: it does not depend on d",
            "one for all d",
            blocks.one_block_for_all,
        ),
        (
            "Figure 2: solver and block size have “no noticeable effect on the final quality”",
            "none",
            quality.flat,
        ),
        (
            "Final quality over block size: “the curves are mostly flat”, for all d and metrics",
            "flat",
            quality.flat,
        ),
        (
            "Figure 3: solver and block size have no noticeable effect on convergence over epochs",
            "none",
            convergence.similar_convergence,
        ),
        (
            "Figure 3: a good block size makes convergence in wall time much faster",
            "much faster",
            convergence.good_block_much_faster,
        ),
        (
            "Over epochs, the curves of Recall@20 and Recall@50 look very similar to those of NDCG@100",
            "similar",
            convergence.similar_metrics,
        ),
        (
            "The three algorithms have a very similar convergence behaviour",
            "very similar",
            convergence.similar_convergence,
        ),
        ("They are well converged within 16 epochs", "16 epochs", convergence.settled),
        (
            "iCD converges slightly slower than iALS, and than iALS++ with a block size of about 64",
            "slightly",
            convergence.icd_slightly_slower,
        ),
        (
            "The faster epochs of iALS++ lead to a “much faster overall convergence”",
            "much faster",
            convergence.much_faster,
        ),
        (
            "At d = 128, iALS++ and iALS converge an order of magnitude faster than iCD",
            "10x",
            convergence.order_at_128,
        ),
        (
            "At d = 128, when iCD has finished one epoch, iALS++ and iALS have already converged",
            "1 epoch of iCD",
            convergence.within_one_epoch_of_icd,
        ),
        (
            "At d = 512, the advantages of iALS over iCD slowly vanish",
            "less than at d = 128",
            convergence.ials_lead_shrinks_to_512,
        ),
        (
            "At d = 512, iALS++ is about an order of magnitude faster than iCD and much faster than iALS",
            "about 10x; much faster",
            convergence.ahead_of_both_at_512,
        ),
        (
            "At d = 2048, iALS++ is one order of magnitude faster than iCD and nearly two faster than iALS",
            "10x; nearly 100x",
            convergence.ahead_of_both_at_2048,
        ),
        (
            "A fully converged model of ML20M takes less than a minute at d = 128",
            "< 1 min",
            absolute.converged_at_128,
        ),
        ("... about 3 minutes at d = 512", "3 min", absolute.converged_at_512),
        ("... and about 15 minutes at d = 2048", "15 min", absolute.converged_at_2048),
        (
            "Figure 4: iALS++ converges in an order of magnitude less time than iCD",
            "10x",
            convergence.order,
        ),
        (
            "Figure 4: the advantages of iALS++ over iALS increase with d",
            "increase",
            convergence.lead_over_ials_grows,
        ),
        (
            "Earlier data is comparable to ML20M: up to 2x fewer pairs, up to 2x more users and items",
            "2x",
            absolute.sizes_like_ml20m,
        ),
        ("Their data is smaller than MSD in both", "smaller", absolute.smaller_than_msd),
        (
            "At d ≈ 100, earlier studies had iCD about 10x faster than iALS (68 s and 572 s, "
            "72 s and 1260 s); with vector processing it is not",
            "iALS faster",
            epochs.icd_not_faster_near_100,
        ),
        ("An epoch of iCD at d = 128 on ML20M takes 24 s", "24 s", absolute.icd_in_24_seconds),
        ("An epoch of iALS at d = 128 on ML20M takes 2 s", "2 s", absolute.ials_in_2_seconds),
        (
            "The times of iCD roughly match those of earlier studies (68 s and 72 s)",
            "24 s",
            absolute.icd_roughly_as_before,
        ),
        (
            "iALS is more than 100x faster than in earlier studies (572 s and 1260 s)",
            "> 100x",
            absolute.ials_hundred_times_faster,
        ),
        (
            "iALS and iCD show more or less the same convergence speed, with very slight advantages for iALS",
            "slight",
            convergence.ials_slightly_faster,
        ),
        ("The final quality of iALS and iCD is mostly indistinguishable", "equal", quality.indistinguishable),
    ],
    CONCLUSION: [
        (
            "iALS shows an order of magnitude faster runtime than iCD for small d (d ≈ 100)",
            "10x",
            epochs.icd_slower_near_100,
        ),
        ("This advantage vanishes for larger d", "vanishes", epochs.ials_lead_vanishes),
        ("iALS becomes very slow for large d (d ≫ 1000)", "very slow", epochs.ials_very_slow),
        (
            "iALS++ shows an order of magnitude faster convergence than iCD, over small and large d",
            "10x",
            convergence.order_throughout,
        ),
        ("For small d, iALS++ is as fast as iALS", "as fast", epochs.comparable_at_small),
        ("iALS++ has a large advantage over iALS as d increases", "increases", epochs.lead_over_ials_grows),
        (
            "No undesirable side effects on final quality or convergence per epoch",
            "none",
            convergence.no_side_effects,
        ),
        (
            "Throughout, iALS++ is much faster than iALS and iCD (but for iALS at d ≈ 100: see the next)",
            "much faster",
            epochs.much_faster_throughout,
        ),
        (
            "But for d ≈ 100, where iALS performs as well, iALS++ is clearly the better choice",
            "as fast; better",
            epochs.better_but_near_100,
        ),
        (
            "With vector processing, “iCD is a poor choice and iALS and iALS++ should be preferred”",
            "iCD never fastest",
            epochs.icd_never_fastest,
        ),
        (
            "iALS “becomes prohibitively slow when the embedding dimension is large”",
            "very slow",
            epochs.ials_very_slow,
        ),
    ],
}
_ROWS = [(where, *row) for where, rows in _SENTENCES.items() for row in rows]
CLAIMS = [Claim(number, *row) for number, row in enumerate(_ROWS, start=1)]

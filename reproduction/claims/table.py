"""Every quantitative sentence of the paper's abstract, evaluation and conclusion, and how it is judged."""

from dataclasses import asdict, dataclass, replace

from ..grid import IALS, IALSPP, ICD, PAPER_SOLVERS
from ..run import Run
from . import absolute, blocks, comparisons, convergence, dims, thresholds
from .absolute import ML20M, MSD, compares_with_earlier, on_all_of, takes_at_most
from .comparisons import converges_faster, converges_faster_at, faster, lead_grows
from .dims import ABOVE_100, ALL, ANY, AT_SMALL, AT_VERY_LARGE, NEAR_100, NEAR_1000, at
from .findings import Finding, Judge, both
from .leads import PAPER_SECONDS, convergence_lead, epoch_lead
from .quality import matches_published, same_quality
from .thresholds import ABOUT_AN_ORDER, FEW_MINUTES, ORDER, PAPER_EPOCHS, ROUGHLY, TWICE


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence of the paper, in its words or close to them, its value there, and how it is judged."""

    number: int
    where: str
    sentence: str
    paper: str
    judge: Judge


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a run says about a claim."""

    claim: Claim
    finding: Finding

    def as_dict(self) -> dict[str, object]:
        facts = {name: getattr(self.claim, name) for name in ("number", "where", "sentence", "paper")}
        return {**facts, **asdict(self.finding)}


def judge_claims(run: Run) -> list[Verdict]:
    """Judge all claims in the paper's order, by what was measured at d as large as the paper's."""
    judged = replace(
        run,
        timings=tuple(t for t in run.timings if t.task.configuration.dim >= thresholds.SMALLEST),
        trainings=tuple(t for t in run.trainings if t.task.configuration.dim >= thresholds.SMALLEST),
    )
    return [Verdict(claim, claim.judge(judged)) for claim in CLAIMS]


_much_faster = both(faster(IALSPP, ICD, TWICE, ALL), faster(IALSPP, IALS, TWICE, dims.ABOVE_100_TO_LARGE))

# fmt: off
_SENTENCES: dict[str, list[tuple[str, str, Judge]]] = {
    "abstract": [
        ("iALS has a “cubic runtime dependency on d”", "d³", comparisons.grows_as_formula(IALS)),
        ("iCD lowers the complexity “to quadratic in d”", "d²", comparisons.grows_as_formula(ICD)),
        ("iCD can be an order of magnitude slower than a careful iALS at d ≈ 100",
         "10x", faster(IALS, ICD, ORDER, NEAR_100)),
        ("iCD only performs better than iALS at d ≈ 1000",
         "d ≈ 1000", comparisons.icd_overtakes_ials_at(1000)),
        ("iALS++ is an order of magnitude faster than iCD, for small and large d",
         "10x", faster(IALSPP, ICD, ORDER, ALL)),
        ("iALS++ solves ML20M or MSD at d = 1000 “in a few minutes”",
         "a few minutes", takes_at_most(FEW_MINUTES, PAPER_EPOCHS, IALSPP, NEAR_1000, ML20M, MSD)),
    ],
    "evaluation": [
        ("Setup: MSD has 5 times more holdout users than ML20M",
         "5x", on_all_of(absolute.has_more_holdout_users, MSD)),
        ("Setup: the quality of iALS matches that of the study the hyperparameters are from (judged on "
         "MovieLens 1M, where a number is at hand)", "equal", matches_published),
        ("Figure 1: iALS++ with a moderate block size (64) is about an order of magnitude faster than iCD",
         "about 10x", faster(IALSPP, ICD, ABOUT_AN_ORDER, ALL, block=thresholds.PAPER_BLOCK)),
        ("Figure 1: the advantages of iALS++ over iALS increase with d",
         "increase", lead_grows(epoch_lead, IALSPP, IALS, ALL)),
        ("For d < 256, iALS is about an order of magnitude faster than iCD",
         "about 10x", faster(IALS, ICD, ABOUT_AN_ORDER, AT_SMALL)),
        ("For larger d the advantages disappear: iCD becomes faster than iALS at d ≈ 800",
         "d ≈ 800", comparisons.icd_overtakes_ials_at(800)),
        ("As the asymptotic analysis says, iCD has the better performance for large enough d",
         "iCD faster", faster(ICD, IALS, 1, dims.AT_LARGEST)),
        ("At smaller d, iALS is “clearly a better choice” than iCD",
         "iALS faster", faster(IALS, ICD, TWICE, AT_SMALL)),
        ("iALS++ is about an order of magnitude faster than iCD throughout all d",
         "about 10x", faster(IALSPP, ICD, ABOUT_AN_ORDER, ALL)),
        ("iCD and iALS++ have the same dependency on d", "the same", comparisons.icd_and_ialspp_grow_alike),
        ("For smaller d, the runtime of iALS++ is comparable to that of iALS",
         "comparable", faster(IALSPP, IALS, 1 / TWICE, AT_SMALL)),
        ("Each curve of runtime over block size has a U-shape", "U-shape", blocks.is_u_shaped),
        ("For all curves, a medium block size of around 64 works best", "64", blocks.is_best_around_64),
        ("The best block size is a hardware dependent constant: it does not depend on d",
         "one for all d", blocks.one_block_fits_all),
        ("Figure 2: solver and block size have “no noticeable effect on the final quality”",
         "none", same_quality(*PAPER_SOLVERS)),
        ("Final quality over block size: “the curves are mostly flat”, for all d and metrics",
         "flat", same_quality(*PAPER_SOLVERS)),
        ("Figure 3: solver and block size have no noticeable effect on convergence over epochs",
         "none", convergence.solvers_converge_alike),
        ("Figure 3: a good block size makes convergence in wall time much faster",
         "much faster", comparisons.good_block_is_much_faster),
        ("Over epochs, the curves of Recall@20 and Recall@50 look very similar to those of NDCG@100",
         "similar", convergence.metrics_converge_alike),
        ("The three algorithms have a very similar convergence behaviour",
         "very similar", convergence.solvers_converge_alike),
        ("They are well converged within 16 epochs", "16 epochs", convergence.is_settled),
        ("iCD converges slightly slower than iALS, and than iALS++ with a block size of about 64",
         "slightly", convergence.icd_is_slightly_slower),
        ("The faster epochs of iALS++ lead to a “much faster overall convergence”", "much faster",
         both(converges_faster(IALSPP, ICD, TWICE, ANY), converges_faster(IALSPP, IALS, TWICE, ABOVE_100))),
        ("At d = 128, iALS++ and iALS converge an order of magnitude faster than iCD", "10x",
         both(converges_faster_at(128, IALSPP, ICD, ORDER), converges_faster_at(128, IALS, ICD, ORDER))),
        ("At d = 128, when iCD has finished one epoch, iALS++ and iALS have already converged",
         "1 epoch of iCD", convergence.converges_within_one_epoch_of_icd),
        ("At d = 512, the advantages of iALS over iCD slowly vanish",
         "less than at d = 128", comparisons.lead_shrinks(IALS, ICD, 128, 512)),
        ("At d = 512, iALS++ is about an order of magnitude faster than iCD and much faster than iALS",
         "about 10x; much faster",
         both(converges_faster_at(512, IALSPP, ICD, ABOUT_AN_ORDER),
              converges_faster_at(512, IALSPP, IALS, TWICE))),
        ("At d = 2048, iALS++ is one order of magnitude faster than iCD and nearly two faster than iALS",
         "10x; nearly 100x",
         both(converges_faster_at(2048, IALSPP, ICD, ORDER),
              converges_faster_at(2048, IALSPP, IALS, thresholds.NEARLY_TWO_ORDERS))),
        ("A fully converged model of ML20M takes less than a minute at d = 128",
         "< 1 min", takes_at_most(60, PAPER_EPOCHS, IALSPP, at(128), ML20M)),
        ("... about 3 minutes at d = 512",
         "3 min", takes_at_most(TWICE * 180, PAPER_EPOCHS, IALSPP, at(512), ML20M)),
        ("... and about 15 minutes at d = 2048",
         "15 min", takes_at_most(TWICE * 900, PAPER_EPOCHS, IALSPP, at(2048), ML20M)),
        ("Figure 4: iALS++ converges in an order of magnitude less time than iCD",
         "10x", converges_faster(IALSPP, ICD, ORDER, ANY)),
        ("Figure 4: the advantages of iALS++ over iALS increase with d",
         "increase", lead_grows(convergence_lead, IALSPP, IALS, dims.TWO_OR_MORE)),
        ("Earlier data is comparable to ML20M: up to 2x fewer pairs, up to 2x more users and items",
         "2x", on_all_of(absolute.has_sizes_of_earlier, ML20M)),
        ("Their data is smaller than MSD in both",
         "smaller", on_all_of(absolute.is_larger_than_earlier, MSD)),
        ("At d ≈ 100, earlier studies had iCD about 10x faster than iALS (68 s and 572 s, 72 s and 1260 s); "
         "with vector processing it is not", "iALS faster", faster(IALS, ICD, 1, NEAR_100)),
        ("An epoch of iCD at d = 128 on ML20M takes 24 s",
         "24 s", takes_at_most(TWICE * PAPER_SECONDS[ICD], 1, ICD, at(128), ML20M)),
        ("An epoch of iALS at d = 128 on ML20M takes 2 s",
         "2 s", takes_at_most(TWICE * PAPER_SECONDS[IALS], 1, IALS, at(128), ML20M)),
        ("The times of iCD roughly match those of earlier studies (68 s and 72 s)",
         "24 s", compares_with_earlier(ICD, (68, 72), 1 / ROUGHLY, ROUGHLY)),
        ("iALS is more than 100x faster than in earlier studies (572 s and 1260 s)",
         "> 100x", compares_with_earlier(IALS, (572, 1260), thresholds.HUNDRED_TIMES, float("inf"))),
        ("iALS and iCD show more or less the same convergence speed, with very slight advantages for iALS",
         "slight", convergence.ials_is_slightly_faster),
        ("The final quality of iALS and iCD is mostly indistinguishable", "equal", same_quality(ICD, IALS)),
    ],
    "conclusion": [
        ("iALS shows an order of magnitude faster runtime than iCD for small d (d ≈ 100)",
         "10x", faster(IALS, ICD, ORDER, NEAR_100)),
        ("This advantage vanishes for larger d", "vanishes", comparisons.ials_lead_vanishes),
        ("iALS becomes very slow for large d (d ≫ 1000)",
         "very slow", faster(IALSPP, IALS, ORDER, AT_VERY_LARGE)),
        ("iALS++ shows an order of magnitude faster convergence than iCD, over small and large d",
         "10x", converges_faster(IALSPP, ICD, ORDER, ALL)),
        ("For small d, iALS++ is as fast as iALS", "as fast", faster(IALSPP, IALS, 1 / TWICE, AT_SMALL)),
        ("iALS++ has a large advantage over iALS as d increases",
         "increases", lead_grows(epoch_lead, IALSPP, IALS, ALL)),
        ("No undesirable side effects on final quality or convergence per epoch",
         "none", both(same_quality(*PAPER_SOLVERS), convergence.solvers_converge_alike)),
        ("Throughout, iALS++ is much faster than iALS and iCD (but for iALS at d ≈ 100: see the next)",
         "much faster", _much_faster),
        ("But for d ≈ 100, where iALS performs as well, iALS++ is clearly the better choice",
         "as fast; better", both(faster(IALSPP, IALS, 1 / TWICE, NEAR_100), _much_faster)),
        ("With vector processing, “iCD is a poor choice and iALS and iALS++ should be preferred”",
         "iCD never fastest", comparisons.icd_is_never_fastest),
        ("iALS “becomes prohibitively slow when the embedding dimension is large”",
         "very slow", faster(IALSPP, IALS, ORDER, AT_VERY_LARGE)),
    ],
}
# fmt: on
_ROWS = [(where, *row) for where, rows in _SENTENCES.items() for row in rows]
CLAIMS = [Claim(number, *row) for number, row in enumerate(_ROWS, start=1)]

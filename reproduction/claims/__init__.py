"""What the paper's abstract, evaluation and conclusion say in numbers, and whether it holds here."""

from .table import CLAIMS, Claim, Verdict, judge_claims
from .thresholds import THRESHOLDS

__all__ = ["CLAIMS", "THRESHOLDS", "Claim", "Verdict", "judge_claims"]

import math

import pytest

from ialspp.metrics import ndcg, recall


def test_recall_divides_by_what_could_be_found():
    assert recall(["a", "b", "c"], {"a", "c", "x", "y"}, k=2) == 1 / 2
    assert recall(["a", "b", "c"], {"c"}, k=3) == 1
    assert recall(["a", "b", "c"], {"c"}, k=2) == 0


@pytest.mark.parametrize("metric", [recall, ndcg])
def test_a_user_without_relevant_items_is_an_error(metric):
    with pytest.raises(ValueError, match="no item is relevant"):
        metric(["a"], set(), k=1)


def test_ndcg_discounts_by_rank_and_is_one_for_a_perfect_list():
    assert ndcg(["a", "b"], {"a", "b"}, k=2) == pytest.approx(1)
    assert ndcg(["x", "a"], {"a"}, k=2) == pytest.approx(1 / math.log2(3))
    assert ndcg(["x", "y", "a"], {"a"}, k=2) == 0
    assert ndcg(["a", "x", "b"], {"a", "b"}, k=3) == pytest.approx((1 + 0.5) / (1 + 1 / math.log2(3)))

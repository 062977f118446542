"""Rankings and explanations as values: slices, and numbers that json takes."""

import json

import numpy as np
import pytest
from support.models import fitted

from ialspp import Explanation, Ranking
from ialspp.data.csr import Csr
from ialspp.model.ranking import score_pairs


@pytest.fixture(scope="module")
def model():
    return fitted()


def test_a_slice_of_a_ranking_is_a_ranking_with_its_scores(model):
    ranking = model.recommend(model.users[0], 5)
    part = ranking[1:4]
    assert type(part) is Ranking
    assert part == list(ranking)[1:4]
    assert part.scores == ranking.scores[1:4]
    assert ranking[::-1].scores == ranking.scores[::-1]
    assert type(ranking[:0]) is Ranking
    assert ranking[:0].scores == []


def test_a_slice_of_an_explanation_keeps_the_score_it_explains(model):
    explanation = model.explain(model.users[0], model.items[0])
    part = explanation[:2]
    assert type(part) is Explanation
    assert part == list(explanation)[:2]
    assert part.contributions == explanation.contributions[:2]
    assert (part.score, part.rest) == (explanation.score, explanation.rest)
    assert type(explanation[0]) is tuple


def test_rankings_and_explanations_go_to_json(model):
    ranking = model.recommend(model.users[0], 5)
    explanation = model.explain(model.users[0], model.items[0])
    said = json.loads(json.dumps([ranking, ranking.scores, explanation, explanation.contributions]))
    assert said == [
        list(ranking),
        ranking.scores,
        [list(pair) for pair in explanation],
        [number for _, number in explanation],
    ]
    json.dumps([explanation.score, explanation.rest])


def test_no_users_named_is_everyone(model):
    everyone = model.recommend(k=3)
    assert model.recommend(None, 3) == everyone
    assert model.recommend(users=None, k=3) == everyone
    assert everyone.asked == list(model.users)


def test_scores_that_overflow_are_an_error():
    class Long:
        def epoch(self, problem):
            problem.users.factors[[0, 20]] = (
                1.5e19  # whose squares fit single precision, and their sum does not
            )
            problem.items.factors[:] = 1e-19
            return 0.0

    model = fitted(solver=Long(), epochs=1)
    assert model.recommend(model.users[0], 5).scores == pytest.approx([12.0] * 5)
    with pytest.raises(RuntimeError, match="scores overflow single precision"):
        model.similar_users(model.users[0], metric="dot")


@pytest.mark.parametrize("sign", [1, -1])
def test_scores_of_candidates_that_overflow_are_an_error(sign):
    pairs = Csr(np.array([0, 2]), np.array([0, 1], dtype=np.int32), 2)
    users, items = np.float32([[1e30, 1e30]]), np.float32([[1, 1], [1e30, sign * 1e30]])
    with pytest.raises(RuntimeError, match="scores overflow single precision"):
        score_pairs(users, pairs, items, 1)
    assert score_pairs(users, pairs, np.float32([[1, 1], [0, 2]]), 1).tolist() == pytest.approx([2e30, 2e30])

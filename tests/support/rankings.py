"""Metrics by their textbook definitions: one user, one ranked list, one loop at a time.

And recommenders of fixed vectors, of small whole numbers, so that every score is exact and many are equal.
"""

import math

import numpy as np
from hypothesis import strategies as st

from ialspp import Interactions
from ialspp.data.csr import Csr
from ialspp.split import HeldOut, Split

AT_K = ("recall", "capped_recall", "precision", "hit_rate", "ndcg", "map", "mrr", "novelty", "coverage")
TOLERANCE = 1e-12


class Fixed:
    """A recommender that is given its vectors; a stranger's is the sum of the tastes of the items given."""

    trained_on = None

    def __init__(self, users, items, tastes=None, threads=None):
        self.user_factors, self.item_factors = (np.array(side, dtype=np.float32) for side in (users, items))
        self.tastes = self.item_factors if tastes is None else np.array(tastes, dtype=np.float32)
        self.threads = threads

    def fit(self, data, progress=None):
        assert progress in (None, False)
        self.trained_on = data
        self.user_factors = self.user_factors[: data.n_users]
        return self

    def fold_in_rows(self, rows):
        vectors = [self.tastes[rows.columns_of(row)].sum(axis=0) for row in range(len(rows))]
        return np.array(vectors, dtype=np.float32).reshape(len(rows), self.tastes.shape[1])


def interactions(pairs, n_users, n_items):
    """Of users and items that are numbered by their rows."""
    return Interactions.from_arrays(
        user=[u for u, _ in pairs], item=[i for _, i in pairs], users=range(n_users), items=range(n_items)
    )


def csr(lists, n_columns):
    columns = [column for row in lists for column in sorted(row)]
    return Csr(np.cumsum([0, *map(len, lists)]), np.array(columns, dtype=np.int32), n_columns)


def split_of(given, wanted, n_items, *, train=None, candidates=None):
    """From a set of items for each user; strangers if `train` has other users than `given`."""
    known, asked = (
        interactions([(u, i) for u, row in enumerate(rows) for i in row], len(rows), n_items)
        for rows in (given, wanted)
    )
    ranked = None if candidates is None else csr(candidates, n_items)
    part = HeldOut(known, asked, train is not None, ranked)
    trained = (
        known
        if train is None
        else interactions([(u, i) for u, row in enumerate(train) for i in row], len(train), n_items)
    )
    return Split("by hand", trained, part, None, ("recall@2",))


@st.composite
def problems(draw, kind):
    """A recommender, and who is given and wants what; somebody wants something."""
    n_items, dim = draw(st.integers(1, 9)), draw(st.integers(1, 2))
    n_users, n_trained = draw(st.integers(1, 6)), draw(st.integers(1, 4))
    numbers = st.integers(-2, 2)
    vectors = {
        name: draw(st.lists(st.lists(numbers, min_size=dim, max_size=dim), min_size=n, max_size=n))
        for name, n in (("users", n_users), ("items", n_items), ("tastes", n_items))
    }
    kinds = st.lists(
        st.sampled_from(["given", "wanted", "ranked", "other"]), min_size=n_items, max_size=n_items
    )
    states = draw(
        st.lists(kinds, min_size=n_users, max_size=n_users).filter(
            lambda rows: any("wanted" in row for row in rows)
        )
    )
    of = {
        state: [{i for i, found in enumerate(row) if found == state} for row in states]
        for state in ("given", "wanted", "ranked")
    }
    options = {}
    if kind == "strangers":
        items = st.sets(st.integers(0, n_items - 1))
        options["train"] = draw(st.lists(items, min_size=n_trained, max_size=n_trained))
    if kind == "candidates":
        options["candidates"] = [a | b for a, b in zip(of["wanted"], of["ranked"], strict=True)]
    return Fixed(**vectors), split_of(of["given"], of["wanted"], n_items, **options)


def asked_about(part):
    return [user for user in range(len(part.wanted.users)) if len(part.wanted.by_user.columns_of(user))]


def dot(a, b):
    return sum(x * y for x, y in zip(a.tolist(), b.tolist(), strict=True))


def scores_of(model, part, user):
    """One score for each item, in exact arithmetic."""
    if part.unseen:
        vector = model.fold_in_rows(csr([part.given.by_user.columns_of(user).tolist()], part.given.n_items))[
            0
        ]
    else:
        vector = model.user_factors[user]
    return [dot(vector, item) for item in model.item_factors]


def ranked_for(model, part, user):
    """All items that could be recommended, best first, equal ones by row; and the scores of all."""
    scores = scores_of(model, part, user)
    if part.candidates is None:
        given = set(part.given.by_user.columns_of(user).tolist())
        items = [item for item in range(len(scores)) if item not in given]
    else:
        items = part.candidates.columns_of(user).tolist()
    return sorted(items, key=lambda item: (-scores[item], item)), scores


def hits(ranking, wanted, k):
    return sum(1 for item in ranking[:k] if item in wanted)


def recall(ranking, wanted, k):
    return hits(ranking, wanted, k) / len(wanted)


def capped_recall(ranking, wanted, k):
    return hits(ranking, wanted, k) / min(k, len(wanted))


def precision(ranking, wanted, k):
    return hits(ranking, wanted, k) / k


def hit_rate(ranking, wanted, k):
    return 1.0 if hits(ranking, wanted, k) else 0.0


def ndcg(ranking, wanted, k):
    gain = sum(1 / math.log2(rank + 1) for rank, item in enumerate(ranking[:k], 1) if item in wanted)
    return gain / sum(1 / math.log2(rank + 1) for rank in range(1, min(k, len(wanted)) + 1))


def average_precision(ranking, wanted, k):
    total = 0.0
    for rank, item in enumerate(ranking[:k], 1):
        if item in wanted:
            total += hits(ranking, wanted, rank) / rank
    return total / min(k, len(wanted))


def reciprocal_rank(ranking, wanted, k):
    for rank, item in enumerate(ranking[:k], 1):
        if item in wanted:
            return 1 / rank
    return 0.0


def auc(ranking, wanted, scores):
    """Every pair of a wanted and another item, one by one; 1 where there is no pair."""
    right = pairs = 0.0
    for good in wanted:
        for bad in ranking:
            if bad not in wanted:
                pairs += 1
                right += 1.0 if scores[good] > scores[bad] else 0.5 if scores[good] == scores[bad] else 0.0
    return right / pairs if pairs else 1.0


def novelty(ranking, train, k):
    bits = [-math.log2(max(len(train.by_item.columns_of(i)), 1) / train.n_users) for i in ranking[:k]]
    return sum(bits) / len(bits)


OF_ONE = {
    "recall": recall,
    "capped_recall": capped_recall,
    "precision": precision,
    "hit_rate": hit_rate,
    "ndcg": ndcg,
    "map": average_precision,
    "mrr": reciprocal_rank,
}


def expected(model, split, names):
    """{metric: its value for each user asked about}; of coverage the one number."""
    part = split.test
    values, shown = {name: [] for name in names}, {name: set() for name in names}
    for user in asked_about(part):
        ranking, scores = ranked_for(model, part, user)
        wanted = set(part.wanted.by_user.columns_of(user).tolist())
        for name in names:
            metric, k = parsed(name)
            if metric == "auc":
                values[name].append(auc(ranking, wanted, scores))
            elif metric == "novelty":
                values[name].append(novelty(ranking, split.train, k))
            elif metric == "coverage":
                shown[name].update(ranking[:k])
                values[name] = len(shown[name]) / split.train.n_items
            else:
                values[name].append(OF_ONE[metric](ranking, wanted, k))
    return values


def parsed(name):
    metric, _, k = name.partition("@")
    return metric, int(k or 0)

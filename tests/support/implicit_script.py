"""A script as people write them for implicit 0.7. The tests run it as it is, and with its import changed."""

import sys
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from implicit.als import AlternatingLeastSquares


def plays(seed=0, users=120, items=60):
    """Plays of two groups of listeners, as a CSR matrix."""
    rng = np.random.default_rng(seed)
    group = rng.integers(2, size=users)[:, None] == rng.integers(2, size=items)
    return sp.csr_matrix(rng.poisson(np.where(group, 0.6, 0.05)).astype(np.float32))


user_items = plays()
model = AlternatingLeastSquares(
    factors=2, regularization=5.0, alpha=2.0, iterations=40, random_state=42, num_threads=1
)
epochs = []
model.fit(user_items, show_progress=False, callback=lambda epoch, _, loss: epochs.append((epoch, loss)))

ids, scores = model.recommend(7, user_items[7], N=5)
userids = np.arange(30)
batch_ids, batch_scores = model.recommend(userids, user_items[userids], N=5, filter_items=[0, 1])
chosen_ids, _ = model.recommend(7, user_items[7], N=9, items=[3, 4, 50], filter_already_liked_items=False)
fresh_ids, _ = model.recommend(0, sp.csr_matrix(user_items[5]), N=5, recalculate_user=True)
item_ids, item_scores = model.similar_items(3, N=5)
user_ids, user_scores = model.similar_users([1, 2], N=3)
total, contributions, weights = model.explain(7, user_items, itemid=int(ids[0]), N=3)
again, _, _ = model.explain(7, user_items, int(ids[1]), user_weights=weights)
model.partial_fit_users(np.array([120]), user_items[[7]])
model.partial_fit_items([60], user_items.T.tocsr()[[3]])

path = str(Path(sys.argv[1]) / "model.npz")
model.save(path)
loaded = type(model).load(path)
loaded_ids, _ = loaded.recommend(7, user_items[7], N=5)

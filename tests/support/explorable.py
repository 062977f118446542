"""A small model with three tastes, to explore: items of one taste are alike."""

import numpy as np

from ialspp import ImplicitMF, Interactions, Objective
from support.forged import rewrite

TASTES = ["Sea", "Wood", "Fire"]
EACH = 40  # items of a taste
HOSTILE = [
    "</script><script>document.title='taken'</script>",
    "<img src=x onerror=\"document.title='taken'\">",
    "{{CONTENT}} & \"quotes\" 'and' \\u003c",
    "\u202eright to left\u2028line\u0000nul",
    "\ufffd half a pair",
    "A" * 3000,
    "   ",
    "\u00c9t\u00e9 \U0001f3ad",
]


def make_data(*, weighted=False, seed=5):
    """Users who mostly like items of one taste; item 7 has the id 1007."""
    rng = np.random.default_rng(seed)
    user, item = [], []
    for who in range(150):
        taste = who % len(TASTES)
        share = np.where(np.arange(len(TASTES) * EACH) // EACH == taste, 6.0, 1.0)
        fame = 1 / (1 + np.arange(len(share)) % EACH)
        chosen = rng.choice(len(share), 12, replace=False, p=share * fame / (share * fame).sum())
        user += [f"user {who}"] * len(chosen)
        item += (1000 + chosen).tolist()
    weight = rng.integers(1, 9, len(user)) if weighted else None
    return Interactions.from_arrays(user=user, item=item, weight=weight)


def item_names():
    return {1000 + k: f"{TASTES[k // EACH]} story {k % EACH}" for k in range(len(TASTES) * EACH)}


def make_model(data, **options):
    objective = Objective(unobserved_weight=0.2, regularization=0.01)
    return ImplicitMF(**{"dim": 12, "objective": objective, "epochs": 6, **options}).fit(data, progress=False)


def old_file(model, path):
    """A file without interactions of a version that did not keep the number of users of each item."""
    model.save(path, interactions=False)
    return rewrite(path, path.read_bytes(), "arrays/item_counts", None)

"""Small models to ask things of."""

import numpy as np
import pytest

from ialspp import IALS, ICD, IALSpp, ImplicitMF, Interactions, SpectralCG
from support.drawing import drawn

N_USERS, N_ITEMS, DIM = 40, 30, 8
ITEMS = [f"item-{i}" for i in range(N_ITEMS)]  # row order is not sorted order: "item-10" < "item-2"
SOLVERS = {
    "ials": IALS(),
    "icd": ICD(),
    "ials++": IALSpp(),
    "ials++ by block": IALSpp(block_size=3, sweep="block"),
    "ials++ by side": IALSpp(block_size=3, sweep="side"),
    "spectral": SpectralCG(),
    "spectral to the end": SpectralCG(tolerance=1e-5),
}
NUMBERS = [(), ("label",), ("weight",), ("label", "weight")]
each_solver = pytest.mark.parametrize("solver", SOLVERS.values(), ids=SOLVERS.keys())
properties = drawn(40)


def make_data(*, seed=0, n=400, numbers=("label", "weight"), user_id=int, users=N_USERS, items=ITEMS):
    """Random interactions; the last three users and the last two items have none."""
    rng = np.random.default_rng(seed)
    pairs = rng.choice((users - 3) * (len(items) - 2), n, replace=False)
    rows, columns = np.divmod(pairs, len(items) - 2)
    return Interactions.from_arrays(
        user=[user_id(u) for u in rows],
        item=[items[i] for i in columns],
        users=[user_id(u) for u in range(users)],
        items=items,
        **{name: rng.uniform(0.1, 3, n) for name in numbers},
    )


def make_model(dim=DIM, **settings):
    return ImplicitMF(dim, **{"solver": IALS(), "epochs": 3, "threads": 2, **settings})


def fitted(data=None, **settings):
    return make_model(**settings).fit(make_data() if data is None else data, progress=False)


def factors(model):
    return model.user_factors.copy(), model.item_factors.copy()


def same_bits(model, other):
    return all(a.tobytes() == b.tobytes() for a, b in zip(factors(model), factors(other), strict=True))


def is_finite(model):
    return all(np.isfinite(f).all() for f in factors(model))


def losses(model):
    return [record.loss for record in model.history]


def seen(data, user):
    row = data.users.rows([user])[0]
    start, stop = data.by_user.offsets[row : row + 2]
    return {data.items.ids[i] for i in data.by_user.columns[start:stop]}

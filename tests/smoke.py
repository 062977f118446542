"""Proves a wheel with only numpy beside it: import, train, recommend, write the explorer's page."""

import tempfile
from pathlib import Path

import numpy as np

import ialspp
from ialspp import IALS, ICD, IALSpp, ImplicitMF, Interactions, SpectralCG, _core

rng = np.random.default_rng(0)
data = Interactions.from_arrays(user=rng.integers(0, 300, 5000), item=rng.integers(0, 200, 5000))
for isa in _core.available_isas():
    _core.select_isa(isa)
    for solver in (IALS(), ICD(), IALSpp(), IALSpp(sweep="block"), SpectralCG()):
        model = ImplicitMF(dim=20, solver=solver, epochs=3).fit(data)
        losses = [record.loss for record in model.history]
        assert losses == sorted(losses, reverse=True), (isa, solver, losses)
        assert len(model.recommend([5, 7], k=4)[1]) == 4
with tempfile.TemporaryDirectory() as folder:
    ialspp.explorer.write_page(model, Path(folder) / "page.html")
print(f"ialspp {ialspp.__version__} works: {', '.join(_core.available_isas())}")

"""implicit 0.7.3 behind FastAPI, with the vectors of a model file of ours: python -m uvicorn serve_peer:app

MODEL names the file. IALSPP_PEER is "thread" (a plain function, which FastAPI runs in a thread) or "loop" (a
coroutine, which runs in the event loop).
"""

from __future__ import annotations

import os

import numpy as np
from fastapi import FastAPI
from implicit.cpu.als import AlternatingLeastSquares
from pydantic import BaseModel
from scipy.sparse import csr_matrix

from ialspp import ImplicitMF

model = ImplicitMF.load(os.environ["MODEL"])
als = AlternatingLeastSquares(factors=model.dim)
als.user_factors, als.item_factors = np.array(model.user_factors), np.array(model.item_factors)
assert model.trained_on is not None
rows = model.trained_on.by_user
seen = csr_matrix(
    (np.ones(len(rows.columns), dtype=np.float32), rows.columns, rows.offsets),
    shape=(len(rows), rows.n_columns),
)
row_of = {user: row for row, user in enumerate(model.users)}
ids = model.items.ids
app = FastAPI()


class Request(BaseModel):
    user: int
    k: int = 10


def recommended(request: Request) -> dict[str, list[dict[str, float]]]:
    row = row_of[request.user]
    items, scores = als.recommend(row, seen[row], N=request.k)
    return {
        "items": [
            {"id": item, "score": score}
            for item, score in zip(ids[items].tolist(), scores.tolist(), strict=True)
        ]
    }


async def recommended_in_loop(request: Request) -> dict[str, list[dict[str, float]]]:
    return recommended(request)


app.post("/v1/recommend")(recommended if os.environ["IALSPP_PEER"] == "thread" else recommended_in_loop)

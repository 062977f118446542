"""Indexes as a server sees them: usearch and faiss read the files themselves."""

import errno
import json
import math
import sys
from functools import cache

import faiss
import numpy as np
import polars as pl
import pytest
from support.exports import each_id, files_no_larger_than, model_of, names, posix, small
from support.models import DIM, N_ITEMS, N_USERS, factors, fitted, make_data
from usearch.index import Index

from ialspp import ImplicitMF, Interactions, NotFittedError
from ialspp.export import build_index
from ialspp.export.ann import ALONE

each_kind = pytest.mark.parametrize("kind", ["usearch", "faiss"])


@cache
def many_items(count=1500):
    """So many that a graph of very few edges does not find the best ones."""
    rng = np.random.default_rng(0)
    items = [f"item {i}" for i in range(count)]
    pairs = rng.choice(120 * count, 4 * count, replace=False)
    data = Interactions.from_arrays(
        user=pairs // count, item=[items[i] for i in pairs % count], users=range(120), items=items
    )
    return fitted(data, epochs=2)


def asked_directly(report, vectors, k):
    """Row numbers and scores as a server gets them, from the two files and nothing else."""
    metadata = pl.read_parquet_metadata(report.ids_path)
    queries = np.hstack([vectors, np.zeros((len(vectors), 1), dtype=np.float32)])
    assert queries.shape[1] == report.width
    if metadata["kind"] == "usearch":
        index = Index.restore(report.path)
        index.expansion_search = int(metadata["expansion_search"])
        found = index.search(queries, k)
        with np.errstate(invalid="ignore"):  # what was not found has any distance, NaN too
            return found.keys.astype(int), 1 - found.distances
    scores, rows = faiss.read_index(str(report.path)).search(queries, k)
    return rows, scores


@each_kind
def test_a_server_needs_the_two_files_only(tmp_path, kind):
    model = many_items()
    report = build_index(model, tmp_path / "items.index", kind=kind, expansion_search=1500)
    ids = pl.read_parquet(report.ids_path)
    assert ids["row"].to_list() == list(range(1500))
    rows, scores = asked_directly(report, model.user_factors, 10)
    wanted = model.recommend(k=10, exclude_seen=False)
    assert [[ids["id"][row] for row in of_user] for of_user in rows.tolist()] == wanted
    np.testing.assert_allclose(scores, wanted.scores, atol=1e-5)


@each_kind
def test_recall_is_what_a_plain_sort_says(tmp_path, kind):
    model = many_items()
    poor = {"connectivity": 2, "expansion_add": 1, "expansion_search": 1}
    report = build_index(model, tmp_path / "poor", kind=kind, k=7, queries=10**6, **poor)
    users, items = factors(model)
    best = np.argsort(-(users.astype(np.float64) @ items.T.astype(np.float64)), axis=1, kind="stable")[:, :7]
    rows, _ = asked_directly(report, users, 7)
    right = sum(len(set(a) & set(b)) for a, b in zip(best.tolist(), rows.tolist(), strict=True))
    assert report.queries == 120
    assert 0 < report.recall < 0.99
    assert report.recall == pytest.approx(right / (7 * 120))


@each_kind
@pytest.mark.parametrize("threads", [None, 2])
def test_the_default_settings_find_nearly_all(tmp_path, kind, threads):
    items = many_items(3 * ALONE)  # most of them are added by all threads
    report = build_index(items, tmp_path / "index", kind=kind, threads=threads, progress=False)
    assert report.recall > 0.98


@each_kind
def test_threads_begin_with_a_graph_that_one_thread_built(tmp_path, kind):
    built = {threads: tmp_path / f"{threads}" for threads in (None, 2)}
    for threads, path in built.items():
        build_index(many_items(), path, kind=kind, threads=threads, progress=False)
    assert built[2].read_bytes() == built[None].read_bytes()


@each_kind
def test_an_item_of_the_same_score_is_as_good(tmp_path, kind):
    twins = np.random.default_rng(0).random((60, 100)) < 0.1
    user, item = np.nonzero(np.hstack([twins, twins]))
    model = fitted(Interactions.from_arrays(user=user, item=item, users=range(60), items=range(200)))
    report = build_index(model, tmp_path / "index", kind=kind, k=1)
    rows, _ = asked_directly(report, model.user_factors, 1)
    best = model.recommend(k=1, exclude_seen=False).rows
    assert (rows % 100 == best % 100).all()
    assert (rows != best).any()
    assert report.recall == 1


@each_kind
def test_the_report_says_what_there_is(tmp_path, kind):
    path = tmp_path / "index"
    report = build_index(
        small(), path, kind=kind, k=50, connectivity=4, expansion_add=20, expansion_search=30
    )
    assert (report.kind, report.items, report.dim, report.width) == (kind, N_ITEMS, DIM, DIM + 1)
    assert (report.connectivity, report.expansion_add, report.expansion_search) == (4, 20, 30)
    assert report.queries == N_USERS - 3  # three users have nothing, so vectors of zeros
    assert report.k == N_ITEMS
    assert report.bytes == path.stat().st_size
    assert min(report.build_seconds, report.ms_per_query, report.exact_ms_per_query) > 0
    said = json.loads(json.dumps(report.as_dict()))
    assert (said["path"], said["ids_path"]) == (str(path), f"{path}.items.parquet")
    metadata = pl.read_parquet_metadata(report.ids_path)
    assert (metadata["kind"], metadata["dim"], metadata["expansion_search"]) == (kind, str(DIM), "30")
    assert metadata["query"] == "a user's vector and one 0 after it"
    assert names(tmp_path) == ["index", "index.items.parquet"]


@each_id
def test_an_index_knows_ids_of_every_kind(tmp_path, ids):
    report = build_index(model_of(ids), tmp_path / "index", kind="usearch")
    text = isinstance(ids[0], str) or max(ids) >= 2**64
    assert pl.read_parquet(report.ids_path)["id"].to_list() == [str(v) if text else v for v in ids]


@each_kind
def test_the_same_model_gives_the_same_bytes(tmp_path, kind):
    reports = [build_index(many_items(), tmp_path / name, kind=kind) for name in ("a", "b")]
    for which in ("path", "ids_path"):
        first, second = (getattr(report, which).read_bytes() for report in reports)
        assert first == second


def test_the_seed_draws_the_users(tmp_path):
    poor = {"connectivity": 2, "expansion_add": 1, "expansion_search": 1, "queries": 20}
    recalls = [
        build_index(many_items(), tmp_path / "index", kind="usearch", seed=seed, **poor).recall
        for seed in (0, 0, 1, 2, 3)
    ]
    assert recalls[0] == recalls[1]
    assert len(set(recalls)) > 1


@each_kind
def test_without_a_user_to_ask_with_recall_is_not_a_number(tmp_path, kind):
    data = Interactions.from_arrays(user=[0, 1], item=[0, 1], label=[0.0, 0.0])  # all vectors become zero
    report = build_index(fitted(data), tmp_path / "index", kind=kind)
    assert report.queries == 0
    assert math.isnan(report.recall)
    assert report.as_dict()["recall"] is None


def test_faiss_gets_its_number_of_threads_back(tmp_path):
    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(3)
    try:
        build_index(small(), tmp_path / "index", kind="faiss", threads=1)
        assert faiss.omp_get_max_threads() == 3
    finally:
        faiss.omp_set_num_threads(before)


@each_kind
def test_a_missing_package_is_named(tmp_path, kind, monkeypatch):
    for module in ("usearch", "usearch.index", "faiss"):
        monkeypatch.setitem(sys.modules, module, None)  # what import finds for a package that is not there
    needed = rf'^{kind} is required for this index: pip install "ialspp\[ann\]"$'
    with pytest.raises(ImportError, match=needed):
        build_index(small(), tmp_path / "index", kind=kind)
    assert names(tmp_path) == []


@posix
@each_kind
@pytest.mark.parametrize("size", [1000, 100_000])  # neither file can be written, the index cannot
def test_a_full_disk_leaves_the_old_index(tmp_path, kind, size):
    path = tmp_path / "index"
    build_index(small(), path, kind=kind)
    old = {file: file.read_bytes() for file in tmp_path.iterdir()}
    with files_no_larger_than(size), pytest.raises(OSError, match="too large") as refused:
        build_index(many_items(), path, kind=kind)
    assert refused.value.errno == errno.EFBIG
    assert refused.value.filename in map(str, old)
    assert {file: file.read_bytes() for file in tmp_path.iterdir()} == old


def test_an_index_that_can_be_written_waits_for_its_ids(tmp_path):
    path = tmp_path / "index"
    build_index(small(), path, kind="usearch")
    old = path.read_bytes()
    (tmp_path / "index.items.parquet").unlink()
    (tmp_path / "index.items.parquet").mkdir()
    with pytest.raises(IsADirectoryError, match=r"index\.items\.parquet"):
        build_index(many_items(), path, kind="usearch")
    assert path.read_bytes() == old


@pytest.mark.parametrize(
    ("wrong", "error", "said"),
    [
        ({"kind": "annoy"}, ValueError, 'kind must be "usearch" or "faiss", got \'annoy\''),
        ({"k": 0}, ValueError, "k must be at least 1, got 0"),
        ({"queries": 0}, ValueError, "queries must be at least 1, got 0"),
        ({"queries": 2.5}, TypeError, "queries must be an integer, got 2.5"),
        ({"threads": 0}, ValueError, "threads must be at least 1, got 0"),
        ({"seed": -1}, ValueError, "seed must be at least 0, got -1"),
        ({"connectivity": 1}, ValueError, "connectivity must be at least 2, got 1"),
        ({"expansion_add": 0}, ValueError, "expansion_add must be at least 1, got 0"),
        ({"expansion_search": "9"}, TypeError, "expansion_search must be an integer, got '9'"),
    ],
)
def test_a_wrong_setting_is_named(tmp_path, wrong, error, said):
    with pytest.raises(error, match=f"^{said}$"):
        build_index(small(), tmp_path / "index", **{"kind": "usearch", **wrong})
    assert names(tmp_path) == []


def test_an_index_needs_a_fitted_model_and_a_folder(tmp_path):
    with pytest.raises(NotFittedError, match="the model is not fitted"):
        build_index(ImplicitMF(), tmp_path / "index", kind="usearch")
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        build_index(small(), tmp_path / "none" / "index", kind="usearch")
    half = fitted(make_data(items=[*(f"i{n}" for n in range(29)), "\udc00"]))
    with pytest.raises(ValueError, match="the item id '\\\\udc00' has half of a surrogate pair"):
        build_index(half, tmp_path / "index", kind="usearch")
    assert names(tmp_path) == []


def test_progress_is_drawn_when_asked_for(tmp_path, capsys):
    build_index(small(), tmp_path / "index", kind="usearch", progress=True)
    assert "indexing" in capsys.readouterr().err

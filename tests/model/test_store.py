"""Model files: what comes back, and what format 1 is."""

import copy
import json
import os
import pickle
import subprocess
import sys
import zlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from support.models import NUMBERS, each_solver, fitted, same_bits
from support.stores import (
    IDS,
    again,
    answers,
    check_same,
    data_of,
    file_of,
    model_of_strings,
    names,
    posix,
    small,
)

from ialspp import (
    IALS,
    EpochRecord,
    IALSpp,
    ImplicitMF,
    Interactions,
    Objective,
    split,
    store,
)
from ialspp.evaluation import evaluate

# What comes back


@pytest.mark.parametrize("numbers", NUMBERS, ids=str)
@pytest.mark.parametrize("ids", IDS)
def test_ids_vectors_and_interactions_come_back(tmp_path, ids, numbers):
    model = fitted(data_of(ids, numbers=numbers))
    loaded = again(model, tmp_path / "model")
    check_same(model, loaded)
    assert answers(model) == answers(loaded)
    check_same(model, pickle.loads(pickle.dumps(loaded)))
    loaded.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "model").read_bytes()


@each_solver
def test_settings_and_history_come_back(tmp_path, solver):
    objective = Objective(unobserved_weight=np.float32(0.3), regularization=1, exponent=0.5)
    settings = {"objective": objective, "epochs": np.int64(2), "seed": 2**70}
    start = {"init": "random", "init_stddev": 0.7}
    model = fitted(data_of(), solver=solver, **settings, **start)
    check_same(model, again(model, tmp_path / "model"))
    model.set_params(solver=IALS(), epochs=0, dim=5)  # for the next fit; the file must tell it from the last
    check_same(model, again(model, tmp_path / "model"))


EXTRAS = {"plain": {}, "all weights 1": {"weight": [1, 1, 1]}, "times": {"time": [0, 1e9, 5.5]}}


@pytest.mark.parametrize("interactions", [True, False])
@pytest.mark.parametrize("extra", EXTRAS)
def test_a_loaded_model_gives_the_same_file(tmp_path, extra, interactions):
    data = Interactions.from_arrays(user=[1, 1, 2], item=["b", "a", "b"], **EXTRAS[extra])
    first, second = tmp_path / "first", tmp_path / "second"
    again(fitted(data, dim=2), first, interactions=interactions).save(second, interactions=interactions)
    assert store.info(second) == store.info(first)
    assert second.read_bytes() == first.read_bytes()


def test_a_file_does_not_depend_on_threads(tmp_path):
    files = set()
    for threads in (1, 2, 5):
        model = fitted(data_of(), solver=IALSpp(block_size=3), threads=threads)
        model.history = [replace(record, seconds=0.0) for record in model.history]
        model.save(tmp_path / "model")
        files.add((tmp_path / "model").read_bytes())
    assert len(files) == 1


def test_another_process_on_any_instruction_set_answers_alike(tmp_path, isa):
    path, copied = tmp_path / "model", tmp_path / "copy"
    path.write_bytes(file_of(model_of_strings))
    model = copy.deepcopy(model_of_strings())  # without what another instruction set has prepared
    assert answers(ImplicitMF.load(path, threads=3)) == answers(model)
    code = "import sys; from ialspp import ImplicitMF, _core; model = ImplicitMF.load(sys.argv[1])\n"
    code += "model.save(sys.argv[2]); best = model.recommend(k=5)\n"
    code += "print(_core.isa(), best.rows.tolist(), best.scores.tolist())"
    environment = {**os.environ, "IALSPP_ISA": isa, "IALSPP_THREADS": "3"}
    command = [sys.executable, "-c", code, str(path), str(copied)]
    printed = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
    best = model.recommend(k=5)
    assert printed == f"{isa} {best.rows.tolist()} {best.scores.tolist()}\n"
    assert copied.read_bytes() == path.read_bytes()


def test_a_loaded_model_goes_on_as_the_saved_one(tmp_path):
    parts = split.random(data_of(), test_share=0.3)
    model = fitted(parts.train)
    loaded = again(model, tmp_path / "model")
    assert evaluate(loaded, parts).as_dict() == evaluate(model, parts).as_dict()
    new = Interactions.from_arrays(user=["new", "z"], item=["é", "newer"], weight=[2, 3])
    for each in (model, loaded):
        assert each.update(new).new_items == 1
    check_same(model, loaded)
    check_same(model, again(loaded, tmp_path / "model"))
    assert answers(model) == answers(ImplicitMF.load(tmp_path / "model"))
    for each in (model, loaded):
        each.fit(each.trained_on, warm_start=True, progress=False)
    assert same_bits(model, loaded)
    assert len(loaded.history) == 6


@posix
def test_a_model_is_saved_over_the_file_it_is_mapped_from(tmp_path):
    path = tmp_path / "model"
    loaded = again(fitted(data_of()), path)
    before, other = answers(loaded), ImplicitMF.load(path)
    loaded.update(Interactions.from_arrays(user=["z"], item=["\n"]))
    loaded.save(path)
    assert answers(other) == before
    check_same(ImplicitMF.load(path), loaded)
    assert names(tmp_path) == ["model"]


def test_arrays_of_a_file_are_read_only(tmp_path):
    loaded = again(model_of_strings(), tmp_path / "model")
    for array in (loaded.user_factors, loaded.items.ids, loaded.trained_on.by_user.columns):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = array[1]


@pytest.mark.parametrize("name", ["with spaces.ialspp", "ünïcødé 模型 😀", "%s{0}'", ".hidden"])
@pytest.mark.parametrize("kind", [str, Path])
def test_any_name_will_do(tmp_path, name, kind):
    path = kind(tmp_path / name)
    store.save(small(), path)
    store.verify(path)
    assert same_bits(store.load(path), small())
    assert store.info(path)["bytes"] == Path(path).stat().st_size
    assert names(tmp_path) == [name]


def test_without_interactions_what_needs_them_says_so(tmp_path):
    model, path = fitted(data_of()), tmp_path / "model"
    loaded = again(model, path, interactions=False)
    assert same_bits(model, loaded)
    assert loaded.recommend("z", exclude_seen=False) == model.recommend("z", exclude_seen=False)
    assert loaded.recommend_for([["é"]]) == model.recommend_for([["é"]])
    assert loaded.similar_items("z") == model.similar_items("z")
    assert np.array_equal(loaded.fold_in([["z"]]), model.fold_in([["z"]]))
    assert np.array_equal(loaded.fold_in_items([["z"]]), model.fold_in_items([["z"]]))
    assert "12 users x 12 items" in repr(loaded)
    assert not store.info(path)["has_interactions"]
    assert store.info(path)["statistics"] == model.trained_on.statistics()
    needing = {
        "recommend with exclude_seen=True": lambda: loaded.recommend("z"),
        "explain": lambda: loaded.explain("z", "z"),
        "update": lambda: loaded.update(data_of()),
        "saving with interactions=True": lambda: loaded.save(path),
        "trained_on": lambda: loaded.trained_on,
    }
    for what, question in needing.items():
        with pytest.raises(ValueError, match=f"^{what} needs the interactions .* saved without"):
            question()
    for each in (model, loaded):
        each.fit(data_of(), warm_start=True, progress=False)
    assert same_bits(model, again(loaded, path))


def test_info_is_plain_and_complete(tmp_path):
    model = fitted(data_of("digits", numbers=("weight",)), solver=IALSpp(sweep="block"), seed=7)
    model.save(tmp_path / "model")
    info = store.info(tmp_path / "model")
    assert json.loads(json.dumps(info)) == info
    assert (info["format_version"], info["users"], info["items"], info["dim"]) == (1, 12, 12, 8)
    assert info["written_by"].startswith("ialspp ")
    assert info["settings"]["solver"] == {
        "name": "IALSpp",
        "block_size": "auto",
        "sweep": "block",
        "relaxation": 1.0,
    }
    assert info["settings"]["seed"] == 7
    assert info["fitted_solver"] == {**info["settings"]["solver"], "block_size": 8}
    assert info["ids"] == {"user": "digits", "item": "digits"}
    assert [record["loss"] for record in info["history"]] == [record.loss for record in model.history]
    assert info["statistics"] == model.trained_on.statistics()
    assert info["arrays"]["user_factors"] == {"dtype": "float32", "shape": [12, 8], "bytes": 384}
    assert info["has_interactions"]
    assert "interactions.labels" not in info["arrays"]


# The file of format 1, which golden/make.py made once; whatever changes, these numbers do not

GOLDEN = Path(__file__).parents[1] / "golden" / "model-v1.ialspp"
STATISTICS = {
    "users": 8,
    "items": 5,
    "pairs": 17,
    "density": 0.425,
    "pairs_per_user": {"least": 1, "median": 2, "most": 4},
    "pairs_per_item": {"least": 2, "median": 4, "most": 4},
    "label": {"least": -1.0, "most": 3.0},
    "weight": {"least": 0.25, "most": 8.0},
}


def test_format_1_is_read_to_the_last_bit():
    assert zlib.crc32(GOLDEN.read_bytes()) == 524468196, "the file must never be made again"
    model = ImplicitMF.load(GOLDEN, verify=True)
    assert list(model.users) == [
        "Zoë",
        "a\0b",
        "ann",
        "\u05e9\u05dc\u05d5\u05dd",
        "\ud800",
        "😀",
        "",
        "line\nbreak",
    ]
    assert list(model.items) == [3, 40, 500, 2**40, -7]
    assert model.user_factors[0].tolist() == [-1.122370719909668, 0.5939700603485107, -0.21532483398914337]
    assert model.user_factors[6].tolist() == [0.17237548530101776, 0.1812286525964737, -0.6731449961662292]
    assert model.item_factors[4].tolist() == [0.28134989738464355, 0.1198778748512268, -1.0707342624664307]
    assert zlib.crc32(model.user_factors.tobytes()) == 4005267657
    assert zlib.crc32(model.item_factors.tobytes()) == 1999331696
    data, rows = model.trained_on, model.trained_on.by_user
    assert rows.offsets.tolist() == [0, 2, 4, 8, 10, 12, 14, 16, 17]
    assert rows.columns.tolist() == [1, 3, 2, 3, 0, 1, 2, 4, 1, 2, 0, 2, 0, 3, 1, 4, 0]
    assert rows.labels.tolist() == [0.75, 1.5, 1, 1, 2, 1, 0.5, 2, 3, 1, 1, 0.125, -1, 1, 0.5, 1, 1]
    assert rows.weights.tolist() == [8, 1, 2.5, 1, 0.25, 1, 2, 1, 1.5, 1, 1, 1, 1, 0.75, 1, 2, 1]
    assert data.weighted
    assert data.statistics() == STATISTICS


def test_format_1_keeps_settings_and_history():
    model = ImplicitMF.load(GOLDEN)
    solver = IALSpp(block_size=2, sweep="block")
    objective = Objective(unobserved_weight=0.25, regularization=0.0625, exponent=0.5)
    settings = {"dim": 3, "epochs": 4, "init": "random", "init_stddev": 0.375, "seed": 11, "threads": None}
    assert model.get_params(deep=False) == {**settings, "solver": solver, "objective": objective}
    assert model.fitted_solver == solver
    parts = 2.2521978748570026, 4.321389963835233, 3.174380355076269
    assert model.history[0] == EpochRecord(1, 9.747968193768504, *parts, 0.011145882999699097)
    losses = [9.747968193768504, 7.385692688411303, 7.021782470009898, 6.849810901949243]
    assert [(record.epoch, record.loss) for record in model.history] == list(enumerate(losses, 1))
    info = store.info(GOLDEN)
    assert (info["format_version"], info["written_by"], info["dim"]) == (1, "ialspp 0.1.0", 3)
    assert info["statistics"] == STATISTICS
    assert info["ids"] == {"user": "string", "item": "int64"}


@pytest.mark.usefixtures("isa")
def test_format_1_answers_as_ever():
    model = ImplicitMF.load(GOLDEN)
    best = model.recommend(k=2)
    assert best == [[500, -7], [-7, 40], [2**40], [-7, 2**40], [-7, 40], [500, 40], [3, 500], [-7, 500]]
    assert best.scores[6] == pytest.approx([0.60488945, 0.24802437], abs=1e-6)
    assert [model.recommend(user, 2) for user in model.users] == best
    assert model.similar_items(-7, 2) == [3, 500]
    assert model.similar_users("\ud800", 2) == ["line\nbreak", ""]
    assert list(map(list, zip(*model.explain("ann", 2**40), strict=True))) == [
        [500, 40, 3, -7],
        pytest.approx([0.41639364, -0.09844787, -0.10588350, -0.39798893], abs=1e-6),
    ]
    assert model.fold_in([[40, -7]], labels=[[0.5, 1]], weights=[[1, 2]])[0] == pytest.approx(
        model.user_factors[6], abs=1e-6
    )

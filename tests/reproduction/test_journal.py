"""The file of measurements: a line for each, kept at once; what is not whole or of another run."""

import json
from dataclasses import fields, replace

import pytest
from support.made_up_runs import MACHINE, ML20M, SETTINGS, made_up

from reproduction.grid import Grid
from reproduction.journal import FILE, Journal, read_run
from reproduction.run import Data, Machine, Settings

DAY = "2026-01-02"
COMMAND = "make reproduce 'ARGS=--data ml20m'"
SMALL = made_up(dims=(8, 16), seeds=1, rounds=2, epochs=3)
FIELDS = [(part, field.name) for part in (Data, Settings, Machine) for field in fields(part)]


def opened(folder, about=SMALL, date=DAY):
    return Journal(folder, about.data, about.settings, about.machine, date)


@pytest.fixture(scope="module")
def content(tmp_path_factory):
    """A run's file, as measuring left it."""
    journal = opened(tmp_path_factory.mktemp("kept"))
    journal.plan(SMALL.grids[0], COMMAND)
    for measured in SMALL.measurements:
        journal.add(measured)
    return journal.path.read_bytes()


@pytest.fixture
def file(content, tmp_path):
    (tmp_path / FILE).write_bytes(content)
    return tmp_path / FILE


# The file


def test_a_run_comes_back_to_the_bit(file, tmp_path):
    wanted = replace(SMALL, commands=(COMMAND,))
    assert read_run(tmp_path) == read_run(file) == wanted


def test_every_line_is_json_and_the_first_says_what_it_is_of(file):
    head, *lines = map(json.loads, file.read_text(encoding="utf-8").splitlines())
    assert head["kind"] == "run"
    assert head["data"]["interactions"] == ML20M.interactions
    assert head["settings"]["regularization"] == SETTINGS.regularization
    assert head["machine"]["cpu"] == MACHINE.cpu
    assert [line["kind"] for line in lines].count("timing") == len(SMALL.timings)
    assert [line["kind"] for line in lines].count("training") == len(SMALL.trainings)


def test_a_measurement_is_in_the_file_at_once(tmp_path):
    journal = opened(tmp_path)
    journal.plan(SMALL.grids[0], COMMAND)
    for number, measured in enumerate(SMALL.measurements, start=1):
        journal.add(measured)
        assert len(read_run(tmp_path).measurements) == number


def test_opening_a_file_again_changes_nothing(file, tmp_path):
    before = file.read_bytes()
    journal = opened(tmp_path, date="2030-12-24")
    journal.plan(SMALL.grids[0], COMMAND)
    assert file.read_bytes() == before
    assert journal.run().date == DAY


def test_commands_and_grids_are_kept_once_each(tmp_path):
    wider = Grid.of((8, 16, 32), (), 2, 2)
    for grid, command in [(SMALL.grids[0], "a"), (wider, "b"), (SMALL.grids[0], "a")]:
        opened(tmp_path).plan(grid, command)
    found = read_run(tmp_path)
    assert (found.commands, found.grids) == (("a", "b"), (SMALL.grids[0], wider))


@pytest.mark.parametrize("name", ["'größe 日本\n.csv'", "caf\udce9.csv"], ids=["any language", "not UTF-8"])
def test_a_command_may_name_any_file(name, tmp_path):
    opened(tmp_path).plan(SMALL.grids[0], f"make reproduce ARGS={name}")
    found = read_run(tmp_path)
    assert found.grids == SMALL.grids
    assert len(found.commands) == 1
    assert found.commands[0].startswith("make reproduce ARGS=")


def test_where_the_same_was_measured_twice_one_counts(file, tmp_path):
    opened(tmp_path).add(replace(SMALL.timings[0], seconds=123.0))
    opened(tmp_path).add(replace(SMALL.trainings[0], evaluating=123.0))
    found = read_run(file)
    assert sorted(map(str, found.measurements)) == sorted(map(str, SMALL.measurements))


# A file that is not whole


def test_a_cut_last_line_is_dropped_and_measured_again(file, tmp_path):
    whole = file.read_bytes()
    start = whole[:-1].rfind(b"\n") + 1
    for cut in [*range(start + 1, len(whole), 29), len(whole) - 1]:
        file.write_bytes(whole[:cut])
        assert read_run(file).trainings == SMALL.trainings[:-1]
        journal = opened(tmp_path)
        assert file.read_bytes() == whole[:start]
        journal.add(SMALL.trainings[-1])
        assert file.read_bytes() == whole


def test_a_head_that_was_cut_is_an_error(file):
    head = file.read_bytes().partition(b"\n")[0]
    for content in (b"", head[: len(head) // 2], head):
        refused_and_unchanged(file, content, "first line", "format 1")


def refused_and_unchanged(file, content, *words):
    """Neither opened nor read, with an error that names the file and has these words."""
    file.write_bytes(content)
    for attempt in (lambda: opened(file.parent), lambda: read_run(file)):
        with pytest.raises(ValueError, match=FILE) as error:
            attempt()
        assert str(file) in str(error.value)
        assert all(word in str(error.value) for word in words), (words, str(error.value))
    assert file.read_bytes() == content


@pytest.mark.parametrize("garbage", [b"{", b"\xff\xfe\x00", b"[1, 2]", b"{}", b"null", b""])
def test_garbage_in_the_middle_is_named_with_its_line(garbage, file):
    lines = file.read_bytes().splitlines()
    lines[4] = garbage
    refused_and_unchanged(file, b"\n".join(lines) + b"\n", "line 5")


@pytest.mark.parametrize(
    ("number", "change"),
    [
        (3, {"kind": "speed"}),
        (3, {"seconds": "fast"}),
        (3, {"dim": None}),
        (2, {"dims": 8}),
        (-1, {"metrics": 3}),
        (-1, {"seconds": None}),
    ],
)
def test_a_line_with_other_values_is_named(number, change, file):
    lines = list(map(json.loads, file.read_bytes().splitlines()))
    number = number if number > 0 else len(lines)
    lines[number - 1] |= change
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    with pytest.raises(ValueError, match=f"line {number}.*format 1") as error:
        read_run(file)
    assert str(file) in str(error.value)


@pytest.mark.parametrize(
    "head",
    [
        {"kind": "run", "format": 2},
        {"kind": "run"},
        {"kind": "run", "format": 1},
        {"kind": "run", "format": 1, "data": {}, "settings": {}, "machine": {}, "date": DAY},
        {"kind": "timing", "format": 1},
    ],
)
def test_a_head_of_another_format_is_an_error(head, tmp_path):
    refused_and_unchanged(tmp_path / FILE, json.dumps(head).encode() + b"\n")


def test_a_file_of_somebody_else_stays_as_it_is(tmp_path):
    refused_and_unchanged(tmp_path / FILE, b'{"mine": 1}\n{"mine": 2}')


# A file of something else


def changed(part, name):
    """Another value of the same kind."""
    value = getattr(part, name)
    more = {str: "x", tuple: ("x",)}.get(type(value), 1)
    return replace(part, **{name: value + more})


@pytest.mark.parametrize(("part", "name"), FIELDS, ids=[f"{part.__name__}-{name}" for part, name in FIELDS])
def test_measurements_of_different_things_are_not_mixed(part, name, file, tmp_path):
    before = file.read_bytes()
    field = part.__name__.lower()
    other = replace(SMALL, **{field: changed(getattr(SMALL, field), name)})
    with pytest.raises(ValueError, match="--out") as error:
        opened(tmp_path, other)
    assert str(file) in str(error.value)
    assert f"{field} {name.replace('_', ' ')}" in str(error.value)
    assert file.read_bytes() == before


def test_not_even_a_cut_line_of_something_else_is_dropped(file, tmp_path):
    cut = file.read_bytes()[:-9]
    file.write_bytes(cut)
    with pytest.raises(ValueError, match="data name"):
        opened(tmp_path, replace(SMALL, data=replace(ML20M, name="other")))
    assert file.read_bytes() == cut


def test_a_folder_without_measurements_is_an_error(tmp_path):
    (tmp_path / "folder").mkdir()
    for path in (tmp_path / "folder", tmp_path / "nowhere", tmp_path / "nothing.jsonl"):
        with pytest.raises(FileNotFoundError, match=FILE) as error:
            read_run(path)
        assert str(path) in str(error.value)

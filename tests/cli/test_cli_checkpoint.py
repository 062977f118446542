"""ialspp fit --checkpoint and --resume: interrupted anywhere, the fit goes on, and gives the same file."""

import json
import os
import signal
import subprocess
import sys
import textwrap

import pytest
from support.checkpoints import interrupted_halves
from support.commands import (
    COLUMNS,
    answer,
    contents,
    environment,
    ialspp,
    ialspp_process,
    refuses,
    write_log,
)
from support.exports import files_no_larger_than
from support.models import same_bits
from support.processes import PATIENCE, wait_until
from support.stores import posix
from support.terminal import PIPES, start

from ialspp import ImplicitMF, Interactions
from ialspp.model.checkpoint import Checkpoint
from ialspp.model.checkpointer import Checkpointer
from ialspp.model.history import MOST_EPOCHS

EPOCHS = 6
FIT = ["fit", "log.csv", *COLUMNS, "--dim", "4", "--epochs", EPOCHS]
NAMES = {signal.SIGINT: ("interrupted", 130), signal.SIGTERM: ("terminated", 143)}


@pytest.fixture
def folder(tmp_path):
    """A folder with data alone."""
    write_log(tmp_path / "log.csv")
    return tmp_path


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The model of a fit that nobody interrupts."""
    folder = tmp_path_factory.mktemp("whole")
    write_log(folder / "log.csv")
    answer(*FIT, "-o", "m.ialspp", cwd=folder)
    return ImplicitMF.load(folder / "m.ialspp")


def interrupted(monkeypatch, *arguments, at, by=signal.SIGINT, **options):
    """Run the command in this process, which gets a signal when an epoch has ended."""
    keep = Checkpointer.keep

    def keep_and_interrupt(checkpointer, users, items, history):
        keep(checkpointer, users, items, history)
        if len(history) == at:
            signal.raise_signal(by)

    with monkeypatch.context() as patch:
        patch.setattr(Checkpointer, "keep", keep_and_interrupt)
        return ialspp(*arguments, **options)


def files(folder):
    return sorted(path.name for path in folder.iterdir())


@posix
@pytest.mark.parametrize("by", NAMES, ids=["Ctrl-C", "SIGTERM"])
@pytest.mark.parametrize("at", [1, 3, EPOCHS])
def test_an_interrupted_fit_says_how_to_go_on_and_goes_on(folder, whole, monkeypatch, by, at):
    options = ["--checkpoint", "my check.point", "-o", "m.ialspp"]
    done = interrupted(monkeypatch, *FIT, *options, at=at, by=by, cwd=folder)
    word, code = NAMES[by]
    said = f"ialspp: {word}: my check.point keeps epoch {at} of {EPOCHS}; go on with: "
    assert (done.returncode, done.stdout) == (code, "")
    assert done.stderr == f"{said}ialspp fit --resume 'my check.point'\n"
    assert files(folder) == ["log.csv", "my check.point"]
    assert ialspp("fit", "--resume", "my check.point", cwd=folder).returncode == 0
    assert files(folder) == ["log.csv", "m.ialspp"]
    assert same_bits(ImplicitMF.load(folder / "m.ialspp"), whole)


@posix
def test_half_an_epoch_is_kept_and_goes_on(folder, whole, monkeypatch):
    epochs = interrupted_halves(monkeypatch)
    epochs[:] = [3]
    done = ialspp(*FIT, "--checkpoint", "c", "--every", "0.5", "-o", "m.ialspp", cwd=folder)
    said = f"ialspp: interrupted: c keeps epoch 2 of {EPOCHS}, and half of the next; go on with: "
    assert (done.returncode, done.stdout, done.stderr) == (130, "", f"{said}ialspp fit --resume c\n")
    epochs.clear()
    assert ialspp("fit", "--resume", "c", cwd=folder).returncode == 0
    assert same_bits(ImplicitMF.load(folder / "m.ialspp"), whole)


@posix
def test_a_resumed_fit_reports_as_any_other(folder, tmp_path_factory, monkeypatch):
    """Of the whole fit, in its first command's words, from another folder."""
    first = [*FIT, "--min-user", "2", "--until", "1e-9", "--no-interactions", "--header"]
    facts = answer(*first, "-o", "whole.ialspp", cwd=folder)
    options = ["--runs", "runs", "-o", "m.ialspp", "--checkpoint", "c", "--every", "2"]
    assert interrupted(monkeypatch, *first, *options, at=3, cwd=folder).returncode == 130
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    resumed = answer("fit", "--resume", folder / "c", cwd=elsewhere)
    assert files(elsewhere) == []
    assert files(folder) == ["log.csv", "m.ialspp", "runs", "whole.ialspp"]
    line = json.loads((folder / "runs" / "runs.jsonl").read_text())
    assert (line["command"], line["history"]) == ("fit", resumed["history"])
    for name in ("data", "settings", "interactions"):
        assert resumed[name] == facts[name]
    assert resumed["bytes"] == (folder / "m.ialspp").stat().st_size
    assert [epoch["loss"] for epoch in resumed["history"]] == [epoch["loss"] for epoch in facts["history"]]
    assert resumed["source"] == {**facts["source"], "source": str(folder / "log.csv")}


@posix
def test_options_of_every_kind_are_kept(folder, monkeypatch):
    """Numbers, words, switches, positions of columns, options of a file; those that may change do."""
    (folder / "o.toml").write_text('dim = 3\n[fit]\nsolver = "ials++"\nblock_size = 2\nmin_item = 3\n')
    first = ["fit", "l*.csv", *COLUMNS, "--label", "stars", "--where", "stars > 1", "--config", "o.toml"]
    first += ["--init", "random", "--init-stddev", "0.25", "--seed", str(2**70), "--epochs", "5"]
    first += ["--relaxation", "1.25"]
    answer(*first, "-o", "whole.ialspp", cwd=folder)
    options = ["--checkpoint", "c", "-o", "m.ialspp", "--threads", "2"]
    assert interrupted(monkeypatch, *first, *options, at=2, cwd=folder).returncode == 130
    note = Checkpoint.read(folder / "c").job.note
    assert (note["source"], note["out"]) == (str(folder / "l*.csv"), str(folder / "m.ialspp"))
    (folder / "o.toml").unlink()
    new = folder / "new"
    new.mkdir()
    done = answer("fit", "--resume", "../c", "-o", "n.ialspp", "--threads", "1", "--runs", "r", cwd=new)
    assert (done["settings"]["dim"], done["settings"]["threads"]) == (3, 1)
    assert files(new) == ["n.ialspp", "r"]
    found = ImplicitMF.load(new / "n.ialspp")
    expected = ImplicitMF.load(folder / "whole.ialspp")
    assert same_bits(found, expected)
    assert found.get_params() == expected.get_params()


@posix
def test_positions_of_columns_are_kept(folder, monkeypatch):
    (folder / "plain.txt").write_text("".join((folder / "log.csv").read_text().splitlines(keepends=True)[1:]))
    first = ["fit", "plain.txt", "--user", "0", "--item", "1", "--separator", ",", "--dim", "3"]
    answer(*first, "-o", "whole.ialspp", cwd=folder)
    interrupted(monkeypatch, *first, "--checkpoint", "c", "-o", "m.ialspp", at=2, cwd=folder)
    answer("fit", "--resume", "c", cwd=folder)
    assert same_bits(ImplicitMF.load(folder / "m.ialspp"), ImplicitMF.load(folder / "whole.ialspp"))


@posix
def test_a_resumed_fit_can_be_interrupted_again(folder, whole, monkeypatch):
    interrupted(monkeypatch, *FIT, "--checkpoint", "c", "-o", "m", at=1, cwd=folder)
    for at in (2, 4):
        done = interrupted(monkeypatch, "fit", "--resume", "c", at=at, cwd=folder)
        refuses(f"interrupted: c keeps epoch {at} of 6; go on with: ialspp fit --resume c", code=130)(done)
    done = interrupted(monkeypatch, "fit", "--resume", "c", at=5, by=signal.SIGTERM, cwd=folder)
    refuses("terminated: c keeps epoch 5 of 6", code=143)(done)
    answer("fit", "--resume", "c", cwd=folder)
    assert same_bits(ImplicitMF.load(folder / "m"), whole)


@posix
def test_an_interrupt_while_the_model_is_saved(folder, whole, monkeypatch):
    save = ImplicitMF.save

    def interrupted_save(*_, **__):
        monkeypatch.setattr(ImplicitMF, "save", save)
        signal.raise_signal(signal.SIGTERM)

    monkeypatch.setattr(ImplicitMF, "save", interrupted_save)
    done = ialspp(*FIT, "--checkpoint", "c", "-o", "m", cwd=folder)
    refuses("terminated: c keeps epoch 6 of 6, the last; go on with: ialspp fit --resume c", code=143)(done)
    assert len(answer("fit", "--resume", "c", cwd=folder)["history"]) == EPOCHS
    assert same_bits(ImplicitMF.load(folder / "m"), whole)


@posix
@pytest.mark.parametrize("there_is_one", [False, True], ids=["no checkpoint", "one of a finished fit"])
def test_an_interrupt_before_the_first_epoch_promises_nothing(folder, monkeypatch, there_is_one):
    if there_is_one:
        data = Interactions.from_arrays(user=[1, 2], item=[1, 2])
        ImplicitMF(2).fit(data, checkpoint=folder / "c", progress=False)
    before = contents(folder)

    def interrupt(*_, **__):
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(Interactions, "read", interrupt)
    done = ialspp(*FIT, "--checkpoint", "c", "-o", "m", cwd=folder)
    refuses("interrupted: no epoch has ended, so c does not keep one", code=130)(done)
    assert contents(folder) == before


# Real processes


@posix
@pytest.mark.parametrize("by", NAMES, ids=["Ctrl-C", "SIGTERM"])
def test_a_signal_from_outside_keeps_the_last_epoch(folder, by):
    options = ["--epochs", str(MOST_EPOCHS), "--checkpoint", "c", "-o", "never"]
    child = start(*FIT[:-2], *options, cwd=folder, **PIPES)
    wait_until(lambda: (folder / "c").exists() or child.poll() is not None)
    child.send_signal(by)
    out, err = child.communicate(timeout=PATIENCE)
    word, code = NAMES[by]
    found, state = Checkpoint.open(folder / "c")
    epochs = len(found.history)
    said = f"c keeps epoch {epochs} of {MOST_EPOCHS}; go on with: ialspp fit --resume c"
    assert (child.returncode, out, err) == (code, "", f"ialspp: {word}: {said}\n")
    assert files(folder) == ["c", "log.csv"]
    answer(*FIT[:-1], epochs, "-o", "m", cwd=folder)
    model = ImplicitMF.load(folder / "m")
    for kept, expected in zip(state.factors, (model.user_factors, model.item_factors), strict=True):
        assert kept.tobytes() == expected.tobytes()


KILLED = """
import os, signal, sys
from ialspp.cli import main
from ialspp.model.checkpointer import Checkpointer

keep, at = Checkpointer.keep, int(sys.argv.pop(1))

def keep_and_die(checkpointer, users, items, history):
    keep(checkpointer, users, items, history)
    if len(history) == at:
        os.kill(os.getpid(), signal.SIGKILL)

Checkpointer.keep = keep_and_die
main()
"""


def killed(folder, at, *arguments):
    code = [sys.executable, "-c", textwrap.dedent(KILLED), at, *arguments]
    done = subprocess.run(list(map(str, code)), cwd=folder, env=environment(), timeout=PATIENCE)
    assert done.returncode == -signal.SIGKILL


@posix
def test_kills_while_a_checkpoint_is_being_written(folder, whole):
    """The file of the epoch before is whole, or that of this epoch; the next write sweeps what is left."""
    killed(folder, 2, *FIT, "--checkpoint", "c", "-o", "m")
    assert len(Checkpoint.read(folder / "c").history) in (1, 2)
    killed(folder, 4, "fit", "--resume", "c")
    assert len(Checkpoint.read(folder / "c").history) in (3, 4)
    answer("fit", "--resume", "c", cwd=folder)
    assert files(folder) == ["log.csv", "m"]
    assert same_bits(ImplicitMF.load(folder / "m"), whole)


def test_a_process_of_its_own(folder, whole):
    """The installed command, without a terminal."""
    done = ialspp_process(*map(str, FIT), "--checkpoint", "c", "-o", "m", cwd=folder)
    assert (done.returncode, files(folder)) == (0, ["log.csv", "m"])
    assert same_bits(ImplicitMF.load(folder / "m"), whole)


# What is refused


@pytest.fixture(name="unfinished")
def folder_with_a_checkpoint(folder, monkeypatch):
    interrupted(monkeypatch, *FIT, "--checkpoint", "c", "-o", "m", at=2, cwd=folder)
    return folder


OTHER_OPTIONS = [
    (["--dim", "5"], "--dim was 4, got 5"),
    (["--epochs", "9"], "--epochs was 6, got 9"),
    (["--until", "0.1"], "--until was None, got 0.1"),
    (["--solver", "ials"], "--solver was 'spectral', got 'ials'"),
    (["--precision", "single"], "--precision was None, got 'single'"),
    (["--user", "what"], "--user was 'who', got 'what'"),
    (["--min-user", "3"], "--min-user was 0, got 3"),
    (["--no-interactions"], "--no-interactions was False, got True"),
    (["--seed", "1"], "--seed was 0, got 1"),
    (["--checkpoint", "d"], "leave out --checkpoint and --every"),
    (["--every", "2"], "leave out --checkpoint and --every"),
    (["-o", "c"], "--out must not be the file of the checkpoint, c"),
    (["-o", "none/m"], "there is no folder"),
    (["--user", "who", "--dim", "4", "--min-item", "1", "--seed", "2"], "--seed was 0, got 2"),
]


@posix
@pytest.mark.parametrize(("options", "said"), OTHER_OPTIONS, ids=[" ".join(o) for o, _ in OTHER_OPTIONS])
def test_other_options_are_refused(unfinished, options, said):
    before = contents(unfinished)
    refuses(said)(ialspp("fit", "--resume", "c", *options, cwd=unfinished))
    assert contents(unfinished) == before


@posix
def test_the_same_options_again_are_fine(unfinished, whole):
    answer(*FIT, "-o", "m", "--resume", "c", cwd=unfinished)
    assert same_bits(ImplicitMF.load(unfinished / "m"), whole)


@posix
def test_options_of_a_file_that_differ_are_refused(unfinished):
    (unfinished / "o.toml").write_text("dim = 7\n")
    for order in (["--resume", "c", "--config", "o.toml"], ["--config", "o.toml", "--resume", "c"]):
        done = ialspp("fit", *order, cwd=unfinished)
        if done.returncode == 2:
            refuses("--dim was 4, got 7")(done)
        else:  # what was kept came later, and wins
            assert ImplicitMF.load(unfinished / "m").dim == 4


@posix
def test_other_data_is_refused(unfinished):
    write_log(unfinished / "log.csv", seed=1)
    before = contents(unfinished)
    said = "c belongs to a fit on other data", "a fit goes on with the data that it was begun with"
    refuses(*said)(ialspp("fit", "--resume", "c", cwd=unfinished))
    write_log(unfinished / "more.csv", users=61)
    said = "60 users are required, got 61, 720 pairs are required, got 732"
    refuses(said)(ialspp("fit", "more.csv", "--resume", "c", cwd=unfinished))
    (unfinished / "more.csv").unlink()
    assert contents(unfinished) == before


@posix
def test_the_data_may_have_moved(unfinished, whole):
    (unfinished / "log.csv").rename(unfinished / "moved.csv")
    refuses("log.csv: no such file")(ialspp("fit", "--resume", "c", cwd=unfinished))
    answer("fit", "moved.csv", "--resume", "c", cwd=unfinished)
    assert same_bits(ImplicitMF.load(unfinished / "m"), whole)


@posix
def test_an_unfinished_fit_is_not_overwritten(unfinished):
    before = contents(unfinished)
    done = ialspp(*FIT, "--checkpoint", "c", "-o", "m", cwd=unfinished)
    refuses("c keeps epoch 2 of 6 of a fit that has not ended; resume it (--resume")(done)
    assert contents(unfinished) == before


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--every", "2"], "--every is for --checkpoint, which was not given"),
        (["--checkpoint", "c", "--every", "0"], "every must be at least 1, got 0"),
        (["--checkpoint", "c", "--every", "1.5"], "every must be 0.5 or a whole number of epochs, got 1.5"),
        (["--checkpoint", "c", "--every", "0.5", "--solver", "icd"], "every 0.5 needs a solver that updates"),
        (["--checkpoint", "m"], "--out must not be the file of the checkpoint, m"),
        (["--checkpoint", "./m"], "--out must not be the file of the checkpoint, m"),
        (["--checkpoint", "log.csv"], "log.csv is not a checkpoint that can be read, and will not be overwr"),
        (["--checkpoint", "none/c"], "there is no folder"),
        (["--checkpoint", "."], "this is a folder"),
        (["--resume", "none"], "none: No such file"),
        (["--resume", "log.csv"], "it looks like text"),
        (["--resume", "."], "Is a directory"),
    ],
)
def test_files_that_cannot_be_right_are_refused_before_data_is_read(folder, options, said):
    before = contents(folder)
    refuses(said)(ialspp(*FIT, "-o", "m", *options, cwd=folder))
    assert contents(folder) == before


def test_a_model_is_no_checkpoint(folder):
    answer(*FIT, "-o", "m", cwd=folder)
    before = contents(folder)
    refuses("m is not a checkpoint of ialspp")(ialspp("fit", "--resume", "m", cwd=folder))
    done = ialspp(*FIT, "-o", "other", "--checkpoint", "m", cwd=folder)
    refuses("m is not a checkpoint that can be read, and will not be overwritten")(done)
    assert contents(folder) == before


def test_a_checkpoint_from_python_is_for_python(folder):
    data = Interactions.from_arrays(user=[1, 2], item=[1, 2])
    ImplicitMF(2).fit(data, checkpoint=folder / "c", progress=False)
    said = "c was not written by `ialspp fit`; ImplicitMF.resume goes on with a fit from Python"
    refuses(said)(ialspp("fit", "--resume", "c", cwd=folder))


@posix
def test_a_damaged_checkpoint_is_refused(unfinished):
    file = unfinished / "c"
    whole = file.read_bytes()
    file.write_bytes(whole[:-3] + b"\0\0\0")
    refuses("c is corrupted: the checksum is wrong")(ialspp("fit", "--resume", "c", cwd=unfinished))
    file.write_bytes(whole[:200])
    refuses("c is cut short")(ialspp("fit", "--resume", "c", cwd=unfinished))
    assert files(unfinished) == ["c", "log.csv"]


@posix
def test_a_link_to_the_place_of_checkpoints_stays(folder, monkeypatch):
    (folder / "disk").mkdir()
    (folder / "c").symlink_to(folder / "disk" / "real")
    interrupted(monkeypatch, *FIT, "--checkpoint", "c", "-o", "m", at=2, cwd=folder)
    assert files(folder / "disk") == ["real"]
    answer("fit", "--resume", "c", cwd=folder)
    assert (files(folder / "disk"), (folder / "c").is_symlink()) == ([], True)


@posix
def test_a_full_disk_is_an_error_that_leaves_nothing_behind(folder):
    before = contents(folder)
    with files_no_larger_than(500):
        done = ialspp(*FIT, "--checkpoint", "c", "-o", "m", cwd=folder)
    refuses("c: File too large")(done)
    assert contents(folder) == before


# ialspp info


@posix
def test_info_describes_a_checkpoint(unfinished):
    facts = answer("info", "c", "--verify", cwd=unfinished)
    assert (facts["file"], facts["format"], facts["format_version"]) == ("c", "ialspp checkpoint", 1)
    assert facts["bytes"] == (unfinished / "c").stat().st_size
    assert (facts["finished"], len(facts["history"]), facts["verified"]) == (False, 2, True)
    assert facts["plan"] == {"epochs": 6, "until": None, "earlier": 0}
    assert (facts["data"]["users"], facts["data"]["pairs"]) == (60, 720)
    assert (facts["settings"]["dim"], facts["note"]["out"]) == (4, str(unfinished / "m"))
    shown = ialspp("info", "c", cwd=unfinished, COLUMNS="100").stdout
    for words in ("epoch 2 of 6", "60 users, 40 items, 720 pairs", "SpectralCG(", "loss, last epoch"):
        assert words in shown


@posix
def test_info_verifies_a_checkpoint_if_asked(unfinished):
    file = unfinished / "c"
    file.write_bytes(file.read_bytes()[:-3] + b"\0\0\0")
    assert ialspp("info", "c", cwd=unfinished).returncode == 0
    refuses("c is corrupted")(ialspp("info", "c", "--verify", cwd=unfinished))


@posix
def test_info_lists_a_folder(unfinished):
    """Its models, its checkpoints, damaged ones and what killed processes left; other files are not ours."""
    answer(*FIT, "-o", "films.ialspp", cwd=unfinished)
    (unfinished / "damaged").write_bytes((unfinished / "c").read_bytes()[:300])
    (unfinished / "cut.ialspp").write_bytes((unfinished / "films.ialspp").read_bytes()[:300])
    (unfinished / "empty.ialsdata").touch()
    (unfinished / "sub.ialspp").mkdir()
    (unfinished / "sub").mkdir()
    os.mkfifo(unfinished / "pipe")
    left = unfinished / ".films.ialspp.12345-00112233aabbccdd.part"
    left.write_bytes(b"x" * 70)
    found = answer("info", ".", cwd=unfinished)
    cut = found["files"][1]["remark"]
    assert cut.startswith("is cut short: ")
    assert [(file["file"], file["kind"], file["remark"]) for file in found["files"]] == [
        ("c", "checkpoint", "epoch 2 of 6"),
        ("cut.ialspp", "damaged", cut),
        ("empty.ialsdata", "damaged", "is empty"),
        ("films.ialspp", "model", "60 users, 40 items"),
        (left.name, "leftover", "its writer was killed"),
    ]
    assert found["files"][-1]["bytes"] == 70
    shown = ialspp("info", unfinished)
    assert "epoch 2 of 6" in shown.stdout
    assert "leftovers are removed by the next write to the file that they were meant for" in shown.stderr
    answer(*FIT, "-o", "films.ialspp", cwd=unfinished)
    assert not left.exists()
    assert ialspp("info", unfinished / "sub").returncode == 0

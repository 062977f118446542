"""Progress: events for a function, a bar for a terminal, nothing where nobody looks."""

import numpy as np
import pytest
from support.models import fitted, make_data, make_model

from ialspp import Interactions, ProgressEvent, evaluate, split
from ialspp.system.progress import reporting


def test_a_function_is_told_of_every_epoch():
    events = []
    model = make_model(epochs=3).fit(make_data(), progress=events.append)
    assert [(event.task, event.done, event.total) for event in events] == [
        ("fitting", epoch, 3) for epoch in (1, 2, 3)
    ]
    losses = [f"epoch {record.epoch} of 3, loss {record.loss:.6g}" for record in model.history]
    assert [event.note for event in events] == losses


@pytest.mark.parametrize(
    ("task", "run"),
    [
        ("recommending", lambda _, tell: fitted().recommend(k=2, progress=tell)),
        ("updating", lambda _, tell: fitted().update(make_data(), progress=tell)),
        ("saving", lambda path, tell: fitted().save(path / "model", progress=tell)),
        ("evaluating", lambda _, tell: evaluated(tell)),
        ("reading", lambda path, tell: read(path / "log.csv", tell)),
    ],
)
def test_long_work_reports_to_a_function(task, run, tmp_path):
    events = []
    run(tmp_path, events.append)
    told = [event for event in events if event.task == task]
    assert told
    assert all(isinstance(event, ProgressEvent) for event in events)
    assert (np.diff([event.done for event in told]) >= 0).all()
    assert told[-1].done == pytest.approx(told[-1].total, rel=0.5)


def evaluated(tell):
    parts = split.random(make_data(), test_share=0.2)
    evaluate(make_model(epochs=1), parts, metrics=["recall@5"], progress=tell)


def read(path, tell):
    path.write_text("user,item\n" + "".join(f"{row % 7},{row % 5}\n" for row in range(50)))
    Interactions.read(path, user="user", item="item", progress=tell)


def test_nothing_is_drawn_unless_asked(capfd):
    for progress in (False, None):  # stderr is no terminal here
        with reporting("working", 2, progress) as report:
            report(1, note="half")
    assert capfd.readouterr() == ("", "")


def test_a_bar_shows_the_task_and_the_note(capfd):
    with reporting("working", 2, True) as report:
        report(2, note="all of it")
    shown = capfd.readouterr().err
    assert "working" in shown
    assert "all of it" in shown


@pytest.mark.parametrize("progress", ["yes", 2.5, []])
def test_anything_else_is_an_error(progress):
    with (
        pytest.raises(TypeError, match="progress must be True, False, None or a function"),
        reporting("working", 1, progress),
    ):
        pass

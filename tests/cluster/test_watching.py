"""What is told of each node while it works, and of all its work in the end."""

import logging

from support.models import make_model

from ialspp.cluster import watching
from ialspp.cluster.jobs import Job, Piece
from ialspp.cluster.watching import Work, as_note

UPDATE = Job(Piece("user", 0, (0, 1), 0, 10), "update")


def test_a_few_nodes_are_told_one_by_one():
    work = {"a": Work("head", 3, 8, 4000, 2.0), "b": Work("second", 0, 8)}
    assert as_note(UPDATE, work) == (
        "updating users: head 3 of 8 pieces, 2,000 rows/s; second 0 of 8 pieces, 0 rows/s"
    )


def test_of_many_nodes_the_last_is_told():
    work = {f"{n}": Work(f"node{n}", n + 1, 8, 100 * n, 1.0) for n in range(6)}
    assert as_note(UPDATE, work) == (
        "updating users: 21 of 48 pieces on 6 nodes; the last is node0 1 of 8 pieces, 0 rows/s"
    )


def test_a_fit_tells_what_its_nodes_do(stored, cluster, monkeypatch, caplog):
    monkeypatch.setattr(watching, "EVERY", 0.0)  # or steps would be too short for a question
    events = []
    with caplog.at_level(logging.INFO, "ialspp"):
        make_model(epochs=2, solver=None).fit(stored, cluster=cluster, progress=events.append)
    assert events[0].task == "starting"
    assert "2 workers; nodes fetch a whole side: about " in events[0].note
    assert any(event.note.startswith("epoch 1 of 2, updating users: ") for event in events)
    assert [event.done for event in events if ", loss " in event.note] == [1, 2]
    assert sum(node["rows"] for node in cluster.nodes.values()) == 2 * (stored.n_users + stored.n_items)
    assert all(node["rows_per_second"] > 0 for node in cluster.nodes.values())
    assert sum(record.message.startswith("items updated: ") for record in caplog.records) == 2

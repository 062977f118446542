"""The log of a program: what the library tells it, and that it tells nobody else."""

import logging

import pytest
from support.models import fitted, make_data, make_model
from support.processes import child, finish
from support.stopping import DATA, Listed

from ialspp import ImplicitMF


@pytest.fixture(name="told")
def messages(caplog):
    """The messages so far."""
    caplog.set_level(logging.INFO, logger="ialspp")

    def told():
        assert {record.name for record in caplog.records} <= {"ialspp"}
        assert {record.levelno for record in caplog.records} <= {logging.INFO}
        return [record.getMessage() for record in caplog.records]

    return told


def test_every_epoch_is_logged_with_its_loss_and_seconds(told):
    model = fitted(epochs=3)
    assert told() == [
        f"epoch {record.epoch} of 3: loss {record.loss:.6g}, {record.seconds:.2f} s"
        for record in model.history
    ]


def test_checkpoints_and_what_goes_on_from_them(told, tmp_path):
    make_model(epochs=2).fit(make_data(), checkpoint=tmp_path / "c", every=2, progress=False)
    assert told()[-1] == f"checkpoint {tmp_path / 'c'}: epoch 2"
    ImplicitMF.resume(tmp_path / "c", make_data(), progress=False)
    assert told()[-1] == f"{tmp_path / 'c'}: going on after epoch 2 of 2, the last"


def test_the_choice_of_an_epoch(told):
    make_model(epochs=7).fit(DATA, callbacks=[Listed(0.5, 0.25, 0.125)], progress=False)
    assert told()[1::2] == [
        "epoch 1: score 0.5, best 0.5 of epoch 1",
        "epoch 2: score 0.25, best 0.5 of epoch 1",
        "epoch 3: score 0.125, best 0.5 of epoch 1",
    ]
    assert told()[-1] == "the fit keeps epoch 1 of 3"


def test_a_line_names_the_place_in_the_library(caplog):
    caplog.set_level(logging.INFO, logger="ialspp")
    fitted(epochs=1)
    assert caplog.records[0].filename == "fitting.py"


def test_nothing_is_printed_or_set_up_by_the_library():
    code = """
    import logging
    from ialspp import ImplicitMF, Interactions

    ImplicitMF(2, epochs=1).fit(Interactions.from_arrays(user=[1, 2], item=[1, 2]))
    print(logging.getLogger("ialspp").handlers, logging.root.handlers, logging.getLogger("ialspp").level)
    """
    assert finish(child(code)) == ("[] [] 0\n", "")

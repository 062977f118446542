"""How many epochs a model may have: as many as a file can hold."""

import json
from dataclasses import asdict

import pytest
from support.models import fitted

from ialspp import EpochRecord
from ialspp.files.container import Container, write
from ialspp.model.history import MOST_EPOCHS


def test_the_records_of_the_most_epochs_fit_into_a_file(tmp_path):
    long = 1.2345678901234567e-100
    record = asdict(EpochRecord(MOST_EPOCHS, *[long] * 5, relaxation=1.2345678901234567, precision="single"))
    described = {"history": [record] * MOST_EPOCHS, "scores": [long] * MOST_EPOCHS}
    write(tmp_path / "file", {}, {"description": json.dumps(described)})
    assert json.loads(Container.open(tmp_path / "file").metadata["description"]) == described


def test_more_epochs_than_a_file_can_hold_are_an_error_before_the_training():
    model = fitted(epochs=2).set_params(epochs=24_999)
    with pytest.raises(ValueError, match="a model may have 25,000 epochs, got 24,999 after 2"):
        model.fit(model.trained_on, warm_start=True)

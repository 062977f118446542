"""Model files that services are started with."""

import pytest
from support.models import fitted
from support.serving import client_of


@pytest.fixture(scope="session")
def model():
    """Users are integers, items are strings; the last users and items have no interactions."""
    return fitted()


@pytest.fixture(scope="session")
def model_file(model, tmp_path_factory):
    path = tmp_path_factory.mktemp("served") / "shop.ialspp"
    model.save(path)
    return path


@pytest.fixture(scope="module")
def served(model_file):
    """A client of a service in this process."""
    with client_of(model_file) as (client, _):
        yield client

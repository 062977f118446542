"""A cache of its own for every test."""

import pytest


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("IALSPP_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "datasets"

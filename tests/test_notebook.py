"""The notebook of the docs runs in a real kernel, and shows what it shows in the docs."""

import os
import tempfile
from pathlib import Path

import pytest
from support.processes import PATIENCE

nbformat = pytest.importorskip("nbformat", reason="needs nbformat")
nbclient = pytest.importorskip("nbclient", reason="needs nbclient and ipykernel")
traitlets = pytest.importorskip("traitlets.config", reason="needs nbclient and ipykernel")

NOTEBOOK = Path(__file__).resolve().parents[1] / "docs" / "how-to" / "notebook.ipynb"


@pytest.fixture(scope="module")
def both():
    """The code cells of the notebook as it is in the docs, and as it runs now."""
    stored = nbformat.read(NOTEBOOK, as_version=4)
    executed = nbformat.read(NOTEBOOK, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        # Files instead of ports, which somebody else may take before the kernel does.
        kernel = {"transport": "ipc", "ip": f"{folder}/k"} if os.name == "posix" else {}
        config = traitlets.Config({"AsyncKernelManager": kernel})
        nbclient.NotebookClient(executed, timeout=None, startup_timeout=PATIENCE, config=config).execute()
    return [[cell for cell in book.cells if cell.cell_type == "code"] for book in (stored, executed)]


def kinds(cell):
    return [(output.output_type, sorted(output.get("data", {}))) for output in cell.outputs]


def test_every_cell_has_the_outputs_that_are_stored(both):
    for stored, executed in zip(*both, strict=True):
        assert kinds(executed) == kinds(stored), stored.source
    tables = [
        output.data["text/html"] for cell in both[1] for output in cell.outputs if "text/html" in output.data
    ]
    assert sum("<table" in table for table in tables) == 6


def test_fit_leaves_a_finished_bar(both):
    for book in both:
        bar = next(output for output in book[1].outputs if output.output_type == "display_data")
        assert "fitting<progress" in bar.data["text/html"]
        assert 'value="8" max="8"' in bar.data["text/html"]
        assert "epoch 8 of 8, loss" in bar.data["text/html"]


def test_the_answers_are_those_that_are_stored(both):
    stored, executed = (book[2].outputs[0].data["text/plain"] for book in both)
    assert executed == stored

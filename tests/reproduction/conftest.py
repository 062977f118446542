"""One tiny run that many tests read."""

from contextlib import redirect_stdout
from io import StringIO

import pytest
from support.reproducing import WHOLE, Report, reproduce


@pytest.fixture(scope="session")
def home(tmp_path_factory):
    """A folder in which the command was run once, into report/; `said` is what it printed."""
    home = tmp_path_factory.mktemp("home")
    said = StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(said):
        patch.chdir(home)
        assert reproduce(*WHOLE) == 0
    (home / "said").write_text(said.getvalue(), encoding="utf-8")
    return home


@pytest.fixture(scope="session")
def report(home):
    return Report(home / "report")

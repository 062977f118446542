"""Colours, markers and line styles, the same in all figures."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from ialspp.errors import MissingExtraError

from ..grid import IALS, IALSPP, ICD, SPECTRAL

FONT = "DejaVu Sans"  # comes with matplotlib, so that the layout is the same everywhere
INK, GREY, PALE = "#222222", "#6b7280", "#eceff3"
COLOURS = {ICD: "#d9730d", IALS: "#2b6cb0", SPECTRAL: "#8250a8"}
MARKERS = {ICD: "s", IALS: "o", SPECTRAL: "*"}
GREENS = ("#74c093", "#5aae7f", "#44996b", "#2f855a", "#1c5c3c", "#0f3a25")  # iALS++ by block size
VIOLET_TO_OCHRE = ("#440154", "#3f3f88", "#276a8c", "#1b8f82", "#5aa02c", "#b58900")  # by d
OTHER_MARKERS = ("^", "D", "v", "P", "X", "p")  # none that stands for a solver
DASHES = (0, (4, 2))
NOT_IN_PAPER = f"{SPECTRAL} (not in the paper)"
STYLE: dict[Any, Any] = {  # matplotlib's types do not allow every string as a key
    "svg.fonttype": "none",  # text: its outlines would double the size of a report
    "svg.hashsalt": "ialspp",  # makes the ids in an SVG the same each time
    "font.family": [FONT],
    **dict.fromkeys(("font.size", "legend.fontsize"), 8),
    "axes.titlesize": 8.5,
    **{"lines.linewidth": 1.2, "lines.markersize": 4, "lines.markeredgewidth": 0.8},
    **{"axes.spines.top": False, "axes.spines.right": False, "axes.grid": True, "axes.axisbelow": True},
    **dict.fromkeys(("axes.labelcolor", "text.color", "xtick.color", "ytick.color"), INK),
    **{"axes.edgecolor": GREY, "grid.color": PALE},
    **{"legend.frameon": False, "legend.handlelength": 2.6},
}


def require_matplotlib() -> None:
    """Raise where matplotlib is missing, before anything is measured for hours."""
    if find_spec("matplotlib") is None:
        raise MissingExtraError('matplotlib is required for the figures: pip install -e ".[reproduce]"')


@contextmanager
def style() -> Iterator[None]:
    """Draw with this style inside, whatever the user's settings, which return afterwards."""
    require_matplotlib()
    import matplotlib as mpl

    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(STYLE)
        yield


@dataclass(frozen=True, slots=True)
class Look:
    """A colour and a marker, so that lines differ in grey print too; only SpectralCG is dashed."""

    colour: str
    marker: str
    dashed: bool = False

    @property
    def line(self) -> dict[str, Any]:
        size = {"markersize": 6.5} if self.marker == MARKERS[SPECTRAL] else {}
        stroke = DASHES if self.dashed else "-"
        return {"color": self.colour, "marker": self.marker, "linestyle": stroke, **size}


def solver_label(solver: str, block: int | None) -> str:
    """Name a solver in a legend; only iALS++ has its block size."""
    if solver == SPECTRAL:
        return NOT_IN_PAPER
    return f"{solver} ({block})" if solver == IALSPP and block else solver


def solver_look(solver: str) -> Look:
    return Look(COLOURS[solver], MARKERS[solver], dashed=solver == SPECTRAL)


def looks(colours: Sequence[str], values: Sequence[int]) -> dict[int, Look]:
    """Choose a look for each value, evenly from the first of the colours to the last."""
    places = [int((i + 0.5) / len(values) * len(colours)) for i in range(len(values))]
    return {
        value: Look(colours[place], OTHER_MARKERS[i % len(OTHER_MARKERS)])
        for i, (value, place) in enumerate(zip(values, places, strict=True))
    }

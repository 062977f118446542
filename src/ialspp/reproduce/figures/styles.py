"""How the figures look: colours, markers and line styles, the same in all of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from ..grid import IALS_NAME, IALSPP_NAME, ICD_NAME, SPECTRAL_NAME

FONT = "DejaVu Sans"  # comes with matplotlib: the layout is the same everywhere
INK, GREY, PALE = "#222222", "#6b7280", "#eceff3"
COLOURS = {ICD_NAME: "#d9730d", IALS_NAME: "#2b6cb0", SPECTRAL_NAME: "#8250a8"}
MARKERS = {ICD_NAME: "s", IALS_NAME: "o", SPECTRAL_NAME: "*"}
GREENS = ("#74c093", "#5aae7f", "#44996b", "#2f855a", "#1c5c3c", "#0f3a25")  # iALS++ by block size
VIOLET_TO_OCHRE = ("#440154", "#3f3f88", "#276a8c", "#1b8f82", "#5aa02c", "#b58900")  # by d
OTHER_MARKERS = ("^", "D", "v", "P", "X", "p")  # none that stands for a solver
SOLID: tuple[Any, ...] = ("-", (0, (1, 1.3)), (0, (7, 1.5, 1, 1.5)), (0, (7, 1.5)))  # of each run
DASHED: tuple[Any, ...] = ((0, (4, 2)), (0, (2, 1.2)), (0, (4, 1.2, 1, 1.2)), (0, (2, 3)))  # SpectralCG's
FILLS: tuple[dict[str, Any], ...] = (
    {},
    {"markerfacecolor": "white"},
    {"fillstyle": "left"},
    {"fillstyle": "bottom"},
)
NOT_IN_PAPER = f"{SPECTRAL_NAME} (not in the paper)"
STYLE: dict[Any, Any] = {  # to matplotlib's types a key is not any string
    "svg.fonttype": "none",
    "svg.hashsalt": "ialspp",  # in names of parts of an SVG, which are random without one
    "font.family": [FONT],
    "text.parse_math": False,  # a run's name may hold anything
    "font.size": 8,
    "axes.titlesize": 8.5,
    "legend.fontsize": 8,
    "lines.linewidth": 1.2,
    "lines.markersize": 4,
    "lines.markeredgewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": GREY,
    "axes.labelcolor": INK,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": PALE,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "legend.frameon": False,
    "legend.handlelength": 2.6,
}


def need_matplotlib() -> None:
    """An error where it is missing, before anything is measured for hours."""
    if find_spec("matplotlib") is None:
        raise ImportError('matplotlib is required for the figures: pip install "ialspp[plots]"')


@contextmanager
def style() -> Iterator[None]:
    """What is drawn inside looks as here, whatever the user's own settings, which return afterwards."""
    need_matplotlib()
    import matplotlib as mpl

    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(STYLE)
        yield


@dataclass(frozen=True, slots=True)
class Look:
    """A colour and a marker, so that grey print tells lines apart too; SpectralCG alone is dashed."""

    colour: str
    marker: str
    dashed: bool = False

    def line(self, run: int = 0) -> dict[str, Any]:
        """Keywords of a line; `run` is the place among the runs that are laid over each other."""
        size = {"markersize": 6.5} if self.marker == MARKERS[SPECTRAL_NAME] else {}
        strokes = DASHED if self.dashed else SOLID
        return {
            "color": self.colour,
            "marker": self.marker,
            "linestyle": strokes[run % len(strokes)],
            "markerfacecoloralt": "white",
            **FILLS[run % len(FILLS)],
            **size,
        }


def solver_label(solver: str, block: int | None) -> str:
    """What a solver is called; `block` is told of iALS++ alone."""
    if solver == SPECTRAL_NAME:
        return NOT_IN_PAPER
    return f"{solver} ({block})" if solver == IALSPP_NAME else solver


def solver_look(solver: str) -> Look:
    """Of iCD, iALS or SpectralCG."""
    return Look(COLOURS[solver], MARKERS[solver], dashed=solver == SPECTRAL_NAME)


def block_looks(blocks: Sequence[int]) -> dict[int, Look]:
    """Of iALS++, for each block size."""
    return dict(zip(blocks, _looks(GREENS, len(blocks)), strict=True))


def dim_looks(dims: Sequence[int]) -> dict[int, Look]:
    """For each d, where lines go through block sizes."""
    return dict(zip(dims, _looks(VIOLET_TO_OCHRE, len(dims)), strict=True))


def _looks(colours: Sequence[str], count: int) -> list[Look]:
    """Evenly from the first of the colours to the last, which lightness tells apart."""
    places = [(i + 0.5) / count for i in range(count)]
    return [
        Look(colours[int(place * len(colours))], OTHER_MARKERS[i % len(OTHER_MARKERS)])
        for i, place in enumerate(places)
    ]

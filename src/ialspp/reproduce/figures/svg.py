"""A figure as an SVG element that can stand in a page beside others."""

from __future__ import annotations

import re
import warnings
from io import StringIO
from typing import TYPE_CHECKING
from xml.dom.minidom import Document, Element, parseString

from .styles import FONT, style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FONTS = f"'{FONT}', Verdana, Arial, sans-serif"  # of similar widths
# In matplotlib's own stylesheet these are of "*", which would be all of the page.
ROOT_STYLE = "stroke-linejoin: round; stroke-linecap: butt; max-width: 100%; height: auto"


def svg_element(figure: Figure, key: str, title: str) -> str:
    """`<svg>...</svg>`, the same bytes for the same figure.

    Parameters
    ----------
    key
        Begins every id, so that pictures in one page do not share any.
    title
        What the picture is, for those who don't see it.
    """
    document = parseString(_drawn(figure))
    for element in document.getElementsByTagName("*"):
        _rewrite(element, f"{key}-")
        for child in list(element.childNodes):
            if child.nodeName in ("metadata", "style"):
                element.removeChild(child)
    root = document.getElementsByTagName("svg")[0]
    _describe(root, document, title)
    return root.toxml()


def _drawn(figure: Figure) -> str:
    file = StringIO()
    with style(), warnings.catch_warnings():
        # The text stays text: whoever reads it has fonts for what is missing here.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None})
    return file.getvalue()


def _rewrite(element: Element, prefix: str) -> None:
    """Ids and what refers to them get the prefix; texts get fonts to fall back on."""
    for name, value in list(element.attributes.items()):
        if name == "id":
            value = prefix + value
        elif name.endswith("href"):
            value = re.sub("^#", f"#{prefix}", value)
        element.setAttribute(name, value.replace("url(#", f"url(#{prefix}").replace(f"'{FONT}'", FONTS))


def _describe(root: Element, document: Document, title: str) -> None:
    heading = document.createElement("title")
    heading.appendChild(document.createTextNode(title))
    root.insertBefore(heading, root.firstChild)
    root.setAttribute("role", "img")
    root.setAttribute("aria-label", title)
    root.setAttribute("style", ROOT_STYLE)

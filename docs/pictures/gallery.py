"""Photograph the pages of the gallery with a Chromium, as WebP in this folder.

docs/gallery.md lists the commands that write the pages. Run them in one folder, build the site, and then:

    python docs/pictures/gallery.py FOLDER
"""

from __future__ import annotations

import io
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, sync_playwright

HERE = Path(__file__).parent
SITE = HERE.parents[1] / "build" / "docs"
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
QUALITY = 82  # of WebP: letters stay sharp, and a picture has less than 200 kB


@dataclass(frozen=True)
class Picture:
    """A part of a page: its file, where it begins, and how much of it is shown."""

    name: str
    page: str  # a file of the folder, or of the site
    width: int = 1200
    height: int = 900
    start: str = "body"  # the first element that is shown
    above: int = 0  # pixels above it


PICTURES = [
    Picture("report", "report.html", height=1110),
    Picture("report-map", "report.html", height=1110, start="section:last-of-type", above=10),
    Picture("tuned", "films.html", height=870, start="h2:has-text('The search')", above=20),
    Picture(
        "notebook",
        "how-to/notebook.html",
        width=1000,
        height=590,
        start="pre:has-text('ranking = ')",
        above=20,
    ),
]


def photograph(browser: Browser, picture: Picture, folder: Path) -> None:
    """Write one picture."""
    file = folder / picture.page
    page = browser.new_page(viewport={"width": picture.width, "height": picture.height}, color_scheme="light")
    page.goto((file if file.exists() else SITE / picture.page).resolve().as_uri())
    box = page.locator(picture.start).first.bounding_box()
    assert box is not None, f"{picture.page} has no {picture.start}"
    clip = {
        "x": 0,
        "y": max(0, box["y"] - picture.above),
        "width": picture.width,
        "height": picture.height,
    }
    image = Image.open(io.BytesIO(page.screenshot(full_page=True, clip=clip)))
    image.save(HERE / f"{picture.name}.webp", quality=QUALITY, method=6)
    page.close()


def main() -> None:
    """Write all pictures."""
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None or len(sys.argv) != 2:
        raise SystemExit(f"{__doc__}\nOne of {', '.join(BROWSERS)} is required, and a folder.")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        for picture in PICTURES:
            photograph(browser, picture, Path(sys.argv[1]))


if __name__ == "__main__":
    main()

"""Lead from the paper's reports back to the site: elsewhere a report is one file, with nothing beside it."""

from __future__ import annotations

from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig

START = "<main>\n"
LINK = '<p class="back"><a href="../index.html">← The paper, reproduced</a></p>\n'


def on_post_build(config: MkDocsConfig) -> None:
    """Put a link above the title of each report of the built site."""
    for report in Path(config.site_dir).glob("paper/*/report.html"):
        page = report.read_text(encoding="utf-8")
        report.write_text(page.replace(START, START + LINK, 1), encoding="utf-8")

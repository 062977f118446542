"""Show the notebook on its page of the site, with the outputs that are stored in it."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import nbformat
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from nbconvert import MarkdownExporter

FOLDER = "how-to"
NOTEBOOK = "notebook.ipynb"
PLACE = f"<!-- {NOTEBOOK} -->"  # where the page shows it


@cache
def converted(path: Path) -> tuple[str, dict[str, bytes]]:
    """Return the notebook as Markdown, without its heading, and the pictures among its outputs."""
    text, resources = MarkdownExporter().from_notebook_node(nbformat.read(path, as_version=4))
    return text.strip().partition("\n")[2], resources["outputs"]


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pictures to the site."""
    for name, content in converted(Path(config.docs_dir) / FOLDER / NOTEBOOK)[1].items():
        files.append(File.generated(config, f"{FOLDER}/{name}", content=content))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, **_: Any) -> str:
    """Put the notebook into its page."""
    if PLACE not in markdown or Path(page.file.src_uri).parent.as_posix() != FOLDER:
        return markdown
    return markdown.replace(PLACE, converted(Path(config.docs_dir) / FOLDER / NOTEBOOK)[0])

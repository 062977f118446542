"""Reading a report back: its HTML as a browser would take it, its Markdown tables as cells."""

import re
from html.parser import HTMLParser

VOID = {"meta", "br", "img", "link", "input", "hr", "source"}


class Page(HTMLParser):
    """What a page consists of; an element that is closed in the wrong place, or never, is an error."""

    def __init__(self, source):
        super().__init__(convert_charrefs=True)
        self.ids, self.links, self.elements, self.headings, self.words = [], [], [], [], []
        self._open = []
        self.feed(source)
        self.close()
        assert not self._open, f"never closed: {self._open}"

    def handle_starttag(self, tag, attributes):
        self.handle_startendtag(tag, attributes)
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag, attributes):
        values = dict(attributes)
        assert len(values) == len(attributes), f"an attribute twice: {tag} {attributes}"
        self.elements.append((tag, values))
        self.ids += [values["id"]] if "id" in values else []
        self.links += [values["href"]] if tag == "a" else []

    def handle_endtag(self, tag):
        assert self._open, f"</{tag}> closes nothing"
        assert self._open.pop() == tag, f"</{tag}> in the wrong place"

    def handle_data(self, data):
        if self._open and self._open[-1] == "h2":
            self.headings.append(data)
        if "style" not in self._open:
            self.words.append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.words).split())

    def count(self, tag):
        return sum(name == tag for name, _ in self.elements)


def markdown_tables(source):
    """Each as a list of rows of cells, the row of dashes too."""
    blocks = re.findall(r"(?:^\|.*\n)+", source, flags=re.MULTILINE)
    return [[_cells(line) for line in block.splitlines()] for block in blocks]


def _cells(line):
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]

"""The explorer's page in a real browser, and how a person uses it."""

import shutil

import pytest

from support.processes import PATIENCE

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = [  # the first lets root run it; the others keep it from the network and from what it does at first
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
MILLISECONDS = 1000 * PATIENCE


def launched(playwright):
    """A browser that is on the machine, or a skip that says what is missing."""
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        pytest.skip(f"needs a browser: one of {', '.join(BROWSERS)}")
    return playwright.chromium.launch(executable_path=found, headless=True, args=FLAGS, timeout=MILLISECONDS)


class Explorer:
    """One page. What the console prints, what fails and what it fetches is remembered."""

    def __init__(self, browser, address, **options):
        self.context = browser.new_context(reduced_motion="reduce", **options)
        self.context.set_default_timeout(MILLISECONDS)
        self.page = self.context.new_page()
        self.complaints, self.requests = [], []
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(address)

    def ready(self):
        self.page.wait_for_selector("body.ready")
        return self

    def pick(self, text):
        """Type into the search field, and take the first suggestion with the keyboard."""
        before = self.picked()
        self.page.fill("#search", text)
        self.page.wait_for_selector("#search-list [aria-selected=true]")
        self.page.press("#search", "Enter")
        self.page.wait_for_function("n => document.querySelectorAll('.pick').length > n", arg=len(before))
        self.settled()

    def settled(self):
        """Wait until the list in the middle belongs to what is picked."""
        self.page.wait_for_function(
            """() => {
                const picked = document.querySelectorAll('.pick').length > 0;
                const heading = document.querySelector('#results-heading').textContent;
                return heading === (picked ? 'Recommended' : 'Most popular');
            }"""
        )

    def wait_for_items(self, ids):
        """Wait until the list has these items, in this order."""
        self.page.wait_for_function(
            "ids => ids.join() === [...document.querySelectorAll('.result')].map(r => r.dataset.key).join()",
            arg=list(map(str, ids)),
        )

    def picked(self):
        return self.page.locator(".pick .name").all_text_contents()

    def results(self):
        """(id, name, score) of each row of the list."""
        rows = self.page.eval_on_selector_all(
            ".result",
            "rows => rows.map(r => [r.dataset.key, r.querySelector('.name').textContent,"
            " r.querySelector('.score').title])",
        )
        return [(key, name, float(score)) for key, name, score in rows]

    def parts(self, place):
        """Open the reasons of a row, and read (name, part) of each."""
        row = self.page.locator(".result").nth(place)
        row.locator(".because").click()
        row.locator(".parts li").first.wait_for()
        lines = row.locator(".parts li").evaluate_all(
            "rows => rows.map(r => [r.querySelector('.part-name').textContent,"
            " r.querySelector('.number').title])"
        )
        return [(name, float(part)) for name, part in lines]

    def drawn(self):
        """The picture on the map, when it has been drawn."""
        return self.page.evaluate(
            "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() =>"
            " done(document.querySelector('#map').toDataURL()))))"
        )

    def close(self):
        self.context.close()
        assert self.complaints == [], self.complaints

"""A small model with names, and a browser."""

import pytest
from support.browsing import Explorer, launched
from support.explorable import item_names, make_data, make_model


@pytest.fixture(scope="module")
def model():
    return make_model(make_data().with_names(items=item_names()))


@pytest.fixture(scope="module")
def browser():
    """One browser for a file of tests. It must end there: its event loop runs as long as it does."""
    playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright")
    with playwright.sync_playwright() as driver:
        made = launched(driver)
        yield made
        made.close()


@pytest.fixture
def opened(browser):
    """Open an address; at the end its console must be empty."""
    pages = []

    def open_page(address, **options):
        pages.append(Explorer(browser, address, **options))
        return pages[-1].ready()

    yield open_page
    for page in pages:
        page.close()

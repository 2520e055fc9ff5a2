"""Headless Chromium, and Neo4j Browser on the run's server. Run by `make test-browser`."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import database
import pytest

from graphmem.graph import embedded
from graphmem.settings import Settings
from tests.conftest import KIND

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out what needs Chromium and playwright, unless it is asked for by `-m browser`: all else runs without."""
    return True if "browser" not in config.option.markexpr and collection_path.name.startswith("test_") else None


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """Debian's Chromium, or another one on the path."""
    from playwright.sync_api import sync_playwright

    names = ("chromium", "chromium-browser", "google-chrome")
    found = next((path for name in names if (path := shutil.which(name))), None)
    assert found is not None, "these tests need Chromium (Debian: apt install chromium)"
    with sync_playwright() as playwright:
        # No sandbox: Chromium refuses one as root, which is who runs this in containers.
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def page(chromium: Browser) -> Iterator[Page]:
    """A page that reaches this machine and nothing else; it fails the tests when it throws."""
    with chromium.new_context(viewport={"width": 1280, "height": 900}) as context:
        context.route("**/*", lambda route: route.continue_() if _is_here(route.request.url) else route.abort())
        yield context.new_page()


def _is_here(url: str) -> bool:
    return url.startswith(("http://127.0.0.1", "http://localhost", "file:", "data:", "blob:"))


@pytest.fixture(scope="session")
def browser_url(request: pytest.FixtureRequest, settings: Settings) -> str:
    """Where the run's server has Neo4j Browser."""
    match request.config.stash[KIND]:
        case "embedded":
            found = embedded.status(settings).browser_url
            assert found is not None
            return found
        case "docker":
            compose: database.Compose = request.getfixturevalue("compose")
            return f"http://127.0.0.1:{compose.http_port}/browser/?dbms=bolt://neo4j@127.0.0.1:{compose.bolt_port}"
        case "environment":
            return os.environ["GRAPHMEM_TEST_BROWSER"]

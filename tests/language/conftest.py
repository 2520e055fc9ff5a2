from __future__ import annotations

import pytest

from graphmem.providers import import_litellm


@pytest.fixture(scope="session")
def litellm_imported() -> None:
    """Importing litellm takes seconds, which belong to no test's time."""
    import_litellm()

"""A server on this machine, for every test of what is fetched."""

from collections.abc import Iterator

import pytest

from tests.experiments.data.site import Site, serving


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """A server of its own, asked without a proxy."""
    for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with serving() as made:
        yield made

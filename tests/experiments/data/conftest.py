"""A server on this machine, for every test of what is fetched."""

from collections.abc import Iterator

import pytest

from calque.experiments.data import download
from tests.experiments.data.site import Site, serving


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """A server of its own, asked without a proxy."""
    for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with serving() as made:
        yield made


@pytest.fixture(autouse=True)
def _hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Short pauses between retries."""
    monkeypatch.setattr(download, "RETRY", download.RETRY.new(backoff_factor=0.01, retry_after_max=2))
    monkeypatch.setattr(download, "TIMEOUT", 10.0)

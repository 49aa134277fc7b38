"""What tests share: the real data, where there is any."""

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def calque_data() -> Path:
    """The folder of real data that CALQUE_DATA names."""
    folder = os.environ.get("CALQUE_DATA")
    if not folder:
        pytest.skip("CALQUE_DATA names no folder of real data")
    return Path(folder)

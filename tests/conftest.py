"""What tests share: the real data, where there is any."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("calque", deadline=None)  # how long an example takes says how busy the machine is
settings.load_profile("calque")


@pytest.fixture(scope="session")
def calque_data() -> Path:
    """The folder of real data that CALQUE_DATA names."""
    folder = os.environ.get("CALQUE_DATA")
    if not folder:
        pytest.skip("CALQUE_DATA names no folder of real data")
    return Path(folder)


@pytest.fixture(scope="session")
def stanza_models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of real Stanza models, trained for some seconds on Pocket English."""
    pytest.importorskip("stanza", reason="Stanza is not installed")
    from itertools import islice

    from derive.pocket.language import Pocket
    from derive.treebank import write_treebank
    from experiments.commands.parser import train_models

    folder = tmp_path_factory.mktemp("stanza")
    for name, stream in (("train", 1), ("dev", 2)):
        write_treebank(folder / f"{name}.conllu", islice(Pocket().sentences(300, stream), 300))
    train_models(folder, folder / "models", "en", 45, lambda what, done, of: None)
    return folder / "models"


@pytest.fixture(scope="session")
def calque_encoder() -> Path:
    """The folder of a real encoder that CALQUE_ENCODER names."""
    folder = os.environ.get("CALQUE_ENCODER")
    if not folder:
        pytest.skip("CALQUE_ENCODER names no encoder")
    return Path(folder)


def pytest_make_parametrize_id(val: object) -> str | None:
    """Archives in the names of tests would differ by the time of day in them, and processes must agree on names."""
    return "bytes" if isinstance(val, bytes) and len(val) > 40 else None

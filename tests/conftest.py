import os
from pathlib import Path

import pytest
from filelock import FileLock
from hypothesis import settings

# Busy machines would miss deadlines, and new examples in each run would fail at random.
settings.register_profile("calque", deadline=None, derandomize=True)
settings.load_profile("calque")


@pytest.fixture(scope="session")
def calque_data():
    folder = os.environ.get("CALQUE_DATA")
    if not folder:
        pytest.skip("CALQUE_DATA names no folder of real data")
    return Path(folder)


def of_all_workers(tmp_path_factory):
    own = tmp_path_factory.getbasetemp()
    return own.parent if "PYTEST_XDIST_WORKER" in os.environ else own


@pytest.fixture(scope="session")
def stanza_models(tmp_path_factory):
    pytest.importorskip("stanza", reason="Stanza is not installed")
    from itertools import islice

    from calque.derive.pocket.language import Pocket
    from tests.stanza_training import train_models
    from tests.treebanks import write_treebank

    folder = of_all_workers(tmp_path_factory) / "stanza"
    with FileLock(folder.with_suffix(".lock")):
        if not (folder / "models").exists():
            for name, stream in (("train", 1), ("dev", 2)):
                write_treebank(folder / f"{name}.conllu", islice(Pocket().sentences(300, stream), 300))
            train_models(folder, folder / "models", 45)
    return folder / "models"


@pytest.fixture(scope="session")
def several(tmp_path_factory):
    """Several languages derived from a small Pocket English."""
    from tests.pocket import derive_several

    return derive_several(tmp_path_factory.mktemp("several"))


@pytest.fixture(scope="session")
def calque_encoder():
    folder = os.environ.get("CALQUE_ENCODER")
    if not folder:
        pytest.skip("CALQUE_ENCODER names no encoder")
    return Path(folder)


def pytest_collection_modifyitems(items):
    """Run files with slow tests first, so that no worker is left alone with one at the end."""
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)


def pytest_make_parametrize_id(val):
    """An archive contains the time of day, but the processes of pytest-xdist must agree on the names of
    tests."""
    return "bytes" if isinstance(val, bytes) and len(val) > 40 else None

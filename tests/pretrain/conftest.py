import pytest
import torch

from calque.derive.languages import Languages
from tests.pretrain.made import LANGUAGE, write_study


@pytest.fixture(scope="session", autouse=True)
def one_thread():
    """Bits depend on the number of threads."""
    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def study(tmp_path_factory):
    return write_study(tmp_path_factory.mktemp("made") / "study")


@pytest.fixture(scope="session")
def languages(study):
    return Languages.open(study, [LANGUAGE])

from pathlib import Path

import numpy as np
import pytest

from calque.derive.build import write_translation
from calque.derive.corpus import NOWHERE
from calque.derive.languages import Languages

SIZE = 300


def made(count: int = 300, seed: int = 0) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Sentences of made words and their word by word translations, a word longer, in another order."""
    random = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        words = random.integers(0, 40, random.integers(1, 9)).tolist()
        found.append((tuple(f"ab{word}" for word in words), (*(f"cd{word}" for word in words[::-1]), "!")))
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_translation(made(), "xx", SIZE, tmp_path_factory.mktemp("made") / "pair")


def test_every_line_is_paired_with_its_translation(folder: Path) -> None:
    languages = Languages.open(folder, ["xx"])
    (bitext,), vocabulary = languages.bitexts, languages.vocabulary
    assert len(bitext) == 300 and not bitext.gold
    for line, pair in enumerate(made()):
        assert tuple(map(vocabulary.text, bitext.ids(line))) == tuple(map(" ".join, pair))
        assert bitext.first.corpus.order(line).tolist() == list(range(len(pair[0])))
        assert (bitext.second.corpus.order(line) == NOWHERE).all()

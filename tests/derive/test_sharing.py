"""What derived languages share with their source, measured in their text."""

from pathlib import Path

import numpy as np
import pytest

from calque.derive.build import derive_languages
from calque.derive.corpus import Corpus
from calque.derive.dictionary import DictionaryConfig
from calque.derive.pocket.language import Pocket
from calque.derive.sources.pocket import PocketEnglish
from calque.derive.transforms import transform
from calque.derive.usage import count_shared
from calque.derive.vocabulary import Vocabulary

NAMES = ("trans", "trans-25", "trans-25-most", "trans-25-least", "trans-100-function", "trans-50-names.inv", "inv")
TEXT = PocketEnglish(language=Pocket(types=300), size=2_500)
SIZE = 600


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("sharing")
    transforms = [transform(name) for name in NAMES]
    return derive_languages(TEXT, transforms, SIZE, DictionaryConfig(), home / "languages", home / "cache", workers=2)


def measured(folder: Path, name: str) -> dict[str, tuple[float, int]]:
    return count_shared(
        folder / name, Vocabulary.load(folder / "vocabulary").types, np.load(folder / name / "image.npy")
    )


def test_sharing_is_counted_word_by_word(folder: Path) -> None:
    types = Vocabulary.load(folder / "vocabulary").types.tolist()
    for name in NAMES:
        corpus, image = Corpus.open(folder / name), np.load(folder / name / "image.npy")
        tokens, alike = corpus.tokens.tolist(), [image[i] == i for i in types]
        words, at = 0, 0
        for pieces in corpus.pieces.tolist():
            words += all(i < SIZE for i in tokens[at : at + pieces])
            at += pieces
        counts = (sum(alike), len(types)), (sum(i < SIZE for i in tokens), at), (words, len(corpus.pieces))
        assert [*measured(folder, name).values()] == [(some / of, of) for some, of in counts]

"""Words that share their stems with the source's: the laws of ids, and what a folder of such languages holds."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calque.derive.build import derive_languages
from calque.derive.dictionary import DictionaryConfig
from calque.derive.language import SOURCE, in_places
from calque.derive.languages import Languages
from calque.derive.order import Invert
from calque.derive.pocket.language import Pocket
from calque.derive.script import Cognates, Transliterate
from calque.derive.sources.pocket import PocketEnglish
from calque.derive.transform import compose
from calque.derive.types import OURS
from calque.derive.usage import Usage
from tests.derive.strategies import law

some = settings(law, max_examples=200)
FIRST = len(OURS.ids)
SIZE = 60
shares, seeds = st.floats(0, 1), st.integers(0, 9)
texts = st.lists(st.lists(st.integers(FIRST, SIZE - 1), min_size=1, max_size=4), min_size=1, max_size=12)


def derived(transform: Cognates, text: list[list[int]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A text's ids in the source and in the language, and how many each word has."""
    ids, pieces = np.array([i for word in text for i in word]), np.array([len(word) for word in text])
    usage = Usage.of(ids, pieces, [""] * len(text), SIZE)
    made = transform.informed(usage)
    return ids, in_places(ids, pieces, made.image(SIZE), made.places(SIZE)), pieces


@some
@given(texts, shares, seeds)
def test_no_word_is_shared_and_every_one_can_be_read_back(text: list[list[int]], share: float, seed: int) -> None:
    ids, image, pieces = derived(Cognates(share, seed), text)
    assert np.array_equal(image % SIZE, ids)
    ends = np.cumsum(pieces) - 1
    assert (image[ends] >= SIZE).all()
    drawn = Transliterate(share, seed).image(SIZE)  # an exact share of the types, without replacement
    inside = np.delete(np.arange(len(ids)), ends)
    assert np.array_equal(image[inside], drawn[ids[inside]])


@some
@given(texts, shares, shares, seeds)
def test_a_larger_share_has_what_a_smaller_one_has(text: list[list[int]], one: float, other: float, seed: int) -> None:
    small, large = (derived(Cognates(share, seed), text)[1] < SIZE for share in sorted((one, other)))
    assert (large >= small).all()


@some
@given(texts, seeds)
def test_at_0_it_is_a_new_script_and_at_1_every_stem_is_shared(text: list[list[int]], seed: int) -> None:
    ids, image, _ = derived(Cognates(0, seed), text)
    assert np.array_equal(image, Transliterate().image(SIZE)[ids])
    assert np.array_equal(Cognates(0, seed).image(SIZE), Transliterate().image(SIZE))
    ids, image, pieces = derived(Cognates(1, seed), text)
    assert (image < SIZE).sum() == len(ids) - len(pieces)


@some
@given(texts, shares, seeds)
def test_the_image_of_a_type_is_what_the_text_has_of_it(text: list[list[int]], share: float, seed: int) -> None:
    """At the end of words, or where it stands only inside them, there; the image of no two types is the same."""
    transform = Cognates(share, seed)
    ids, image, pieces = derived(transform, text)
    table = transform.informed(Usage.of(ids, pieces, [""] * len(text), SIZE)).image(SIZE)
    assert len({*table.tolist()}) == SIZE
    ends = np.cumsum(pieces) - 1
    assert np.array_equal(table[ids[ends]], image[ends])
    assert {*table[ids].tolist()} <= {*image.tolist()}


TEXT = PocketEnglish(language=Pocket(types=300), size=1_200)
STEMS = (Transliterate(), *map(Cognates, (0.0, 0.5, 1.0)), compose(Cognates(1.0), Invert()))
LEARNT = 330  # types of a vocabulary that cuts most words in pieces


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("stems")
    return derive_languages(TEXT, STEMS, LEARNT, DictionaryConfig(), home / "languages", home / "cache", workers=2)


def test_a_corpus_is_that_of_its_words_one_by_one(folder: Path) -> None:
    names = [transform.name for transform in STEMS]
    languages = Languages.open(folder, names)
    source = languages[SOURCE].corpus
    for name, transform in zip(names, STEMS, strict=True):
        language, made = languages[name], languages[name].corpus
        shared = {i for i in range(LEARNT) if Transliterate(share(transform)).image(LEARNT)[i] == i}
        for line in range(0, len(made), 97):
            words = np.split(source[line].astype(np.int64), np.cumsum(source.line_pieces(line))[:-1])
            expected = [
                i if i in shared and place < len(word) - 1 else i + LEARNT
                for word in (words[old] for old in made.order(line).tolist())
                for place, i in enumerate(word.tolist())
            ]
            assert made[line].tolist() == expected
            assert (language.ids(made[line]) >= 0).all()


def share(transform: object) -> float:
    """Of the types: what one of `STEMS` shares inside words."""
    return {one.name: kept for one, kept in zip(STEMS, (0.0, 0.0, 0.5, 1.0, 1.0), strict=True)}[transform.name]  # type: ignore[attr-defined]

"""Languages of a derived folder: what is theirs and what they share."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from derive.build import derive_languages
from derive.dictionary import DictionaryConfig
from derive.languages import Language, Languages
from derive.order import Invert
from derive.pocket.language import Pocket
from derive.script import Transliterate
from derive.sources.pocket import PocketEnglish, Sizes
from derive.transform import compose

FEW = Sizes(10, 5, 5)
NAMES = ("trans", "trans-25.inv", "inv")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three languages: a new script, another that shares a quarter of the types, and none."""
    out = tmp_path_factory.mktemp("languages") / "data"
    transforms = Transliterate(), compose(Transliterate(0.25), Invert()), Invert()
    source = PocketEnglish(Pocket(types=300), 400, FEW, FEW, FEW)
    return derive_languages(source, transforms, 500, DictionaryConfig(), out, out.parent / "cache")


def meaning(language: Language, ids: np.ndarray) -> list[int]:
    """The source types of a line's ids."""
    sources = {image: source for source, image in enumerate(language.table.tolist())}
    return [sources[i] for i in language.ids(np.asarray(ids, np.int64)).tolist()]


def test_a_pair_is_the_set_of_two(folder: Path) -> None:
    languages = Languages.open(folder, ["trans"])
    assert [language.name for language in languages.languages] == ["source", "trans"]
    assert (languages.size, languages.rows) == (500, 1000)


def test_every_script_has_rows_of_its_own(folder: Path) -> None:
    languages = Languages.open(folder, NAMES)
    assert languages.rows == 3 * languages.size
    source, trans, mixed, inverted = (set(language.table.tolist()) for language in languages.languages)
    assert source == inverted
    assert len(trans & source) == len(languages.specials.ids)
    assert trans & mixed == trans & source  # two scripts share what both share with the source
    assert len(mixed & source) == 5 + round(0.25 * 495)


def test_a_bitext_pairs_lines_that_derive_from_one_sentence(folder: Path) -> None:
    languages = Languages.open(folder, NAMES)
    for first, second in (("source", "trans"), ("trans", "inv"), ("trans-25.inv", "trans")):
        bitext = languages.bitext(first, second)
        assert len(bitext) == 400 and bitext.known
        for a, b in bitext.lines[:20]:
            one = meaning(languages[first], bitext.first.corpus[a])
            other = meaning(languages[second], bitext.second.corpus[b])
            assert sorted(one) == sorted(other)


def test_a_dictionary_speaks_of_the_models_ids(folder: Path) -> None:
    languages = Languages.open(folder, NAMES)
    for name in NAMES:
        pairs = languages.dictionary("source", name)
        assert len(pairs)
        assert np.array_equal(languages[name].table[pairs[:, 0]], pairs[:, 1])

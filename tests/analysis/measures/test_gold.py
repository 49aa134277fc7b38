"""Gold sets of annotators, by name, and gold sets that derivations are."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from analysis.measures.aer import score_all
from analysis.measures.gold import MOVED, SETS, derived_gold, derived_pairs, gold_set, read_pairs
from derive.build import derive_languages
from derive.dictionary import DictionaryConfig
from derive.errors import BadInput
from derive.order import Invert, Permute
from derive.pocket.language import Pocket
from derive.script import Cognates, Transliterate
from derive.sentence import Sentence
from derive.sources.pocket import PocketEnglish, Sizes
from derive.transform import Transform, compose

FEW = Sizes(4, 2, 2)
SOURCE = PocketEnglish(language=Pocket(types=300), size=300, pos=FEW, ner=FEW, nli=FEW)
TRANSFORMS = (
    compose(Transliterate(), Invert()),
    compose(Transliterate(0.5), Permute(3)),
    Invert(0.5),
)


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("studies")
    return derive_languages(SOURCE, TRANSFORMS, 400, DictionaryConfig(), folder / "study", folder / "cache")


def sentences() -> list[tuple[int, Sentence]]:
    """The corpus with the numbers that transforms draw from."""
    found = enumerate(SOURCE.chunks())
    return [((i << 32) + n, s) for i, chunk in found for n, s in enumerate(SOURCE.sentences(chunk)[0]) if s.words]


@pytest.mark.parametrize("transform", TRANSFORMS, ids=lambda transform: transform.name)
def test_words_and_links_are_those_of_the_sentence_and_its_image(study: Path, transform: Transform) -> None:
    found = list(derived_gold(study, transform.name))
    assert len(found) == 300
    for ((source, derived), gold), (number, sentence) in zip(found, sentences(), strict=True):
        image = transform(sentence, number)
        assert source == sentence.words
        assert tuple(word.removesuffix(MOVED) for word in derived) == image.words
        assert gold.sure == gold.possible == set(image.alignment)


@pytest.mark.parametrize("transform", TRANSFORMS, ids=lambda transform: transform.name)
def test_sub_words_are_linked_to_their_images_within_linked_words(study: Path, transform: Transform) -> None:
    image = np.load(study / transform.name / "image.npy")
    several = 0
    for pair in derived_pairs(study, transform.name):
        links = pair.piece_links
        assert links == sorted(links)
        assert sorted(old for old, _ in links) == sorted(new for _, new in links) == list(range(len(pair.source)))
        words = [np.repeat(np.arange(len(p)), p) for p in (pair.source_pieces, pair.derived_pieces)]
        assert sorted({(int(words[0][old]), int(words[1][new])) for old, new in links}) == pair.links
        assert all(image[pair.source[old]] == pair.derived[new] for old, new in links)
        several += len(pair.source) > len(pair.source_pieces)
    assert several > 50  # a vocabulary of 400 cuts words into pieces


def test_words_that_share_stems_are_linked_with_a_prime(tmp_path: Path) -> None:
    shared = compose(Cognates(), Invert())
    folder = derive_languages(SOURCE, [shared], 400, DictionaryConfig(), tmp_path / "study", tmp_path / "cache")
    found = list(derived_gold(folder, shared.name))
    for ((source, derived), gold), (number, sentence) in zip(found, sentences(), strict=True):
        image = shared(sentence, number)
        assert (source, derived) == (sentence.words, tuple(word + MOVED for word in image.words))
        assert gold.sure == set(image.alignment)


@dataclass(frozen=True)
class Short(Invert):
    """Inverts, and leaves long sentences out."""

    name = "short"

    def leaves_out(self, sentence: Sentence, number: int = 0) -> bool:
        return len(sentence) > 8


def test_sentences_without_an_image_are_no_pairs(tmp_path: Path) -> None:
    folder = derive_languages(SOURCE, [Short()], 400, DictionaryConfig(), tmp_path / "study", tmp_path / "cache")
    kept = [sentence for _, sentence in sentences() if len(sentence) <= 8]
    found = [source for (source, _), _ in derived_gold(folder, "short")]
    assert found == [sentence.words for sentence in kept] and 50 < len(kept) < 250
    pairs = list(derived_pairs(folder, "short"))
    again = list(derived_pairs(folder, "short", [5, 2]))  # lines of the derived corpus, in any order
    assert [one.words for one in again] == [pairs[5].words, pairs[2].words]


def test_a_prime_marks_what_the_script_changed(study: Path) -> None:
    (source, derived), gold = next(derived_gold(study, "trans.inv"))
    assert all(derived[new] == source[old] + MOVED for old, new in gold.sure)
    assert all(
        derived[new] == source[old]
        for (source, derived), gold in derived_gold(study, "inv-50")
        for old, new in gold.sure
    )
    units = [
        (source[old], derived[new])
        for (source, derived), gold in derived_gold(study, "trans-50.perm", pieces=True)
        for old, new in gold.sure
    ]
    types = dict(units)
    assert all(types[old] == new for old, new in units)
    assert 0.3 < np.mean([old == new for old, new in types.items()]) < 0.7


def test_derived_gold_is_without_error_against_itself(study: Path) -> None:
    gold = [links for _, links in islice(derived_gold(study, "trans.inv"), 50)]
    assert score_all(gold, [sorted(links.sure) for links in gold]).aer == 0
    diagonal = [[(i, i) for i in range(len(links.sure))] for links in gold]
    aer = score_all(gold, diagonal).aer
    assert aer is not None and aer > 0.5


def test_a_study_that_is_none_or_damaged_is_refused(study: Path, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no language nosuch; there are "):
        next(derived_pairs(study, "nosuch"))
    other = derive_languages(
        SOURCE, [Permute(4), *TRANSFORMS], 400, DictionaryConfig(), tmp_path / "other", tmp_path / "cache"
    )
    (other / "inv-50" / "origin.bin").write_bytes((other / "perm" / "origin.bin").read_bytes())
    with pytest.raises(BadInput, match="line 1 is no image of line 1"):
        list(derived_pairs(other, "inv-50"))


def write_set(folder: Path, **files: str) -> Path:
    texts = {"test.de": "ein Haus\nja\n", "test.en": "a house\nyes\n", "alignv2.txt": "0 1 1 S\n0 2 2 P\n1 1 1\n"}
    (folder / "de-en").mkdir()
    for name, text in (texts | files).items():
        (folder / "de-en" / name).write_text(text, encoding="utf-8")
    return folder


def test_a_set_and_its_counts(tmp_path: Path) -> None:
    found = gold_set(write_set(tmp_path), "de-en")
    assert found.pairs == ((("ein", "Haus"), ("a", "house")), (("ja",), ("yes",)))
    assert [sorted(links.possible - links.sure) for links in found.gold.pairs] == [[(1, 1)], []]
    assert found.counts == {
        "sentence pairs": 2,
        "source words": 3,
        "target words": 3,
        "sure links": 2,
        "other possible links": 1,
    }


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"test.en": "a house\n"}, r"test\.en: 1 sentences for the 2 of .*test\.de"),
        ({"test.en": "a house\n \n"}, r"test\.en:2: a line without words"),
        ({"alignv2.txt": "0 1 1 S\n1 1\n"}, r"alignv2\.txt:2: '1 1' is no link"),
    ],
)
def test_a_set_whose_files_do_not_fit_is_refused(tmp_path: Path, files: dict[str, str], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        gold_set(write_set(tmp_path, **files), "de-en")
    with pytest.raises(BadInput, match="no such file"):
        gold_set(tmp_path, "en-fr")


def test_pairs_are_parted_by_any_white_space(tmp_path: Path) -> None:
    folder = write_set(tmp_path, **{"test.de": "ein  Haus \nja\n"}) / "de-en"
    assert read_pairs(folder / "test.de", folder / "test.en")[0] == (("ein", "Haus"), ("a", "house"))


def test_the_four_real_sets(calque_data: Path) -> None:
    sets = {name: gold_set(calque_data / "align", name) for name in SETS}
    assert {name: len(one.pairs) for name, one in sets.items()} == {
        "de-en": 508,
        "en-fr": 447,
        "ro-en": 199,
        "en-hi": 90,
    }
    assert sum(len(one.pairs) for one in sets.values()) == 1_244  # as XLM-Align's section 4.3 says
    assert {name: (one.counts["sure links"], one.counts["other possible links"]) for name, one in sets.items()} == {
        "de-en": (9_612, 921),
        "en-fr": (4_038, 13_400),
        "ro-en": (5_033, 0),
        "en-hi": (1_408, 0),
    }
    assert {name: one.counts["links outside their sentences"] for name, one in sets.items()} == {
        "de-en": 1,
        "en-fr": 0,
        "ro-en": 0,
        "en-hi": 1,
    }
    assert {name: one.counts["links that stand twice"] for name, one in sets.items()} == {
        "de-en": 0,
        "en-fr": 0,
        "ro-en": 1,
        "en-hi": 0,
    }
    assert not any(one.counts["sentence pairs without a link"] for one in sets.values())
    assert "alignv2.txt:3728: the link 22 -99, counted from 1" in sets["de-en"].gold.outside[0]
    assert "the link 33 34, counted from 1" in sets["en-hi"].gold.outside[0]
    for one in sets.values():
        assert score_all(one.gold.pairs, [pair.sure for pair in one.gold.pairs]).aer == 0

from hashlib import blake2b
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calque.derive.build import Derivation, derive_languages
from calque.derive.corpus import Corpus, Ragged
from calque.derive.dictionary import DictionaryConfig, read_dictionary
from calque.derive.languages import SOURCE, Language, Languages, disjoint_halves
from calque.derive.order import PocketTreebank, Reorder
from calque.derive.sources.files import Files
from calque.derive.transforms import Transliterate, transform
from calque.derive.vocabulary import OURS, Vocabulary
from tests.refusals import refusal

NAMES = ("trans", "trans-25.inv", "inv")


def meaning(language, ids):
    sources = {image: source for source, image in enumerate(language.table.tolist())}
    return [sources[i] for i in language.ids(np.asarray(ids, np.int64)).tolist()]


@pytest.mark.parametrize("name", NAMES)
def test_gold_links_join_words_of_the_same_source_word(several, name):
    languages = Languages.open(several, NAMES)
    bitext = languages.bitext(SOURCE, name)
    for pair in range(0, len(bitext), 20):
        both = zip((bitext.first, bitext.second), bitext.lines[pair], strict=True)
        ids = [np.array(meaning(side, side.corpus[line])) for side, line in both]
        links = bitext.piece_links(pair)
        assert sorted(links[:, 0]) == sorted(links[:, 1]) == list(range(len(ids[0])))
        assert np.array_equal(ids[0][links[:, 0]], ids[1][links[:, 1]])
        a, b = bitext.lines[pair]
        for i, j in bitext.links(pair):
            assert bitext.first.corpus.origin[a][i] == bitext.second.corpus.origin[b][j]
        for turned in (False, True):
            mine, theirs = (1, 0) if turned else (0, 1)
            targets = bitext.targets(pair, turned)
            assert np.array_equal(targets, links[np.argsort(links[:, mine])][:, theirs])


@pytest.mark.parametrize("name", NAMES)
def test_dictionary_is_the_same_in_both_directions(several, name):
    languages = Languages.open(several, NAMES)
    back = sorted((image, type_) for type_, image in languages.dictionary(SOURCE, name).tolist())
    assert languages.dictionary(name, SOURCE).tolist() == [list(pair) for pair in back]
    assert "no language is called 'fr'" in refusal(languages.bitext, name, "fr")
    assert f"available: {SOURCE}-" in refusal(languages.bitext, name, SOURCE)
    assert "no dictionary" in refusal(languages.dictionary, name, "inv" if name == "trans" else "trans")
    assert "no language is called 'source'" in refusal(Languages.open, languages.folder, [SOURCE])


ORDER = Reorder(PocketTreebank("romance"), PocketTreebank("english"))


TYPES = 20
SENTENCES = st.lists(st.lists(st.integers(5, 7), min_size=1, max_size=3), min_size=1, max_size=40)


def corpus_of(lines, source_line):
    ids = np.array([i for line in lines for i in line], np.uint16)
    ends = np.array([sum(map(len, lines[:n])) for n in range(len(lines) + 1)])
    origin = np.array([place for line in lines for place in range(len(line))], np.uint16)
    pieces = Ragged(np.ones(len(ids), np.uint16), ends)
    return Corpus(Ragged(ids, ends), pieces, Ragged(origin, ends), np.array(source_line, np.int64))


def lines_of(corpus):
    for line, source in enumerate(corpus.source_line.tolist()):
        yield source, corpus[line].tolist(), corpus.pieces[line].tolist(), corpus.links(line).tolist()


def check_halves(whole, halves):
    corpus = whole[SOURCE].corpus
    ids = [tuple(corpus[n].tolist()) for n in range(len(corpus))]
    read = {each.name: each.corpus.source_line.tolist() for each in halves.languages}
    for name in whole.others:
        both = sorted([*read[SOURCE], *read[name]])
        there = {*whole[name].corpus.source_line.tolist()}
        assert [line for line in both if line in there] == sorted(there)
        assert not {ids[line] for line in read[SOURCE]} & {ids[line] for line in read[name]}
    for before, after in zip(whole.languages, halves.languages, strict=True):
        kept = {*read[before.name]}
        assert [line for line in lines_of(before.corpus) if line[0] in kept] == list(lines_of(after.corpus))


@given(SENTENCES, st.data())
def test_disjoint_halves_share_no_sentence(sentences, data):
    has_image = data.draw(st.lists(st.booleans(), min_size=len(sentences), max_size=len(sentences)))
    numbers = [number for number, kept in enumerate(has_image) if kept]
    images = [[TYPES + i for i in reversed(sentences[number])] for number in numbers]
    table = np.arange(TYPES)
    languages = (
        Language(SOURCE, 0, corpus_of(sentences, range(len(sentences))), table),
        Language("other", 1, corpus_of(images, numbers), table + TYPES),
    )
    whole = Languages(Path(), languages)
    halves = disjoint_halves(whole)
    check_halves(whole, halves)
    hashes = [blake2b(ids.tobytes(), digest_size=1).digest() for ids in halves[SOURCE].corpus.tokens]
    assert not any(first % 2 for (first,) in hashes)


TEXT = """ = Lobster <unk> =\x20
\x20
 The <unk> lobster sat on the <unk> @-@ shaped rock . It ate <unk> and 1 @,@ 000 <unk> .\x20
 <unk> slept .\x20
"""


def put(path, text=TEXT):
    path.write_text(text)
    return path


@pytest.fixture(scope="module")
def derived(tmp_path_factory):
    folder = tmp_path_factory.mktemp("unknown")
    source = Files((put(folder / "wiki.tokens", TEXT * 30),))
    transforms = Transliterate(), transform("trans.inv")
    derivation = Derivation(source, transforms, 300, DictionaryConfig(fraction=1.0))
    derive_languages(derivation, folder / "made", folder)
    return Languages.open(folder / "made", ["trans", "trans.inv"])


def test_derived_languages_share_the_unknown_type(derived):
    types = Vocabulary.load(derived.folder / "vocabulary")
    assert types.counts[OURS.unknown] == 5 * 30
    assert not any(types.counts[list(types.encode(letter))].any() for letter in "<>")
    assert "unk" not in "".join(types.text([i]) for i in types.types)
    for language in derived.languages:
        assert (language.ids(language.corpus.tokens.values) == OURS.unknown).sum() == 5 * 30
    source, inverted = (derived[name].corpus for name in ("source", "trans.inv"))
    assert source[2].tolist()[0] == inverted[2].tolist()[-2] == OURS.unknown  # the final full stop stays last
    for name in ("trans", "trans.inv"):
        assert OURS.unknown not in read_dictionary(derived.folder / name / "dictionary.tsv")

import json
from collections import Counter, defaultdict
from itertools import chain

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calque.derive.build import Derivation, derive_languages
from calque.derive.languages import Languages
from calque.derive.order import Invert
from calque.derive.pocket.language import Pocket, PocketEnglish, Sizes
from calque.derive.sentence import CHUNKS, Sentence
from calque.derive.transform import Account, compose, image_of
from calque.derive.transforms import Rewrite, Translate, Transliterate
from tests.derive.rewriting import Cut, Merge
from tests.derive.strategies import law, sentences

FEW = Sizes(40, 10, 20)
SOURCE = PocketEnglish(language=Pocket(types=300), size=1_200, pos=FEW, ner=FEW)
TRANSFORMS = (
    compose(Transliterate(), Merge()),
    compose(Cut(), Invert()),
    compose(Transliterate(0.5), Merge(), Cut()),
    Transliterate(),
)


def links_of(sentence):
    """The sorted gold links: pairs of positions before any transform and now."""
    return sorted((place, i) for i, group in enumerate(sentence.rendered) for place in group)


@st.composite
def rewritten(draw):
    sentence = draw(sentences().filter(len))
    sentence = sentence.reorder(draw(st.permutations(range(len(sentence)))))
    places = st.integers(0, len(sentence) - 1)
    return sentence, draw(
        st.lists(st.lists(places, min_size=1, max_size=3, unique=True), min_size=1, max_size=12)
    )


@law
@given(rewritten())
def test_links_and_labels_follow_words(case):
    before, groups = case
    after = before.rewrite([(f"n{i}", group) for i, group in enumerate(groups)])
    assert after.words == tuple(f"n{i}" for i in range(len(groups)))
    assert set(links_of(after)) == {
        (before.origin[place], i) for i, group in enumerate(groups) for place in group
    }
    spans = {place: span for span in before.spans for place in range(span.start, span.end)}
    new = {place: span for span in after.spans for place in range(span.start, span.end)}
    for i, (main, *_) in enumerate(groups):
        assert after.origin[i] == before.origin[main] == after.sources[i][0]
        covering = next((spans[place].label for place in groups[i] if place in spans), "")
        assert covering == (new[i].label if i in new else "")
        if before.tags:
            assert after.tags[i] == before.tags[main]
    assert after.heads == after.relations == ()
    order = list(range(len(groups)))[::-1]
    moved = after.reorder(order)
    assert set(links_of(moved)) == {(place, len(groups) - 1 - i) for place, i in links_of(after)}
    again = after.rewrite([("all", order)])
    assert set(links_of(again)) == {(place, 0) for place, _ in links_of(after)}


class Loud(Rewrite):
    needs_trees = False

    def rewritten(self, sentence, number):
        return [(f"{word}!", (place,)) for place, word in enumerate(sentence.words[1:], start=1)]


def test_words_change_without_tags_if_none_are_needed():
    sentence = Sentence(("a", "b"))
    assert Loud()(sentence).text == "b!" and not Loud().account(sentence)
    assert Cut()(sentence) == sentence and Cut().account(sentence)


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    folder = tmp_path_factory.mktemp("words")
    return derive_languages(Derivation(SOURCE, TRANSFORMS, 600), folder / "study", folder / "cache")


def images(transform):
    return [
        (sentence, image_of(transform, sentence, CHUNKS.number(index, place), Account()))
        for index, chunk in enumerate(SOURCE.chunks())
        for place, sentence in enumerate(SOURCE.sentences(chunk)[0])
        if sentence.words
    ]


def test_folder_contains_words_and_links(study):
    languages = Languages.open(study, [transform.name for transform in TRANSFORMS])
    of_all = {transform.name: images(transform) for transform in TRANSFORMS}
    encode = languages.vocabulary.encode
    for transform in TRANSFORMS:
        bitext = languages.bitext("source", transform.name)
        language = bitext.second
        assert bitext.gold and len(bitext) == len(of_all[transform.name])
        for number in range(0, len(bitext), 97):
            after = of_all[transform.name][number][1]
            assert [tuple(link) for link in bitext.links(number).tolist()] == links_of(after)
            ids = np.array(list(chain.from_iterable(map(encode, after.words))))
            assert language.corpus.pieces[number].tolist() == [len(encode(word)) for word in after.words]
            assert np.array_equal(language.ids(language.corpus[number]), language.table[ids])
            targets, pieces = bitext.targets(number), bitext.piece_links(number)
            assert targets.tolist() == [
                min((j for i, j in pieces.tolist() if i == place), default=-1)
                for place in range(len(targets))
            ]


def test_types_with_one_image(study):
    languages = Languages.open(study, [transform.name for transform in TRANSFORMS])
    encode = languages.vocabulary.encode
    facts = json.loads((study / "manifest.json").read_text())["languages"]
    for transform in TRANSFORMS[:3]:
        seen = defaultdict(set), defaultdict(set)
        for sentence, image in images(transform):
            for i, j in links_of(image):
                alone = (
                    sum(i == one for one, _ in links_of(image)) == 1 == len((image.sources or {j: (i,)})[j])
                )
                one, other = encode(sentence.words[i]), encode(image.words[j])
                if alone and len(one) == len(other) == 1:
                    seen[0][one[0]].add(other[0])
                    seen[1][other[0]].add(one[0])
        language = languages[transform.name]
        expected = {
            one: int(language.table[next(iter(others))])
            for one, others in seen[0].items()
            if len(others) == 1 and len(seen[1][next(iter(others))]) == 1
        }
        found = {int(one): int(language.images[one]) for one in np.flatnonzero(language.images >= 0)}
        assert found == expected and len(found) > 50
        entries = languages.dictionary("source", transform.name)
        assert len(entries) == round(0.25 * len(found))
        assert all(found[one] == other for one, other in entries.tolist())
        without = facts[transform.name]["types without one image"]
        assert without == len(languages.vocabulary.types) - len(found)


def test_words_are_translated_by_a_lexicon(tmp_path, monkeypatch):
    monkeypatch.setenv("CALQUE_DATA", str(tmp_path))
    (tmp_path / "lexicons").mkdir()
    (tmp_path / "lexicons" / "en-xx.tsv").write_text("dog\tfido\ndog\trex\nthe\tle\n")
    sentence, counts = Sentence(tuple("The dog barks .".split())), Counter()
    for number in range(2_000):
        image = image_of(Translate("xx"), sentence, number, account := Account())
        assert image == Translate("xx")(sentence, number)
        assert image.words[0] == "Le" and image.words[2:] == ("barks", ".")
        assert links_of(image) == [(place, place) for place in range(4)]
        assert account.kept == {"words without an entry": 2}
        counts[image.words[1]] += 1
    assert set(counts) == {"fido", "rex"} and counts["fido"] / 2_000 == pytest.approx(0.5, abs=0.04)

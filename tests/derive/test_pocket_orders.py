"""Sister languages: English's trees and words, said in another order."""

import random
from collections import Counter
from pathlib import Path

import pytest

from calque.derive.errors import BadInput
from calque.derive.pocket.grammar import PAST, PRESENT, SentenceGrammar
from calque.derive.pocket.language import Pocket
from calque.derive.pocket.tree import ENGLISH, ORDERS, Node, linearise
from calque.derive.readers.conllu import read_treebank
from calque.derive.sentence import Sentence
from tests.derive.typology import shares
from tests.treebanks import write_treebank

SISTERS = [name for name in ORDERS if name != "english"]
SPOKEN = {name: tuple(Pocket(600, order=name).sentences(4_000)) for name in ORDERS}
TYPOLOGY = {name: shares(sentences) for name, sentences in SPOKEN.items()}


def words(sentence: Sentence) -> Counter[str]:
    """Its words, with `a` for `an`: that depends on the next word, so on the order."""
    return Counter("a" if word == "an" else word for word in sentence.words)


@pytest.mark.parametrize("name", SISTERS)
def test_a_sister_has_english_words_names_and_relations(name: str) -> None:
    for english, sister in zip(SPOKEN["english"], SPOKEN[name], strict=True):
        assert words(sister) == words(english)
        assert sorted(zip(sister.tags, sister.relations, strict=True)) == sorted(
            zip(english.tags, english.relations, strict=True)
        )
        assert sister.origin == tuple(range(len(sister)))


@pytest.mark.parametrize("name", SISTERS)
def test_trees_are_the_same_and_cross_nowhere(name: str) -> None:
    rng = random.Random(0)
    for seed in range(300):
        tree = SentenceGrammar(random.Random(seed), (PAST, PRESENT)[seed % 2]).sentence()
        english, heads = linearise(tree, ENGLISH.places)
        said, moved = linearise(tree, ORDERS[name].draw(rng))
        assert arcs(english, heads) == arcs(said, moved)
        assert not crossing(moved)


def arcs(nodes: list[Node], heads: tuple[int, ...]) -> set[tuple[int, int]]:
    return {(id(node), id(nodes[head]) if head >= 0 else 0) for node, head in zip(nodes, heads, strict=True)}


def crossing(heads: tuple[int, ...]) -> bool:
    edges = [(min(i, head), max(i, head)) for i, head in enumerate(heads) if head >= 0]
    return any(a < c < b < d for a, b in edges for c, d in edges)


@pytest.mark.parametrize("name", ORDERS)
def test_a_language_is_a_treebank_and_ends_with_its_mark(name: str, tmp_path: Path) -> None:
    path = tmp_path / f"{name}.conllu"
    write_treebank(path, SPOKEN[name])
    for sentence, read in zip(SPOKEN[name], read_treebank(path), strict=True):
        assert (read.words, read.tags) == (sentence.words, sentence.tags)
        assert (read.heads, read.relations) == (sentence.heads, sentence.relations)
        assert read.words[-1] in (".", "?")
        assert not crossing(read.heads)


@pytest.mark.parametrize("name", ORDERS)
def test_a_becomes_an_before_a_vowel_in_every_order(name: str) -> None:
    for sentence in SPOKEN[name]:
        for article, after in zip(sentence.words, sentence.words[1:], strict=False):
            assert article not in ("a", "an") or (article == "an") == (after[0] in "aeiou")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (
            "english",
            {"adjectives after nouns": 0, "SVO": 1, "adpositions before nouns": 1, "genitives after nouns": 0.78},
        ),
        (
            "romance",
            {"adjectives after nouns": 0.85, "SVO": 1, "adpositions before nouns": 1, "genitives after nouns": 1},
        ),
        (
            "verbfinal",
            {
                "SOV": 0.9,
                "OSV": 0.1,
                "adpositions before nouns": 0,
                "genitives after nouns": 0,
                "relative clauses after nouns": 0,
                "obliques after verbs": 0,
                "auxiliaries before verbs": 0,
                "subordinators before verbs": 0,
            },
        ),
        (
            "verbinitial",
            {
                "VSO": 0.9,
                "SVO": 0.1,
                "adjectives after nouns": 0.9,
                "adpositions before nouns": 1,
                "genitives after nouns": 1,
            },
        ),
    ],
)
def test_shares_are_as_the_table_says(name: str, expected: dict[str, float]) -> None:
    for preference, share in expected.items():
        assert TYPOLOGY[name][preference] == pytest.approx(share, abs=0.04), preference


def test_an_unknown_order_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(BadInput, match="no word order is called 'klingon'; there are english, romance, verbfinal"):
        Pocket(order="klingon")

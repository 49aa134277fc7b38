"""Another language's word order, and where grammars come from."""

import random
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calque.derive.grammar.features import CLASSES, MOST, Tree
from calque.derive.grammar.model import Grammar
from calque.derive.pocket.language import Pocket
from calque.derive.readers.conllu import read_treebank
from calque.derive.reorder import PocketTreebank, Reorder, TreebankFiles
from calque.derive.sentence import Sentence, Span
from tests.derive.grammar.test_features import below, trees
from tests.derive.typology import shares
from tests.treebanks import write_treebank

ENGLISH, FINAL = PocketTreebank("english", size=600), PocketTreebank("verbfinal", size=600)


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def reorder(cache: Path) -> Reorder:
    return Reorder(FINAL, ENGLISH).ready(cache)


def sentence_of(heads: tuple[int, ...], seed: int) -> Sentence:
    """Random tags and relations on a tree, two spans, and words that tell their places."""
    rng, n = random.Random(seed), len(heads)
    return Sentence(
        words=tuple(f"w{i}" for i in range(n)),
        tags=tuple(rng.choice(("NOUN", "VERB", "ADJ", "PROPN", "ADP")) for _ in range(n)),
        heads=heads,
        relations=tuple(rng.choice(("nsubj", "obj", "amod", "case", "obl")) for _ in range(n)),
        spans=(Span(0, (n + 1) // 2, "PER"),),
    )


@settings(max_examples=300)
@given(trees(), st.integers(0, 10**6))
def test_the_tree_and_its_labels_travel(heads: tuple[int, ...], seed: int) -> None:
    transform = Reorder(FINAL, ENGLISH, grammar=Grammar("none", {}, {}))  # every order is alike: the widest choice
    before = sentence_of(heads, seed)
    after = transform(before, seed)
    assert sorted(after.words) == sorted(before.words)
    for new, old in enumerate(after.origin):
        assert (after.words[new], after.tags[new]) == (before.words[old], before.tags[old])
        assert after.relations[new] == before.relations[old]
        head = after.heads[new]
        assert (after.origin[head] if head >= 0 else -1) == before.heads[old]
    named = {after.words[i] for span in after.spans for i in range(span.start, span.end)}
    assert named == set(before.words[: (len(before) + 1) // 2])


@settings(max_examples=300)
@given(trees(), st.integers(0, 10**6))
def test_whole_subtrees_stay_whole_and_crossing_or_large_nodes_stay(heads: tuple[int, ...], seed: int) -> None:
    transform = Reorder(FINAL, ENGLISH, grammar=Grammar("none", {}, {}))
    before = sentence_of(heads, seed)
    after = transform(before, seed)
    tree, there = Tree.of(heads), {old: new for new, old in enumerate(after.origin)}
    for word in range(len(heads)):
        if tree.whole[word]:
            places = sorted(there[i] for i in below(heads, word))
            assert places == list(range(places[0], places[0] + len(places)))
    if all(tree.whole):
        assert all(Tree.of(after.heads).whole)
        for head, words in enumerate(tree.dependents):
            if before.tags[head] not in CLASSES or len(words) >= MOST:
                node = sorted([head, *words])
                assert sorted(node, key=there.__getitem__) == node


@settings(max_examples=500)
@given(trees(), st.integers(0, 10**6), st.sets(st.integers(0, 9)), st.booleans())
def test_the_parts_of_a_word_move_together_as_the_word_would(
    heads: tuple[int, ...], seed: int, split: set[int], mirrored: bool
) -> None:
    transform = Reorder(FINAL, ENGLISH, grammar=Grammar("none", {}, {}))
    whole, places = sentence_of(heads, seed), range(len(heads))[:: -1 if mirrored else 1]
    before = whole.rewrite([(f"w{i}{part}", (i,)) for i in places for part in ("ab" if i in split else "a")])
    whole = whole.reorder(places)
    parts = [[place for place in range(len(before)) if before.origin[place] == i] for i in range(len(heads))]
    order = [before.words.index(word) for word in transform(before, seed).words]
    assert order == [place for i in transform(whole, seed).origin for place in parts[i]]
    assert transform.account(before) == transform.account(whole)


@pytest.mark.parametrize("dependents", [6, 7, 20])
def test_a_node_of_more_than_seven_items_stays(dependents: int) -> None:
    transform = Reorder(FINAL, ENGLISH, grammar=Grammar("none", {}, {}))
    sentence = Sentence(
        tuple(map(str, range(dependents + 1))), ("VERB",) * (dependents + 1), (-1, *[0] * dependents),
        ("root", *["obj"] * dependents),
    )  # fmt: skip
    images = {transform(sentence, number).words for number in range(20)}
    kept = dependents > 6
    assert (images == {sentence.words}) == kept
    assert transform.account(sentence) == ({"nodes of more than 7 items": 1} if kept else {})


def test_a_draw_depends_on_the_number_alone(reorder: Reorder) -> None:
    sentences = list(Pocket().sentences(200, 7))
    first = [reorder(sentence, number) for number, sentence in enumerate(sentences)]
    again = [reorder(sentence, number) for number, sentence in reversed(list(enumerate(sentences)))]
    assert first == again[::-1]
    assert first != [reorder(sentence, number + 1) for number, sentence in enumerate(sentences)]
    assert first != [replace(reorder, seed=1)(sentence, number) for number, sentence in enumerate(sentences)]


def test_draws_are_those_that_languages_were_made_with() -> None:
    """A folder keeps its name, so it keeps its bytes: seed 5 and sentence 1 are not seed 1 and sentence 5."""
    transform = Reorder(FINAL, ENGLISH, p=0.5, seed=5, grammar=Grammar("none", {}, {}))
    sentence = Sentence(tuple("abcde"), ("VERB",) * 5, (-1, 0, 0, 0, 0), ("root", *["obj"] * 4))
    assert [
        "".join(transform(sentence, number).words) for number in range(6)
    ] == "abcde abcde acbed cbead eacdb baced".split()


def test_the_superstrate_weight_is_a_parameter(reorder: Reorder, cache: Path) -> None:
    sentences = list(Pocket().sentences(500, 5))
    behind = []
    for weight in (0.0, 0.5, 1.0):
        moved = replace(reorder, superstrate_weight=weight, grammar=None).ready(cache)
        behind.append(shares(moved(s, i) for i, s in enumerate(sentences))["objects after verbs"])
    assert behind[0] == pytest.approx(shares(sentences)["objects after verbs"], abs=0.05)
    assert behind[0] > behind[1] > behind[2]
    assert behind[2] < 0.1


def test_every_word_of_a_real_treebank_is_accounted_for(calque_data: Path, cache: Path) -> None:
    ud = calque_data / "ud"
    french = TreebankFiles("fr", (ud / "UD_French-Sequoia" / "fr_sequoia-ud-dev.conllu",))
    english = TreebankFiles("en", (ud / "UD_English-EWT" / "en_ewt-ud-dev.conllu",))
    reorder = Reorder(french, english).ready(cache)
    sentences = list(read_treebank(english.paths[0]))
    images = [reorder(sentence, number) for number, sentence in enumerate(sentences)]
    assert [sorted(image.words) for image in images] == [sorted(sentence.words) for sentence in sentences]
    kept: Counter[str] = sum(map(reorder.account, sentences), Counter())
    assert set(kept) == {"nodes of more than 7 items", "nodes with crossing arcs"}
    assert shares(images)["adjectives after nouns"] > 0.5
    assert shares(images)["SVO"] > 0.9


@pytest.fixture(scope="module")
def treebank(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("treebank") / "xx_made-ud-train.conllu"
    write_treebank(path, Pocket(order="romance").sentences(300))
    return path


def test_a_grammar_is_learnt_once(treebank: Path, tmp_path: Path) -> None:
    files = TreebankFiles("xx", (treebank,))
    first = files.grammar(tmp_path)
    (kept,) = tmp_path.iterdir()
    stamp = kept.stat().st_mtime_ns
    assert files.grammar(tmp_path).weights == first.weights
    assert kept.stat().st_mtime_ns == stamp

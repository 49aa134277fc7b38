"""Everyday English as a source: what its readers find in its files, and what is refused."""

from dataclasses import replace
from pathlib import Path

import pytest

from calque.derive.grammar.features import orders
from calque.derive.readers.conllu import read_conllu, tree_fault
from calque.derive.readers.iob2 import read_iob2
from calque.derive.sources.everyday import FOLDER, TREEBANK, everyday, french_order, opened
from calque.derive.sources.files import Files
from calque.derive.stored_trees import StoredTrees

CONTENTS = opened().facts["contents"]


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Files:
    return everyday().ready(tmp_path_factory.mktemp("cache"), trees=True)


@pytest.fixture(scope="module")
def words(source: Files) -> list[tuple[str, ...]]:
    """The words of every sentence, which easy text of all types keeps."""
    whole = replace(source, easy=None, trees=None)
    return [sentence.words for chunk in whole.chunks() for sentence in whole.sentences(chunk)[0]]


@pytest.mark.parametrize("split", ["train", "dev", "test"])
def test_tags_trees_and_entities_are_of_the_same_words(split: str) -> None:
    path = FOLDER / TREEBANK.format(split)
    trees, entities = list(read_conllu(path)), list(read_iob2(path))
    assert [s.words for s in trees] == [s.words for s in entities] and all(s.heads and s.relations for s in trees)
    assert {span.label for s in entities for span in s.spans} == {"PER", "ORG", "LOC"}
    assert len(trees) == CONTENTS[path.name]["sentences"]


def test_every_sentence_has_a_tree(source: Files, words: list[tuple[str, ...]]) -> None:
    assert isinstance(source.parser, StoredTrees)
    trees = source.parser.trees(words)
    assert not any(isinstance(tree, str) or tree_fault(tree.heads) for tree in trees)
    tagged = {(word, tag) for tree in trees[:1_000] for word, tag in zip(tree.words, tree.tags, strict=True)}  # type: ignore[union-attr]
    assert {("Tom", "PROPN"), ("n't", "PART"), (".", "PUNCT")} < tagged


def test_french_order_needs_no_treebank_of_the_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CALQUE_DATA", str(tmp_path))
    order = french_order()
    assert order.name == "syn-fr"
    probabilities = order.superstrate.grammar(tmp_path).probabilities(("ADJ amod", "DET det", "@NOUN @"))
    determiner_noun_adjective = (1, 2, 0)
    assert orders(3)[probabilities.argmax()] == determiner_noun_adjective

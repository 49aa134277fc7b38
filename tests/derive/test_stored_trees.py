"""Trees in a file in place of a parser: each sentence gets its own, and files that do not fit are refused."""

from itertools import islice
from pathlib import Path

from calque.derive.pocket.language import Pocket
from calque.derive.sentence import Sentence
from calque.derive.stored_trees import StoredTrees, line_of
from tests.treebanks import write_treebank

SENTENCES = list({sentence.words: sentence for sentence in islice(Pocket().sentences(60, 1), 60)}.values())


def write(folder: Path, sentences: list[Sentence], trees: list[str]) -> StoredTrees:
    (folder / "text.txt").write_text("".join(f"{sentence.text}\n" for sentence in sentences), encoding="utf-8")
    (folder / "trees.txt").write_text("".join(f"{line}\n" for line in trees), encoding="utf-8")
    return StoredTrees(folder / "text.txt", folder / "trees.txt")


def test_stored_trees_are_the_trees(tmp_path: Path) -> None:
    stored = write(tmp_path, SENTENCES, list(map(line_of, SENTENCES)))
    words = [sentence.words for sentence in reversed(SENTENCES)]
    for tree, sentence in zip(stored.trees(words), reversed(SENTENCES), strict=True):
        assert isinstance(tree, Sentence)
        assert (tree.tags, tree.heads, tree.relations) == (sentence.tags, sentence.heads, sentence.relations)


def test_a_treebank_comes_before_the_text(tmp_path: Path) -> None:
    first = SENTENCES[0]
    flat = Sentence(
        first.words, first.tags, (-1, *(0 for _ in first.words[1:])), ("root", *("dep",) * (len(first) - 1))
    )
    write_treebank(tmp_path / "gold.conllu", [first])
    stored = write(tmp_path, [first], [line_of(flat)])
    gold = StoredTrees(stored.text, stored.file, (tmp_path / "gold.conllu",))
    assert stored.trees([first.words])[0].heads == flat.heads  # type: ignore[union-attr]
    assert gold.trees([first.words])[0].heads == first.heads  # type: ignore[union-attr]
    assert gold.fingerprint() != stored.fingerprint()

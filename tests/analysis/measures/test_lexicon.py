"""Words of a lexicon in a table, and drawn."""

from itertools import combinations, pairwise
from pathlib import Path

import numpy as np
import pytest
from transformers import AutoModel, AutoTokenizer

from calque.analysis.measures.lexicon import LexiconRows, chosen, word_pairs
from calque.analysis.papers.weam import pairs_figure, placed
from calque.derive.dictionary import Entry
from calque.derive.errors import BadInput
from tests.analysis.aligners.conftest import roberta, sentence_pairs

__all__ = ["roberta", "sentence_pairs"]  # fixtures


def entries(folder: Path) -> list[Entry]:
    """Words of one type each and their neighbours in the vocabulary, the most frequent first."""
    tokenizer = AutoTokenizer.from_pretrained(folder)
    words = [word for word in ("the", "a", "is", "by", "in", "near", "of", "not") if len(single(tokenizer, word)) == 1]
    return [Entry(a, b, 1.0, 100 - i) for i, (a, b) in enumerate(pairwise(words))]


def single(tokenizer: object, word: str) -> list[int]:
    return tokenizer(f" {word}", add_special_tokens=False)["input_ids"]  # type: ignore[operator,no-any-return]


def test_vectors_are_the_rows_of_the_table(roberta: Path) -> None:
    known = entries(roberta)
    found = chosen(known, [roberta], 3)
    assert len(found) >= 2 and list(found) == [entry for entry in known if entry in found]
    made = word_pairs(roberta, found)
    table = AutoModel.from_pretrained(roberta).get_input_embeddings().weight.detach().numpy()
    tokenizer = AutoTokenizer.from_pretrained(roberta)
    for entry, one, other in zip(found, made.source, made.target, strict=True):
        for word, vector in ((entry.source, one), (entry.target, other)):
            row = table[single(tokenizer, word)[0]]
            np.testing.assert_allclose(vector, row / np.linalg.norm(row), rtol=1e-6)


def test_a_word_stands_in_one_pair_and_stop_words_in_none(roberta: Path) -> None:
    known = entries(roberta)
    twice = [known[0], Entry(known[0].source, known[2].source, 1.0, 90), *known[2:]]
    found = chosen(twice, [roberta], 9)
    assert len({entry.source for entry in found}) == len({entry.target for entry in found}) == len(found)
    stop = {known[0].source}
    assert all(not {entry.source, entry.target} & stop for entry in chosen(known, [roberta], 9, stop))
    with pytest.raises(BadInput, match="expected at least two"):
        chosen([Entry("qqqqzzzz", "xxxxvvvv", 1.0, 5)], [roberta], 9)


def test_cosine_and_finds_are_over_the_words_that_are_shown() -> None:
    words = tuple(Entry(f"a{i}", f"b{i}", 1.0, 1) for i in range(3))
    same = np.eye(3, dtype=np.float32)
    assert (LexiconRows(words, same, same).cosine, LexiconRows(words, same, same).found) == (1.0, 3)
    turned = LexiconRows(words, same, np.roll(same, 1, axis=0))
    assert (turned.cosine, turned.found) == (0.0, 0)
    tied = LexiconRows(words, np.ones((3, 1), np.float32), np.ones((3, 1), np.float32))
    assert tied.found == 0  # where all are alike none is found


def test_the_figure_has_a_point_for_each_word_and_the_same_bits_again() -> None:
    draw = np.random.default_rng(0)
    source = draw.normal(size=(8, 5)).astype(np.float32)
    source /= np.linalg.norm(source, axis=1, keepdims=True)
    names = [f"{i}, a word" for i in range(8)]
    words = tuple(Entry(f"a{name}", f"b${name}", 1.0, 1) for name in names)
    near, far = LexiconRows(words, source, source), LexiconRows(words, source, np.roll(source, 3, axis=0))
    figure = pairs_figure({"before": far, "after": near}, ("English", "German"))
    panels = [axes for axes in figure.axes if axes.get_visible()]
    assert [axes.get_title().splitlines()[0] for axes in panels] == ["before", "after"]
    for axes in panels:
        assert [len(points.get_offsets()) for points in axes.collections] == [8, 8]  # type: ignore[arg-type]
        assert {text.get_text() for text in axes.texts} == {f"{side}{name}" for side in ("a", "b$") for name in names}
        assert len(axes.lines) == 8
        boxes = [text.get_window_extent() for text in axes.texts]
        assert not any(one.overlaps(other) for one, other in combinations(boxes, 2)), "a word is written over another"
    places = np.concatenate([points.get_offsets() for points in panels[1].collections])  # type: ignore[arg-type]
    assert np.array_equal(places, placed(near))
    assert "8 of 8 nearest" in panels[1].get_title() and "0 of 8" in panels[0].get_title()

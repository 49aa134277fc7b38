"""Words of a lexicon in a table, and drawn."""

from itertools import pairwise
from pathlib import Path

import numpy as np
from transformers import AutoModel, AutoTokenizer

from calque.analysis.measures.lexicon import chosen, word_pairs
from calque.derive.dictionary import Entry
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

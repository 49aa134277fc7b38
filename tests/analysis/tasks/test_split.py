from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from calque.analysis.tasks.rows import Reader
from calque.analysis.tasks.split import Split, check
from calque.analysis.tasks.tagging import POS
from calque.derive.errors import BadInput
from calque.derive.example import Example, write_examples
from calque.derive.sentence import Sentence
from calque.derive.types import OURS

FIRST = len(OURS.ids)


def tagged(words, tags):
    return Example(((Sentence(tuple(words.split()), tuple(tags.split())),),))


def written(path, task, *examples):
    write_examples(path, examples)
    return Split(path, task)


def test_unknown_labels_are_named_with_their_line(tmp_path):
    train = written(tmp_path / "train.jsonl", POS(), tagged("a b", "X ADJ"))
    dev = written(tmp_path / "dev.jsonl", POS(), tagged("a", "ADJ"))
    test = written(tmp_path / "test.jsonl", POS(), tagged("a", "ADJ"), tagged("b c", "ADJ VERB"))
    assert check(train, [train, dev]) == ("ADJ", "X")
    with pytest.raises(
        BadInput, match=r"test\.jsonl:2: unknown label 'VERB'; the training data contain ADJ, X"
    ):
        check(train, [train, dev, test])
    with pytest.raises(
        BadInput, match=r"^one\.conllu, two\.conllu: unknown label 'VERB'.*example 2 of the test set"
    ):
        check(train, [replace(test, read_from=(Path("one.conllu"), Path("two.conllu")))])


def test_answers_are_decoded_across_rows(tmp_path):
    sentences = [
        tagged("a b c d e f g h i j k", "X Y " * 5 + "X"),
        tagged("a", "Y"),
        tagged("a b c d e f g", "X " * 7),
    ]
    split = written(tmp_path / "test.jsonl", POS(), *sentences)
    encoded = split.encode(["X", "Y"], Reader(lambda word: (FIRST,), np.arange(10), 0), 8)
    assert (encoded.counts.tolist(), encoded.cut, encoded.lengths.tolist()) == ([2, 1, 2], 2, [8, 7, 3, 8, 3])
    answers = [np.concatenate([row.targets, [0] * 3]) for row in encoded.rows]  # padded like the batch
    assert split.decode(encoded, answers, ["X", "Y"]) == split.gold

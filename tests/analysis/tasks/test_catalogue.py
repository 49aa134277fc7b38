from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from calque.analysis.tasks.catalogue import NER, POS, TASKS, Tagging, TextLabels, task
from calque.analysis.tasks.task import Reader, Split, check
from calque.derive.errors import BadInput
from calque.derive.order import Invert
from calque.derive.sentence import Example, Sentence, Span, write_examples
from calque.derive.transform import Account, image_of_example
from calque.derive.vocabulary import OURS
from tests.refusals import refusal

SENTENCE = Sentence(("Sara", "ate"), ("PROPN", "VERB"), spans=(Span(0, 1, "PER"),))


@pytest.mark.parametrize("name", TASKS)
def test_gold_scores_one_in_every_metric(name):
    made = task(name)
    texts = ((SENTENCE,),) if isinstance(made, Tagging | TextLabels) else ((SENTENCE,), (SENTENCE,))
    if name == "word_labels":
        texts = ((replace(SENTENCE, spans=(Span(0, 2, "X"),)),),)
    gold = [made.gold(Example(texts, "1" if name == "paraphrase" else "entailment"))]
    scores = made.scores(gold, gold)
    assert list(scores) == [metric.name for metric in made.metrics]
    assert made.primary in scores and (made.printed or made.primary) in scores
    assert all(score.value == 1 for score in scores.values())


def test_gold_is_iob2_after_reordering():
    sentence = Sentence(("Ann", "Lee", "saw", "Rome", "."), spans=(Span(0, 2, "PER"), Span(3, 4, "LOC")))
    example = Example(((sentence,),))
    assert tuple(NER().gold(example)) == ("B-PER", "I-PER", "O", "B-LOC", "O")
    image = image_of_example(Invert(), example, 0, Account())
    assert tuple(NER().gold(image)) == ("B-LOC", "O", "B-PER", "I-PER", "O")


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
    sentences = [tagged("a b c d e f g h i j k", "X Y " * 5 + "X"), tagged("a", "Y")]
    sentences.append(tagged("a b c d e f g", "X " * 7))
    split = written(tmp_path / "test.jsonl", POS(), *sentences)
    split = replace(split, reader=Reader(lambda word: (FIRST,)))
    encoded = split.encode(["X", "Y"], 8)
    assert (list(map(len, encoded.examples)), encoded.cut) == ([2, 1, 2], 2)
    assert [len(row.ids) for row in encoded.rows] == [8, 7, 3, 8, 3]
    answers = [np.concatenate([row.targets, [0] * 3]) for row in encoded.rows]  # padded like the batch
    assert split.decode(encoded, answers, ["X", "Y"]) == split.gold


class Numbers(POS):
    def tags(self, sentence):
        return list(range(1, 1 + len(sentence)))


def test_errors_of_own_tasks_name_the_example(tmp_path):
    split = written(tmp_path / "train.jsonl", Numbers(), tagged("a b", "X ADJ"))
    assert "train.jsonl:1: not an example of the task pos: " in refusal(list, split)

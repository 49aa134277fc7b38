from pathlib import Path

import pytest

from analysis.tasks.ner import NER
from analysis.tasks.nli import NLI
from analysis.tasks.pos import POS
from analysis.tasks.task import Score, accuracy, read_split
from derive.errors import BadInput
from derive.example import Example, write_examples
from derive.sentence import Sentence, Span


def tagged(words: str, tags: str) -> Example:
    return Example(((Sentence(tuple(words.split()), tuple(tags.split())),),))


def test_a_split_is_what_was_written(tmp_path: Path) -> None:
    examples = [tagged("Sara ate .", "PROPN VERB PUNCT"), tagged("Go", "VERB")]
    write_examples(tmp_path / "dev.jsonl", examples)
    split = read_split(tmp_path / "dev.jsonl", POS())
    assert split.examples == tuple(examples)
    assert split.gold == (("PROPN", "VERB", "PUNCT"), ("VERB",))


@pytest.mark.parametrize(
    "line",
    [
        '{"texts": [[{"words": ["a", "b"], "tags": ["X"',  # truncated
        '{"texts": [[{"words": ["a", "b"], "tags": ["X"]}]]}',  # a tag is missing
        '{"texts": [[{"words": ["a"]}]]}',
        '{"texts": [[{"words": ["a"], "tags": ["X"], "colour": ["red"]}]]}',
        '{"texts": [[{"words": ["a"], "tags": ["X"]}], [{"words": ["a"], "tags": ["X"]}]]}',  # two texts
        '{"words": ["a"], "tags": ["X"]}',
        '["a", "X"]',
        "",
    ],
)
def test_a_bad_row_is_an_error_with_its_line(tmp_path: Path, line: str) -> None:
    path = tmp_path / "train.jsonl"
    path.write_text('{"texts": [[{"words": ["a"], "tags": ["X"]}]]}\n' + line + "\n", encoding="utf-8")
    with pytest.raises(BadInput, match=r"train\.jsonl:2: "):
        read_split(path, POS())


def test_a_span_outside_its_sentence_is_an_error_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "train.jsonl"
    path.write_text('{"texts": [[{"words": ["a"], "spans": [[0, 3, "PER"]]}]]}\n', encoding="utf-8")
    with pytest.raises(BadInput, match=r"train\.jsonl:1: "):
        read_split(path, NER())


@pytest.mark.parametrize("text", [None, ""])
def test_a_missing_or_empty_file_is_an_error(tmp_path: Path, text: str | None) -> None:
    path = tmp_path / "train.jsonl"
    if text is not None:
        path.write_text(text, encoding="utf-8")
    with pytest.raises(BadInput, match=r"train\.jsonl: .*pos"):
        read_split(path, POS())


def test_accuracy_is_over_labels_not_over_examples() -> None:
    assert accuracy([["a", "b", "c"], ["a"]], [["a", "b", "x"], ["a"]]) == Score(0.75, 4)


def test_accuracy_of_predictions_of_another_length_is_refused() -> None:
    with pytest.raises(ValueError):
        accuracy([["a", "b"]], [["a"]])
    with pytest.raises(ValueError):
        accuracy([["a"], ["b"]], [["a"]])


def test_labels_do_not_depend_on_order() -> None:
    assert POS().labels([("X", "ADJ"), ("NOUN",)]) == POS().labels([("NOUN", "ADJ"), ("X",)]) == ("ADJ", "NOUN", "X")


@pytest.mark.parametrize("task", [POS(), NER(), NLI()])
def test_the_primary_metric_is_among_the_scores_and_gold_is_perfect(task: POS | NER | NLI) -> None:
    sentence = Sentence(("Sara", "ate"), ("PROPN", "VERB"), spans=(Span(0, 1, "PER"),))
    texts = ((sentence,),) if task.per_word else ((sentence,), (sentence,))
    gold = [task.gold(Example(texts, "entailment"))]
    scores = task.scores(gold, gold)
    assert task.primary in scores
    assert all(score.value == 1 for score in scores.values())

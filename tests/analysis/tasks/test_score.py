"""Accuracy by hand, and F1 over entities: compared with seqeval and nervaluate."""

import random
import warnings
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nervaluate import Evaluator

from analysis.records.items import Items
from analysis.tasks.score import Score, accuracy, entities, entity_f1
from derive.readers.conllu import read_conllu
from derive.sentence import Sentence, Span, iob2


def test_accuracy_is_over_labels_not_over_examples() -> None:
    score = accuracy([["a", "b", "c"], ["a"]], [["a", "b", "x"], ["a"]])
    assert score == Score(0.75, 4, Items.over([2, 1], [3, 1]))


def test_accuracy_of_predictions_of_another_length_is_refused() -> None:
    with pytest.raises(ValueError):
        accuracy([["a", "b"]], [["a"]])
    with pytest.raises(ValueError):
        accuracy([["a"], ["b"]], [["a"]])


def test_accuracy_of_nothing_is_not_defined() -> None:
    with pytest.raises(ValueError, match="no label"):
        accuracy([[]], [[]])


UPOS = "ADJ ADP ADV AUX CCONJ DET INTJ NOUN NUM PART PRON PROPN PUNCT SCONJ SYM VERB X".split()
IOB2 = "O B-PER I-PER B-LOC I-LOC B-MISC-x I-MISC-x".split()
ODD = "O . B I E S B- E-PER S-PER EX -LRB- I-PER".split()


def paired(tags: list[str]) -> st.SearchStrategy:
    """Some sentences of tags and as many predictions of the same lengths."""
    word = st.tuples(st.sampled_from(tags), st.sampled_from(tags))
    return st.lists(st.lists(word, min_size=1, max_size=8), min_size=1, max_size=4)


def seqeval_f1(gold: list[list[str]], predicted: list[list[str]], **options: object) -> float:
    metrics = pytest.importorskip("seqeval.metrics")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns of every bare tag, and where F1 is not defined
        return float(metrics.f1_score(gold, predicted, **options))


def columns(sentences: list[list[tuple[str, str]]]) -> tuple[list[list[str]], list[list[str]]]:
    return [[a for a, _ in words] for words in sentences], [[b for _, b in words] for words in sentences]


@given(st.one_of(paired(UPOS), paired(IOB2), paired(ODD)))
def test_f1_is_seqevals(sentences: list[list[tuple[str, str]]]) -> None:
    gold, predicted = columns(sentences)
    if any(entities(gold)):
        assert entity_f1(gold, predicted).value == pytest.approx(seqeval_f1(gold, predicted), abs=1e-12)
    else:
        with pytest.raises(ValueError, match="no entity"):
            entity_f1(gold, predicted)


def test_f1_of_ten_thousand_random_sequences_is_another_implementations() -> None:
    """All together and each hundred of them, of which few are well-formed IOB2."""
    draw = random.Random(0)
    lengths = [draw.randint(1, 12) for _ in range(10_000)]
    gold, predicted = ([draw.choices(IOB2, k=length) for length in lengths] for _ in range(2))
    types = sorted({tag[2:] for tag in IOB2 if tag != "O"})
    hundreds = (slice(start, start + 100) for start in range(0, len(gold), 100))
    for some in (slice(len(gold)), *hundreds):
        theirs = Evaluator(gold[some], predicted[some], tags=types, loader="list").evaluate()["overall"]["strict"].f1
        assert entity_f1(gold[some], predicted[some]).value == pytest.approx(theirs, abs=1e-12)


def well_formed(draw: random.Random) -> list[str]:
    spans, at = [], 0
    while at < 10:
        end = at + draw.randint(1, 3)
        if draw.random() < 0.5:
            spans.append(Span(at, min(end, 10), draw.choice(["PER", "LOC"])))
        at = end
    return iob2(Sentence(("w",) * 10, spans=tuple(spans)))


def test_f1_on_well_formed_iob2_is_strict_seqevals() -> None:
    scheme = pytest.importorskip("seqeval.scheme").IOB2
    draw = random.Random(0)
    for _ in range(50):
        gold, predicted = [well_formed(draw) for _ in range(4)], [well_formed(draw) for _ in range(4)]
        strict = seqeval_f1(gold, predicted, mode="strict", scheme=scheme)
        assert entity_f1(gold, predicted).value == pytest.approx(strict, abs=1e-12)


def test_count_is_the_number_of_gold_entities() -> None:
    gold = [["B-PER", "I-PER", "O"], ["B-LOC", "B-LOC"]]
    score = entity_f1(gold, [["B-PER", "O", "O"], ["B-LOC", "O"]])
    assert (score.value, score.count) == (pytest.approx(2 * 1 / (3 + 2)), 3)


@given(st.one_of(paired(UPOS), paired(IOB2), paired(ODD)))
def test_items_are_the_entities_of_each_sentence_and_sum_to_the_score(sentences: list[list[tuple[str, str]]]) -> None:
    gold, predicted = columns(sentences)
    if any(right := entities(gold)):
        score, said = entity_f1(gold, predicted), entities(predicted)
        assert score.items is not None
        hits, of = score.items.numbers
        assert hits == [2 * len(a & b) for a, b in zip(right, said, strict=True)]
        assert of == [len(a) + len(b) for a, b in zip(right, said, strict=True)]
        assert score.value == sum(hits) / sum(of)


def test_an_entity_is_its_type_and_its_first_and_last_word() -> None:
    """Words count through all sentences, with one place between two of them; a type may have a dash of its own."""
    assert entities([["B-PER", "I-PER", "O", "B-LOC"], ["O", "B-MISC-x", "I-MISC-x"]]) == [
        {("PER", 0, 1), ("LOC", 3, 3)},
        {("MISC-x", 6, 7)},
    ]


def test_a_bare_x_that_begins_no_entity_has_the_first_word_of_the_last_before_it() -> None:
    assert entities([["NOUN"], ["X", "VERB"]]) == [{("OUN", 0, 0)}, {("_", 0, 2), ("ERB", 3, 3)}]
    assert entities([["O", "X", "VERB"]]) == [{("_", 0, 1), ("ERB", 2, 2)}]  # the first of all where none was before


def test_an_ill_formed_continuation_begins_an_entity() -> None:
    assert entities([["I-PER", "I-PER", "I-LOC"]]) == entities([["B-PER", "I-PER", "B-LOC"]])


def test_an_entity_ends_with_its_sentence() -> None:
    assert list(map(len, entities([["B-PER"], ["I-PER"]]))) == [1, 1]


def test_bare_tags_of_a_real_treebank(calque_data: Path) -> None:
    treebanks = sorted((calque_data / "ud").rglob("en_ewt*dev*.conllu"))
    assert treebanks, "English-EWT's dev set is part of the real data"
    gold = [list(sentence.tags) for sentence in read_conllu(treebanks[0])]
    draw = random.Random(0)
    predicted = [[tag if draw.random() < 0.8 else draw.choice(UPOS) for tag in tags] for tags in gold]
    assert entity_f1(gold, predicted).value == pytest.approx(seqeval_f1(gold, predicted), abs=1e-12)

"""Accuracy by hand, and F1 over entities: compared with seqeval and nervaluate."""

import json
import random
import re
import string
import unicodedata
import warnings
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nervaluate import Evaluator

from calque.analysis.tasks.questions import MLQA
from calque.analysis.tasks.score import (
    ARTICLES,
    answer_scores,
    entities,
    entity_f1,
    mlqa_words,
)
from calque.derive.sentence import Sentence, Span, iob2

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


ANSWERS = st.text(st.sampled_from(list("aAnthe b.,'-\n é“”北1")), max_size=12)


def of_others(gold: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]]) -> tuple[float, float]:
    """F1 and exact match by torchmetrics.

    An answer and a prediction without a word that counts have an F1 of 1 there, as in SQuAD 2, and of 0 in SQuAD v1.1.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of its own imports
        from torchmetrics.functional.text import squad
    preds = [{"prediction_text": said, "id": str(i)} for i, (said,) in enumerate(predicted)]
    target = [
        {"answers": {"answer_start": [0] * len(texts), "text": list(texts)}, "id": str(i)}
        for i, texts in enumerate(gold)
    ]
    found = squad(preds, target)
    return float(found["f1"]) / 100, float(found["exact_match"]) / 100


@given(
    st.lists(st.tuples(st.lists(ANSWERS.map("x{}".format), min_size=1, max_size=3), ANSWERS), min_size=1, max_size=6)
)
def test_scores_are_those_of_the_official_evaluation(pairs: list[tuple[list[str], str]]) -> None:
    gold, predicted = [right for right, _ in pairs], [(said,) for _, said in pairs]
    scores = answer_scores(gold, predicted)
    f1, exact = of_others(gold, predicted)
    assert scores["f1"].value == pytest.approx(f1, abs=1e-6)  # theirs is of 32 bits
    assert scores["exact"].value == pytest.approx(exact, abs=1e-6)


def test_scores_of_real_answers_are_those_of_the_official_evaluation(calque_data: Path) -> None:
    """Every question of XQuAD in four languages, answered by the answer of the next, or by some of its own words."""
    for language in ("en", "de", "zh", "ar"):
        articles = json.loads((calque_data / "qa" / "xquad" / f"xquad.{language}.json").read_text(encoding="utf-8"))
        questions = [q for a in articles["data"] for p in a["paragraphs"] for q in p["qas"]]
        gold = [[answer["text"] for answer in question["answers"]] for question in questions]
        others = [*gold[1:], gold[0]]
        predicted = [
            (" ".join(right[0].split()[i % 2 :]) + " The end." * (i % 5 == 0) if i % 3 else other[0],)
            for i, (right, other) in enumerate(zip(gold, others, strict=True))
        ]
        scores = answer_scores(gold, predicted)
        f1, exact = of_others(gold, predicted)
        assert len(gold) == 1190 and 0.2 < exact < f1 < 0.9
        assert scores["f1"].value == pytest.approx(f1, abs=1e-6)
        assert scores["exact"].value == pytest.approx(exact, abs=1e-6)


@pytest.mark.parametrize(
    ("right", "said", "f1", "exact"),
    [
        (["The Cat!"], "a cat", 1.0, 1.0),
        (["cat sat on"], "the cat sat", 0.8, 0.0),
        (["no", "the old dog"], "dog", 2 / 3, 0.0),  # the best of the answers
        (["b b"], "b", 2 / 3, 0.0),  # each word as often as both have it
        (["the"], "a", 0.0, 1.0),  # nothing is left of either: equal, and yet without a word in common
        (["dog"], "", 0.0, 0.0),
        (["1,000"], "1000", 1.0, 1.0),
        (["theirs"], "irs", 0.0, 0.0),  # an article is a word of its own
    ],
)
def test_an_answer_by_hand(right: list[str], said: str, f1: float, exact: float) -> None:
    scores = answer_scores([right], [(said,)])
    assert scores["f1"].value == pytest.approx(f1) and scores["exact"].value == exact


def twin(text: str, language: str) -> list[str]:
    """Step by step and letter by letter: lower case, punctuation, articles, then words."""

    def mark(letter: str) -> bool:
        return unicodedata.category(letter)[0] == "P" or letter in string.punctuation

    bare = "".join(letter for letter in text.lower() if not mark(letter))
    if ARTICLES[language]:
        bare = re.sub(ARTICLES[language], " ", bare)
    if language != "zh":
        return bare.split()
    words, run = list[str](), ""
    for letter in bare:
        if "\u4e00" <= letter <= "\u9fa5":
            words += [*run.split(), letter]
            run = ""
        else:
            run += letter
    return words + run.split()


PIECES = [*"aehndThiA lsu.,'-。、«»“”।0$ñöướ", "北", "京", "ال", "ي", "द", " der ", " el "]
LETTERS = st.lists(st.sampled_from(PIECES), max_size=20).map("".join)


@given(LETTERS, st.sampled_from(sorted(ARTICLES)))
def test_words_are_those_of_a_twin(text: str, language: str) -> None:
    assert mlqa_words(text, language) == twin(text, language)


@pytest.mark.parametrize(
    ("language", "right", "said", "f1", "exact"),
    [
        ("en", "The Eiffel Tower", "eiffel tower!", 1.0, 1.0),
        ("de", "der alte Mann", "alter Mann", 0.5, 0.0),
        ("de", "die Brücke", "Brücke", 1.0, 1.0),
        ("es", "la casa", "una casa", 1.0, 1.0),
        ("zh", "北京市", "北京", 0.8, 0.0),
        ("zh", "1999年", "1999 年。", 1.0, 1.0),
        ("ar", "الكتاب", "كتاب", 1.0, 1.0),
        ("hi", "दिल्ली।", "दिल्ली", 1.0, 1.0),
        ("vi", "của anh", "anh", 1.0, 1.0),
        ("en", "the", "of", 0.0, 0.0),
    ],
)
def test_an_answer_by_the_rules_of_its_language(language: str, right: str, said: str, f1: float, exact: float) -> None:
    scores = MLQA().in_language(language).scores([[right]], [(said,)])
    assert scores["f1"].value == pytest.approx(f1) and scores["exact"].value == exact


def test_gold_answers_of_all_languages_are_right_and_their_halves_are_not(calque_data: Path) -> None:
    for language in ("en", "de", "es", "hi", "vi", "zh"):
        path = calque_data / "qa" / "mlqa" / f"dev-context-{language}-question-{language}.json"
        articles = json.loads(path.read_text(encoding="utf-8"))["data"]
        gold = [[a["text"] for a in q["answers"]] for x in articles for p in x["paragraphs"] for q in p["qas"]]
        task = MLQA().in_language(language)
        assert {name: score.value for name, score in task.scores(gold, [(one[0],) for one in gold]).items()} == {
            "f1": pytest.approx(1, abs=0.01),  # an answer of nothing but an article shares no word with itself
            "exact": 1,
        }
        parts = [text[: len(text) // 2] for text, *_ in gold]
        halves = task.scores(gold, [(part,) for part in parts])
        shared = []
        for (text, *_), part in zip(gold, parts, strict=True):
            right, said = twin(text, language), twin(part, language)
            shared.append(2 * sum((Counter(right) & Counter(said)).values()) / max(1, len(right) + len(said)))
        assert halves["f1"].value == pytest.approx(sum(shared) / len(shared)) and halves["exact"].value < 0.05

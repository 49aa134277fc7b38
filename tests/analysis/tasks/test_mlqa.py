"""MLQA's rules for each of its languages: against a twin of the official evaluation, and by hand."""

from __future__ import annotations

import json
import re
import string
import unicodedata
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.tasks.mlqa import ARTICLES, MLQA, mlqa_words
from derive.errors import BadInput


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


PARTS = [*"aehndThiA lsu.,'-。、«»“”।0$ñöướ", "北", "京", "ال", "ي", "द", " der ", " el "]
LETTERS = st.lists(st.sampled_from(PARTS), max_size=20).map("".join)


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
def test_an_answer_by_hand(language: str, right: str, said: str, f1: float, exact: float) -> None:
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


def test_another_language_is_refused() -> None:
    with pytest.raises(BadInput, match="MLQA has no rules for sw; there are en, es, hi, vi, de, ar, zh"):
        MLQA().in_language("sw")

"""Questions in SQuAD's JSON: real files to the character, and what is refused."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calque.analysis.tasks.questions import QA
from calque.derive.errors import BadInput
from calque.derive.readers import squad
from calque.derive.readers.lines import Place
from calque.derive.readers.squad import (
    NOT_ASKED,
    PARTED,
    UNANSWERABLE,
    WIDENED,
    read_questions,
    read_questions_as_written,
)
from calque.derive.sentence import Span

CONTEXT = "Ada met Mr. Lee in 1,842. They left the well-known town  (Ghent) by night."


def asked(text: str = "Mr. Lee", start: int | None = None, id_: object = "q1", **more: Any) -> dict[str, Any]:
    """A question about CONTEXT; the answer stands where it does, or elsewhere by `start`."""
    place = CONTEXT.index(text) if start is None else start
    return {"id": id_, "question": "Who?", "answers": [{"text": text, "answer_start": place}]} | more


def written(path: Path, *questions: dict[str, Any], context: object = CONTEXT) -> Path:
    made = {"version": "1.1", "data": [{"paragraphs": [{"context": context, "qas": list(questions)}]}]}
    path.write_text(json.dumps(made), encoding="utf-8")
    return path


def test_an_answer_is_words_of_its_sentence(tmp_path: Path) -> None:
    counts: Counter[str] = Counter()
    path = written(tmp_path / "a.json", asked(), asked("known town", id_="q2"), asked("Ghent", id_="q3"))
    first, second, third = read_questions(path, counts)
    assert first.id == "q1" and [s.words for s in first.texts[0]] == [("Who", "?")]
    assert first.texts[1][0].words == ("Ada", "met", "Mr.", "Lee", "in", "1,842", ".")
    assert first.texts[1][0].spans == (Span(2, 4, "answer"),) and not first.texts[1][1].spans
    assert QA().gold(first) == ("Mr. Lee",)
    assert QA().gold(second) == ("well-known town",) and QA().gold(third) == ("Ghent",)
    assert counts == {WIDENED: 1}


def test_an_answer_over_the_end_of_a_sentence_is_left_out_and_counted(tmp_path: Path) -> None:
    counts: Counter[str] = Counter()
    path = written(tmp_path / "a.json", asked("1,842. They"), asked(id_="q2"))
    assert [example.id for example in read_questions(path, counts)] == ["q2"]
    assert counts == {PARTED: 1, NOT_ASKED: 1}
    assert len(list(read_questions_as_written(path))) == 2


def test_questions_as_written_have_their_answers_to_the_character(tmp_path: Path) -> None:
    texts = ("known town", "Ghent", "met Mr", "842", "town  (Gh")
    path = written(tmp_path / "a.json", *(asked(text, id_=text) for text in texts))
    for example, text in zip(read_questions_as_written(path), texts, strict=True):
        assert QA().gold(example) == (" ".join(text.split()),)
        assert example.texts[1][0].text == " ".join(CONTEXT.split())


TEXTS = st.text(st.sampled_from(list("ab1 .-北京\n ’")), min_size=1, max_size=40).filter(lambda text: text.split())


@given(TEXTS, st.data())
def test_any_answer_of_any_text_is_kept_to_the_character(text: str, data: st.DataObject) -> None:
    bounds = st.integers(0, len(text))
    answers = data.draw(
        st.lists(
            st.tuples(bounds, bounds).map(sorted).filter(lambda ab: text[ab[0] : ab[1]].strip()), min_size=1, max_size=3
        )
    )
    place = Place(Path("unused"))
    spans = [squad._chars(place, "1", text, text[a:b], a) for a, b in answers]
    sentence = squad._as_written(text, spans)
    assert sentence.text == " ".join(text.split()) and all(sentence.words)
    shown = {
        sentence.text[len(sentence.upto(s.start + 1)) - len(sentence.words[s.start]) : len(sentence.upto(s.end))]
        for s in sentence.spans
    }
    assert shown == {" ".join(text[a:b].split()) for a, b in answers}


def test_an_id_is_text_that_can_be_written(tmp_path: Path) -> None:
    path = written(tmp_path / "a.json", asked(id_="\ud800"))
    for read in (read_questions, read_questions_as_written):
        with pytest.raises(BadInput, match="a question: id contains a NUL or half a surrogate pair"):
            list(read(path))


@pytest.mark.parametrize(
    ("questions", "said"),
    [
        ([asked(start=9)], "answer 'Mr. Lee' is not at 9 of its context; it starts at 8: the offset is off by 1"),
        ([asked("Bob", start=3)], "question 'q1': the answer 'Bob' is not at 3 of its context or anywhere in it"),
        ([asked(start=-1)], "question 'q1': the answer 'Mr. Lee' is not at -1 of its context"),
        ([asked(id_=None)], "a question with the id None; expected text"),
        ([asked(" ", start=3)], "none of 1 questions has an answer; expected labelled data"),
        ([asked(question=7)], "question 'q1': question is 7; expected text"),
        ([asked(question=" ")], "question 'q1': the question has no words"),
        ([asked(answers=None)], "question 'q1': answers is missing; expected a list of objects"),
        ([asked(answers=[{"text": "Ada", "answer_start": "0"}])], "answer_start is '0'; expected a number of"),
        ([asked(answers=[])], "none of 1 questions has an answer; expected labelled data"),
        ([], "no question; expected SQuAD's JSON: data, paragraphs, qas"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("read", [read_questions, read_questions_as_written])
def test_what_is_wrong_is_said_with_the_file(
    read: Any, questions: list[dict[str, Any]], said: str, tmp_path: Path
) -> None:
    path = written(tmp_path / "a.json", *questions)
    with pytest.raises(BadInput) as refused:
        list(read(path))
    assert str(refused.value).startswith(f"{path}: ") and said in str(refused.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[]", "a JSON list; expected SQuAD's object with data"),
        ("{}", "the file: data is missing; expected a list of objects"),
        ('{"data": [{"paragraphs": [{"qas": []}]}]}', "a paragraph: context is missing; expected text"),
        ('{"data": ', "not JSON: Expecting value"),
        ('{"data": [], "data": []}', "not JSON: the key 'data' occurs twice"),
    ],
)
def test_a_file_of_another_form_is_refused(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(text)
    with pytest.raises(BadInput, match=r"a\.json: ") as refused:
        list(read_questions(path))
    assert said in str(refused.value)


def test_unanswerable_questions_are_left_out_and_counted(tmp_path: Path) -> None:
    counts: Counter[str] = Counter()
    path = written(
        tmp_path / "a.json", asked(), asked(id_="q2", answers=[], is_impossible=True), asked(id_="q3", answers=[])
    )
    assert [example.id for example in read_questions(path, counts)] == ["q1"]
    assert counts == {UNANSWERABLE: 2}


def test_real_files_keep_every_question_and_every_answer(calque_data: Path) -> None:
    """Of every language, what annotators marked is what a task asks for, but for runs of white space."""
    paths = sorted((calque_data / "qa").rglob("*.json"))
    assert len(paths) > 20
    for path in paths:
        rows = [
            (q["id"], {" ".join(answer["text"].split()) for answer in q["answers"]})
            for article in json.loads(path.read_text(encoding="utf-8"))["data"]
            for paragraph in article["paragraphs"]
            for q in paragraph["qas"]
        ]
        counts: Counter[str] = Counter()
        examples = list(read_questions_as_written(path, counts))
        assert [(example.id, set(QA().gold(example))) for example in examples] == rows
        assert not counts


def test_english_questions_are_cut_into_words_and_what_was_widened_is_counted(calque_data: Path) -> None:
    path = calque_data / "qa" / "squad-subset" / "squad-v1.1-train.first12articles.json"
    counts: Counter[str] = Counter()
    examples = list(read_questions(path, counts))
    assert len(examples) + counts[NOT_ASKED] == 4370 and counts[NOT_ASKED] < 45 and counts[WIDENED] < 110
    marked = {
        q["id"]: q["answers"][0]["text"]
        for a in json.loads(path.read_text())["data"]
        for p in a["paragraphs"]
        for q in p["qas"]
    }
    same = sum("".join(QA().gold(e)[0].split()) == "".join(marked[e.id].split()) for e in examples)
    assert same == len(examples) - counts[WIDENED]

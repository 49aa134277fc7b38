import json
from collections import Counter
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from calque.analysis.tasks.questions import QA
from calque.derive.readers import squad
from calque.derive.readers.lines import Place
from calque.derive.readers.squad import WIDENED, read_questions
from calque.derive.sentence import Span

CONTEXT = "Ada met Mr. Lee in 1,842. They left the well-known town  (Ghent) by night."


def asked(text="Mr. Lee", start=None, id_="q1", **more):
    place = CONTEXT.index(text) if start is None else start
    return {"id": id_, "question": "Who?", "answers": [{"text": text, "answer_start": place}]} | more


def written(path, *questions, context=CONTEXT):
    made = {"version": "1.1", "data": [{"paragraphs": [{"context": context, "qas": list(questions)}]}]}
    path.write_text(json.dumps(made))
    return path


def test_answers_are_words_of_their_sentence(tmp_path):
    counts = Counter()
    path = written(tmp_path / "a.json", asked(), asked("known town", id_="q2"), asked("Ghent", id_="q3"))
    first, second, third = read_questions(path, counts)
    assert first.id == "q1" and [s.words for s in first.texts[0]] == [("Who", "?")]
    assert first.texts[1][0].words == ("Ada", "met", "Mr.", "Lee", "in", "1,842", ".")
    assert first.texts[1][0].spans == (Span(2, 4, "answer"),) and not first.texts[1][1].spans
    assert QA().gold(first) == ("Mr. Lee",)
    assert QA().gold(second) == ("well-known town",) and QA().gold(third) == ("Ghent",)
    assert counts == {WIDENED: 1}


TEXTS = st.text(st.sampled_from(list("ab1 .-北京\n ’")), min_size=1, max_size=40).filter(
    lambda text: text.split()
)


@given(TEXTS, st.data())
def test_answers_are_kept_to_the_character(text, data):
    bounds = st.integers(0, len(text))
    answers = data.draw(
        st.lists(
            st.tuples(bounds, bounds).map(sorted).filter(lambda ab: text[ab[0] : ab[1]].strip()),
            min_size=1,
            max_size=3,
        )
    )
    place = Place(Path("unused"))
    spans = [squad._chars(place, "1", text, text[a:b], a) for a, b in answers]
    sentence = squad._as_written(text, spans)
    assert sentence.text == " ".join(text.split()) and all(sentence.words)
    shown = {
        sentence.text[
            len(sentence.upto(s.start + 1)) - len(sentence.words[s.start]) : len(sentence.upto(s.end))
        ]
        for s in sentence.spans
    }
    assert shown == {" ".join(text[a:b].split()) for a, b in answers}

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from calque.derive.readers import examples
from calque.derive.readers.lines import Place

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
    spans = [examples._chars(place, "1", text, {"text": text[a:b], "answer_start": a}) for a, b in answers]
    sentence = examples._as_written(text, spans)
    assert sentence.text == " ".join(text.split()) and all(sentence.words)
    shown = {
        sentence.text[
            len(sentence.upto(s.start + 1)) - len(sentence.words[s.start]) : len(sentence.upto(s.end))
        ]
        for s in sentence.spans
    }
    assert shown == {" ".join(text[a:b].split()) for a, b in answers}

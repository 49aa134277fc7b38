import json
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calque.derive.readers import examples
from calque.derive.readers.examples import read_nli
from calque.derive.readers.lines import Place
from calque.derive.sentence import Example, Sentence


def read(path, text):
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    counts = Counter()
    return list(read_nli(path, counts)), counts


PREMISE, HYPOTHESIS = 'He said "no. He left.', "He stayed."
SIDES = [[["He", "said", '"', "no", "."], ["He", "left", "."]], [["He", "stayed", "."]]]
PAIR = Example(tuple(tuple(Sentence(tuple(words)) for words in side) for side in SIDES), "contradiction")


def as_json(**row):
    return json.dumps(row) + "\n"


@pytest.mark.parametrize(
    "text",
    [
        f"{PREMISE}\t{HYPOTHESIS}\tcontradiction\n",
        f"{PREMISE}\t{HYPOTHESIS}\tcontradiction\r\n",
        f"\ufeff{PREMISE}\t{HYPOTHESIS}\tcontradiction",
        as_json(premise=PREMISE, hypothesis=HYPOTHESIS, label="contradiction", idx=3),
        as_json(sentence1=PREMISE, sentence2=HYPOTHESIS, gold_label="contradiction", label="neutral"),
        f"premise\thypothesis\tlabel\n{PREMISE}\t{HYPOTHESIS}\tcontradiction\n",
        f"index\tsentence1\tsentence2\tlabel1\tgold_label\n7\t{PREMISE}\t{HYPOTHESIS}\tneutral\tcontradiction\n",
        f"language\tgold_label\tsentence1\tsentence2\nfr\tcontradiction\t{PREMISE}\t{HYPOTHESIS}\n",
    ],
)
def test_tsv_and_json_lines(tmp_path, text):
    assert read(tmp_path / "a", text) == ([PAIR], {})


TEXTS = st.text(st.sampled_from(list("ab1 .-北京\n ’")), min_size=1, max_size=40).filter(str.split)


@given(TEXTS, st.data())
def test_answers_are_kept_to_the_character(text, data):
    bounds = st.integers(0, len(text))
    pairs = st.tuples(bounds, bounds).map(sorted).filter(lambda ab: text[ab[0] : ab[1]].strip())
    answers = data.draw(st.lists(pairs, min_size=1, max_size=3))
    place = Place(Path("unused"))
    spans = [examples._chars(place, "1", text, text[a:b], a) for a, b in answers]
    sentence = examples._as_written(text, spans)
    assert sentence.text == " ".join(text.split()) and all(sentence.words)
    shown = set()
    for span in sentence.spans:
        start = sentence.length(span.start + 1) - len(sentence.words[span.start])
        shown.add(sentence.text[start : sentence.length(span.end)])
    assert shown == {" ".join(text[a:b].split()) for a, b in answers}

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calque.derive.readers.examples import read_iob2
from calque.derive.sentence import Sentence, Span, iob2


def read(path, text):
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    counts = Counter()
    return list(read_iob2(path, counts)), counts


ANNA = Sentence(("Anna", "Lee", "left", "Rome", "."), spans=(Span(0, 2, "PER"), Span(3, 4, "LOC")))
NO = Sentence(("No", "!"))
PANX = "Anna\tB-PER\nLee\tI-PER\nleft\tO\nRome\tB-LOC\n.\tO\n\nNo\tO\n!\tO\n"


def prefixed(text):
    return "\n".join(f"en:{line}" if line else "" for line in text.removesuffix("\n").split("\n")) + "\n"


@pytest.mark.parametrize(
    "text",
    [
        PANX,
        PANX + "\n\n",
        PANX.replace("\n\n", "\n \t \n"),
        PANX.replace("\n", "\r\n"),
        "\ufeff" + PANX,
        prefixed(PANX),
        prefixed(PANX).replace("en:", "simple:"),
        prefixed(PANX).replace("en:", "zh-min-nan:"),
    ],
)
def test_usual_formats(tmp_path, text):
    assert read(tmp_path / "a", text) == ([ANNA, NO], {})


def test_blank_words_are_counted_once(tmp_path):
    text = PANX.replace("left", "left\tO\n\u3000")
    assert read(tmp_path / "a", text) == ([ANNA, NO], {"words of white space only, left out": 1})


def test_universal_ner(tmp_path):
    anna = "1\tAnna\tB-PER\t-\tx\n2\tLee\tI-PER\t-\tx\n3\tleft\tO\n4\tRome\tB-LOC\t-\tx\n5\t.\tB-O\t-\tx\n"
    no = "# text = this ends in O\n1\tNo\tB-OTH\t-\tx\n2\t!\tI-OTH\t-\tx\n"
    text = f"# sent_id = 1\n# text = Anna Lee left Rome.\n{anna}\n{no}\n"
    counts = {"B-O tags read as O": 1, "B-OTH tags read as O": 1, "I-OTH tags read as O": 1}
    assert read(tmp_path / "a", text) == ([ANNA, NO], counts)


TAGS = st.lists(st.sampled_from(["O", "B-PER", "I-PER", "B-LOC", "I-LOC"]), min_size=1, max_size=8)


@given(TAGS)
def test_tags_round_trip_except_repairs(tmp_path_factory, tags):
    path = tmp_path_factory.getbasetemp() / "tags.tsv"
    (sentence,), counts = read(path, "".join(f"w\t{tag}\n" for tag in tags))
    changed = [(old, new) for old, new in zip(tags, iob2(sentence), strict=True) if old != new]
    assert len(changed) == counts["I- tags that begin an entity"]
    assert all(old == f"I{new[1:]}" for old, new in changed)

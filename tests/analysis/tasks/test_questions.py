import random
from dataclasses import replace
from unicodedata import normalize

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

from calque.analysis.tasks.catalogue import BEST, LONGEST, NOWHERE, QA, spans
from calque.analysis.tasks.task import BARRED, Reader, Split
from calque.derive.sentence import Example, Sentence, Span, write_examples
from calque.derive.vocabulary import OURS, open_vocabulary

FIRST = len(OURS.ids)
KINDS = ("fruit", "fish", "fowl")
WORDS = {
    word: FIRST + i
    for i, word in enumerate(
        ("which", *KINDS, *(f"{kind}{part}" for kind in KINDS for part in ("-a", "-b", "-c")))
    )
}
V = FIRST + len(WORDS)
READER = Reader(lambda word: (WORDS[word],))
TASK = QA()


def example(draw):
    """Which fish? fowl-a fowl-c. fish-a fish-b fish-c. fruit-a fruit-b fruit-c. The sentences come in any
    order."""
    asked, sentences = draw.choice(KINDS), []
    for kind in draw.sample(KINDS, 3):
        named = (f"{kind}-a", *[f"{kind}-b"] * draw.randint(0, 1), f"{kind}-c")
        sentences.append(Sentence(named, spans=(Span(0, len(named), "answer"),) if kind == asked else ()))
    return Example(((Sentence(("which", asked)),), tuple(sentences)))


def written(path, count, seed):
    draw = random.Random(seed)
    write_examples(path, [example(draw) for _ in range(count)])
    return Split(path, TASK, reader=READER)


def pointing(row, begin, end, sure=5.0):
    logits = np.zeros((2, len(row.ids)))
    logits[0, begin] = logits[1, end] = sure
    return logits


def question(words, start, end, asked=1):
    context = Sentence(tuple(f"w{i}" for i in range(words)), spans=(Span(start, end, "answer"),))
    return Example(((Sentence(tuple(f"q{i}" for i in range(asked))),), (context,)))


TWICE = Reader(lambda word: (FIRST + 2 * int(word[1:]), FIRST + 2 * int(word[1:]) + 1))


@pytest.mark.parametrize("length", [24, 13])
def test_gold_answers_are_decoded_from_any_window(tmp_path, length):
    split = written(tmp_path / "test.jsonl", 50, seed=0)
    encoded = split.encode((), length)
    assert max(len(row.ids) for row in encoded.rows) <= length
    several = sum(len(rows) > 1 for rows in encoded.examples)
    assert encoded.cut == several and bool(several) == (length < 24)
    right = [pointing(row, *row.targets, sure=5.0 * bool(row.targets[0])) for row in encoded.rows]
    said = split.decode(encoded, right, ())
    assert said == split.gold
    assert {name: score.value for name, score in TASK.scores(split.gold, said).items()} == {
        "f1": 1,
        "exact": 1,
    }


@given(words=st.integers(1, 60), length=st.integers(10, 40), asked=st.integers(1, 8), data=st.data())
def test_windows_cover_every_sub_word(words, length, asked, data):
    start = data.draw(st.integers(0, words - 1))
    end = data.draw(st.integers(start + 1, min(words, start + 3)))
    made = question(words, start, end, asked)
    rows, whole = TASK.rows(made, (), TWICE, length)
    shown = np.zeros(2 * words, int)
    for row in rows:
        assert len(row.ids) <= length
        inside = row.starts < row.ends
        assert not (row.best & ~inside).any()
        text = made.texts[1][0].text
        words = [text[a:b] for a, b in zip(row.starts[inside], row.ends[inside], strict=True)]
        assert words == [f"w{number}" for number in (row.ids[inside] - FIRST) // 2]
        shown[row.ids[inside & row.best] - FIRST] += 1
        begin, last = row.targets
        if begin:
            assert row.ids[begin] == FIRST + 2 * start and row.ids[last] == FIRST + 2 * end - 1
        else:
            assert last == 0 and not {FIRST + 2 * start, FIRST + 2 * end - 1} <= {*row.ids[inside]}
    assert (shown == 1).all()
    assert whole == (len(rows) == 1 and 2 * asked <= min(64, length // 2 - 2))


def brute(row, logits):
    places = range(len(row.ids))
    pairs = [
        (logits[0, i] + logits[1, j], i, j)
        for i in places
        for j in range(i, min(i + LONGEST, len(row.ids)))
        if NOWHERE not in (row.starts[i], row.starts[j]) and row.best[i] and row.starts[i] < row.ends[j]
    ]
    return max(pairs)


def marked(row, marks):
    """The row with places of the context that stand for a space, like a tokenizer's bare `▁`."""
    ends = row.ends.copy()
    ends[marks] = row.starts[marks]
    return replace(row, ends=ends)


@given(seed=st.integers(0, 10_000), words=st.integers(1, 30), marks=st.sampled_from([0.0, 0.3, 0.8]))
def test_best_span_equals_brute_force(seed, words, marks):
    made = question(words, 0, 1)
    ((row,), _) = TASK.rows(made, (), TWICE, 100)
    random = np.random.default_rng(seed)
    context = np.flatnonzero(row.starts < row.ends)
    row = marked(row, context[:-1][random.random(len(context) - 1) < marks])
    logits = random.normal(size=(2, len(row.ids) + 3))
    logits[:, len(row.ids) :] = BARRED  # padding
    found = max(spans(row, logits) or spans(row, logits, None))
    best = brute(row, logits)
    assert found[0] <= best[0] and row.starts[found[1]] < row.ends[found[2]]
    if len(row.ids) <= BEST:
        assert found == pytest.approx(best)


@pytest.mark.parametrize("stripped", [True, False])
@pytest.mark.parametrize(
    "words",
    [
        ("हिन्दी", "में", "किताबें", "पढ़ते", "हैं"),
        ("ที่", "นี่", "มี", "น้ำ", "ดี่"),
        ("\u0301abc", "cafe\u0301", "na\u0308ive", "ab"),
    ],
)
@pytest.mark.parametrize("glued", [False, True])
def test_answers_keep_combining_marks(words, stripped, glued, tmp_path):
    letters = sorted({letter for word in words for letter in normalize("NFD", word)})
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters, *(f"##{letter}" for letter in letters)]
    tokenizer = Tokenizer(models.WordPiece({piece: i for i, piece in enumerate(pieces)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(strip_accents=stripped)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    reader = Reader.of_given(open_vocabulary(tmp_path))
    places = [place for place in range(len(words)) if not (glued and place == 0 and words[0][0] == "\u0301")]
    for place in places:
        joined = (*(glued for _ in words[1:]), False)
        context = Sentence(words, glued=joined, spans=(Span(place, place + 1, "answer"),))
        made = Example(((Sentence(words[:1]),), (context,)))
        ((row,), _) = TASK.rows(made, (), reader, 60)
        begin, end = map(int, row.targets)
        assert TASK.decode(made, [(row, pointing(row, begin, end))], ()) == (words[place],)

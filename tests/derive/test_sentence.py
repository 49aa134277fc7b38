"""Labels follow their words, whatever the order."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calque.derive.errors import BadInput
from calque.derive.sentence import (
    CHUNKS,
    EXAMPLES,
    PARTS,
    QUESTIONS,
    Numbering,
    Sentence,
    Span,
    iob2,
    spans_of,
)
from tests.derive.strategies import law, sentences


@st.composite
def reordered(draw: st.DrawFn) -> tuple[Sentence, list[int]]:
    sentence = draw(sentences())
    return sentence, draw(st.permutations(range(len(sentence))))


@law
@given(reordered())
def test_columns_follow_words(case: tuple[Sentence, list[int]]) -> None:
    before, order = case
    after = before.reorder(order)
    assert list(after.origin) == order
    for new, old in enumerate(order):
        assert after.words[new] == before.words[old]
        if before.tags:
            assert (after.tags[new], after.relations[new]) == (before.tags[old], before.relations[old])
            head, moved = before.heads[old], after.heads[new]
            assert moved == -1 if head == -1 else after.origin[moved] == head


@law
@given(reordered())
def test_spans_cover_the_same_words_in_maximal_pieces(case: tuple[Sentence, list[int]]) -> None:
    before, order = case
    after = before.reorder(order)

    def covered(sentence: Sentence) -> set[tuple[int, str]]:
        return {(sentence.origin[i], span.label) for span in sentence.spans for i in range(span.start, span.end)}

    assert covered(after) == covered(before)
    assert all(span.start < span.end for span in after.spans)
    for left, right in zip(after.spans, after.spans[1:], strict=False):
        assert left.end < right.start or (left.end == right.start and left.label != right.label)


def test_a_torn_span_becomes_one_span_a_piece() -> None:
    sentence = Sentence(("New", "York", "is", "big"), spans=(Span(0, 2, "LOC"),))
    assert sentence.reorder([0, 2, 1, 3]).spans == (Span(0, 1, "LOC"), Span(2, 3, "LOC"))
    assert sentence.reorder([3, 2, 1, 0]).spans == (Span(2, 4, "LOC"),)


@pytest.mark.parametrize("order", [[0, 1], [0, 1, 1], [0, 1, 2, 3], [0, 1, -1], [0, 1, 3], []])
@pytest.mark.parametrize("spans", [(), (Span(0, 2, "LOC"),)])
def test_an_order_that_loses_or_repeats_a_word_is_refused(order: list[int], spans: tuple[Span, ...]) -> None:
    with pytest.raises(BadInput, match=r"'New York sleeps' .* every word") as refused:
        Sentence(("New", "York", "sleeps"), spans=spans).reorder(order)
    assert str(order) in str(refused.value)


@law
@given(sentences())
def test_iob2_is_read_back(sentence: Sentence) -> None:
    assert spans_of(iob2(sentence)) == sentence.spans


@given(st.lists(st.tuples(st.text("abc", min_size=1, max_size=3), st.booleans()), max_size=6))
def test_a_text_has_a_space_before_every_word_that_is_not_glued_but_the_first(words: list[tuple[str, bool]]) -> None:
    sentence = Sentence(tuple(word for word, _ in words), glued=tuple(glued for _, glued in words))
    expected = ""
    for word, glued in words:
        expected += word if glued or not expected else f" {word}"
    assert sentence.text == expected
    starts = [sentence.length(end) for end in range(len(words) + 1)]
    assert [expected[:end].replace(" ", "") for end in starts] == [
        "".join(sentence.words[:n]) for n in range(len(starts))
    ]


@pytest.mark.parametrize("numbering", [CHUNKS, EXAMPLES, QUESTIONS, PARTS])
def test_numbers_of_groups_follow_each_other(numbering: Numbering) -> None:
    assert numbering.number(0, 0) == numbering.first
    assert numbering.number(3, numbering.size - 1) + 1 == numbering.number(4, 0)
    assert numbering.number(3, 7) - numbering.number(3, 0) == 7

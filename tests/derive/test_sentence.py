from hypothesis import given
from hypothesis import strategies as st

from calque.derive.sentence import Sentence
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
        return {
            (sentence.origin[i], span.label) for span in sentence.spans for i in range(span.start, span.end)
        }

    assert covered(after) == covered(before)
    assert all(span.start < span.end for span in after.spans)
    for left, right in zip(after.spans, after.spans[1:], strict=False):
        assert left.end < right.start or (left.end == right.start and left.label != right.label)

from hypothesis import given
from hypothesis import strategies as st

from calque.derive.sentence import PARTS, Sentence
from calque.derive.transform import Compose, Transform, compose
from tests.derive.strategies import law, sentences, transforms


def beyond(inner: Transform, number: int) -> int:
    return PARTS.number(len(inner.parts) if isinstance(inner, Compose) else 1, number)


@law
@given(sentences(), transforms(), transforms(), st.integers(0, 2**40))
def test_composition_is_one_after_the_other(
    sentence: Sentence, outer: Transform, inner: Transform, number: int
) -> None:
    both = compose(outer, inner)
    assert both(sentence, number) == outer(inner(sentence, number), beyond(inner, number))
    assert both.name == f"{outer.name}.{inner.name}"
    assert both.spell("Sara") == outer.spell(inner.spell("Sara"))


def labelled(sentence: Sentence) -> dict[int, str]:
    return {place: span.label for span in sentence.spans for place in range(span.start, span.end)}


@law
@given(sentences(), transforms(), st.integers(0, 2**40))
def test_every_transform_keeps_words_and_their_columns(
    sentence: Sentence, transform: Transform, number: int
) -> None:
    image = transform(sentence, number)
    assert image == transform(sentence, number)
    assert sorted(image.origin) == list(range(len(sentence)))
    # Applying the order that the image reports to the source gives all of the image, labels included.
    assert sentence.reorder(image.origin).words == image.words
    assert sentence.reorder(image.origin).tags == image.tags
    assert sentence.reorder(image.origin).heads == image.heads
    assert sentence.reorder(image.origin).relations == image.relations
    # a composition may tear a span and then bring its words together again: a torn span stays torn.
    assert labelled(sentence.reorder(image.origin)) == labelled(image)
    if not isinstance(transform, Compose):
        assert sentence.reorder(image.origin).spans == image.spans

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau

from calque.derive.errors import BadInput
from calque.derive.order import Invert, kendall_distance
from calque.derive.sentence import PARTS, Sentence
from calque.derive.transform import Account, Compose, Transform, compose, image_of
from calque.derive.transforms import SCRIPT, TRANSFORMS, transform
from tests.derive.strategies import law, sentences, transforms


def beyond(inner, number):
    return PARTS.number(len(inner.parts) if isinstance(inner, Compose) else 1, number)


@law
@given(sentences(), transforms(), transforms(), st.integers(0, 2**40))
def test_composition_applies_transforms_in_order(sentence, outer, inner, number):
    both = compose(outer, inner)
    assert both(sentence, number) == outer(inner(sentence, number), beyond(inner, number))
    assert both.name == f"{outer.name}.{inner.name}"
    assert both.spell("Sara") == outer.spell(inner.spell("Sara"))


def labelled(sentence):
    return {place: span.label for span in sentence.spans for place in range(span.start, span.end)}


@law
@given(sentences(), transforms(), st.integers(0, 2**40))
def test_transforms_keep_words_and_their_columns(sentence, transform, number):
    image = transform(sentence, number)
    assert image == transform(sentence, number)
    assert sorted(image.origin) == list(range(len(sentence)))
    # Reordering the source by the image's origins gives the image, with its labels.
    again = sentence.reorder(image.origin)
    assert replace(again, spans=()) == replace(image, spans=())
    # A composition may split a span and rejoin its words, but the span stays split.
    assert labelled(again) == labelled(image)
    assert isinstance(transform, Compose) or again.spans == image.spans


EXAMPLES = [
    (kind, kind.example().replace("fr", "romance") + suffix)
    for kind in TRANSFORMS
    for suffix in (
        "",
        *(f"-{form.example}" for form in kind.forms if isinstance(kind.defaults()[form.field], float)),
    )
]
EXAMPLES += [(type(SCRIPT), f"trans-25{form.name}") for form in SCRIPT.forms[1:]]


@pytest.mark.parametrize(("kind", "name"), EXAMPLES)
def test_documented_transform_names_are_parsed(kind, name):
    made = transform(name)
    assert type(made) is kind and made.name == name
    assert transform(f"{name}.inv-37.5").name == f"{name}.inv-37.5"


@law
@given(sentences(), st.sampled_from([1.0, 0.5]), st.integers(0, 99))
def test_inversion_twice_is_the_identity(sentence, p, number):
    invert = Invert(p)
    once = invert(sentence, number)
    twice = invert(once, number)
    assert replace(twice, spans=()) == replace(sentence, spans=())
    if len(once.spans) == len(sentence.spans):  # a span that contains the final mark is split and stays so
        assert twice.spans == sentence.spans


@pytest.mark.parametrize(
    ("text", "image"),
    [
        ("Sara ate two apples .", "apples two ate Sara ."),
        ("Sara ate two apples", "apples two ate Sara"),
        ("Really ? !", "? Really !"),
        (". NET is new", ". new is NET"),
        (".", "."),
    ],
)
def test_inversion_of_examples(text, image):
    assert " ".join(Invert()(Sentence(tuple(text.split()))).words) == image


@law
@given(st.integers(2, 30).flatmap(lambda n: st.permutations(range(n))))
def test_kendall_distance_equals_scipy(order):
    tau = kendalltau(range(len(order)), order).statistic
    assert kendall_distance(order) == pytest.approx((1 - tau) / 2)


@st.composite
def reordered(draw):
    sentence = draw(sentences())
    return sentence, draw(st.permutations(range(len(sentence))))


@law
@given(reordered())
def test_columns_follow_words(case):
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
def test_spans_cover_the_same_words_in_maximal_pieces(case):
    before, order = case
    after = before.reorder(order)

    def covered(sentence):
        return {(sentence.origin[i], label) for i, label in labelled(sentence).items()}

    assert covered(after) == covered(before)
    assert all(span.start < span.end for span in after.spans)
    for left, right in zip(after.spans, after.spans[1:], strict=False):
        assert left.end < right.start or (left.end == right.start and left.label != right.label)


@dataclass(frozen=True)
class Fails(Transform):
    name = "fails"

    def __call__(self, sentence, number=0):
        return sentence.reorder([sentence.words.index("dog"), 1, 1])


@pytest.mark.parametrize(("word", "error"), [("cat", "ValueError"), ("dog", "BadInput.*cannot reorder")])
def test_errors_in_users_transforms_name_file_and_line(word, error):
    own, sentence = compose(transform("trans"), Fails()), Sentence(("a", word))
    place = r"test_transform.py:\d+: fails fails on sentence 7"
    with pytest.raises(BadInput, match=f"{place}, 'a {word}': {error}"):
        image_of(own, sentence, 7, Account())


@dataclass(frozen=True)
class LacksReturn(Transform):
    name = "lacks"

    def __call__(self, sentence, number=0):
        sentence.reorder([1, 0])


def test_users_transforms_return_sentences():
    place = r"test_transform.py: lacks fails on sentence 7, 'a b': TypeError.*None is not a Sentence"
    with pytest.raises(BadInput, match=place):
        image_of(LacksReturn(), Sentence(("a", "b")), 7, Account())

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau

from calque.derive.errors import BadInput
from calque.derive.order import Invert, kendall_distance
from calque.derive.pocket.language import Pocket
from calque.derive.script import Transliterate
from calque.derive.sentence import PARTS, Sentence
from calque.derive.sources.pocket import PocketEnglish
from calque.derive.transform import Compose, Transform, compose, draw
from calque.derive.transforms import TRANSFORMS, check_own, transform
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


EXAMPLES = [(kind, name.replace("fr", "romance")) for kind in TRANSFORMS for name, _ in kind.examples]


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


SOURCE = PocketEnglish(Pocket(types=300), size=20)
CALLS = [0]


def _count(sentence):
    CALLS[0] += 1
    return CALLS[0]


def _rotated(sentence, by):
    return sentence.reorder([(place + by) % len(sentence) for place in range(len(sentence))])


@dataclass(frozen=True)
class Own(Transform):
    how: str

    name = "own"
    seed = 0  # not a field, so it cannot change

    def __call__(self, sentence, number=0):
        return HOW[self.how](sentence, number)


HOW = {
    "seeded": lambda sentence, number: _rotated(sentence, draw(0, number).randrange(3)),
    "random": lambda sentence, number: _rotated(sentence, random.randrange(len(sentence))),
    "counting": lambda sentence, number: _rotated(sentence, _count(sentence)),
    "hashed": lambda sentence, number: _rotated(sentence, hash(sentence.words) % len(sentence)),
    "repeats": lambda sentence, number: sentence.reorder([0] * len(sentence)),
    "loses": lambda sentence, number: sentence.reorder([*range(len(sentence) - 1)]),
    "divides": lambda sentence, number: sentence.reorder([1 // 0]),
}


def checked(transforms, cache, workers=1):
    check_own(SOURCE, transforms, cache, workers)


def test_deterministic_transforms_pass(tmp_path):
    own = compose(Transliterate(), Own("seeded"))
    checked([Own("seeded"), own], tmp_path, workers=2)
    assert own.reseeded(3) == compose(Transliterate(seed=3), Own("seeded"))


@pytest.mark.parametrize("how", ["random", "counting"])
def test_nondeterministic_transforms_are_reported(how, tmp_path):
    with pytest.raises(BadInput, match="own is not a function of a sentence and its number"):
        checked([compose(Transliterate(), Own(how))], tmp_path)


@pytest.mark.parametrize("how", ["repeats", "loses", "divides"])
def test_errors_in_transforms_name_file_and_line(how, tmp_path):
    with pytest.raises(BadInput, match=rf"{Path(__file__).name}:\d+: .*sentence 0"):
        checked([Own(how)], tmp_path)

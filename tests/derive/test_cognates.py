import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from calque.derive.language import in_places
from calque.derive.script import Cognates, Transliterate
from calque.derive.types import OURS
from calque.derive.usage import Usage
from tests.derive.strategies import law

some = settings(law, max_examples=200)
FIRST = len(OURS.ids)
SIZE = 60
shares, seeds = st.floats(0, 1), st.integers(0, 9)
texts = st.lists(st.lists(st.integers(FIRST, SIZE - 1), min_size=1, max_size=4), min_size=1, max_size=12)


def derived(transform: Cognates, text: list[list[int]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A text's ids in the source and in the language, and how many each word has."""
    ids, pieces = np.array([i for word in text for i in word]), np.array([len(word) for word in text])
    usage = Usage.of(ids, pieces, [""] * len(text), SIZE)
    made = transform.informed(usage)
    return ids, in_places(ids, pieces, made.image(SIZE), made.places(SIZE)), pieces


@some
@given(texts, shares, seeds)
def test_no_word_is_shared_and_every_one_can_be_read_back(
    text: list[list[int]], share: float, seed: int
) -> None:
    ids, image, pieces = derived(Cognates(share, seed), text)
    assert np.array_equal(image % SIZE, ids)
    ends = np.cumsum(pieces) - 1
    assert (image[ends] >= SIZE).all()
    drawn = Transliterate(share, seed).image(SIZE)  # an exact share of the types, without replacement
    inside = np.delete(np.arange(len(ids)), ends)
    assert np.array_equal(image[inside], drawn[ids[inside]])

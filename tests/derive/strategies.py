from hypothesis import settings
from hypothesis import strategies as st

from calque.derive.order import Invert, Permute
from calque.derive.sentence import Sentence, Span
from calque.derive.transform import compose
from calque.derive.transforms import Transliterate

law = settings(max_examples=300)

MARKS = (".", "!", "?", ",")


@st.composite
def sentences(draw, columns=True):
    """Up to twelve words with punctuation marks anywhere; word w3 has the tag t3 and the relation r3."""
    n = draw(st.integers(0, 12))
    marked = draw(st.sets(st.integers(0, max(n - 1, 0)), max_size=4))
    words = tuple(draw(st.sampled_from(MARKS)) if i in marked else f"w{i}" for i in range(n))
    if not columns or not n:
        return Sentence(words)
    heads = tuple(-1 if i == 0 else draw(st.integers(0, i - 1)) for i in range(n))
    cuts = sorted(draw(st.sets(st.integers(0, n), max_size=6)))
    spans = tuple(Span(start, end, f"E{start}") for start, end in zip(cuts[::2], cuts[1::2], strict=False))
    return Sentence(words, tuple(f"t{i}" for i in range(n)), heads, tuple(f"r{i}" for i in range(n)), spans)


def transforms():
    seeds, shares = st.integers(0, 9), st.sampled_from([0.0, 0.25, 0.5, 1.0])
    moves = st.one_of(
        st.builds(Invert, p=st.sampled_from([0.25, 0.5]), seed=seeds),
        st.builds(Permute, seed=seeds),
        st.just(Invert()),
    )
    scripts = st.builds(Transliterate, overlap=shares, seed=seeds)
    return st.one_of(moves, scripts, st.builds(compose, st.one_of(moves, scripts), moves))

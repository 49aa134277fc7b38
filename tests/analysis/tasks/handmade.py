"""Examples made by hand, and words as they stand."""

from calque.analysis.tasks.baselines import Answer
from calque.derive.example import Example
from calque.derive.sentence import Sentence

Set = list[tuple[Example, Answer]]


def as_is(word: str) -> str:
    """A word of the language that it stands in."""
    return word


def foreign(word: str) -> str:
    """The same word in a new script."""
    return f"{word}\0trans"


def tagged(text: str) -> tuple[Example, Answer]:
    """`a/DET dog/NOUN` as an example and its tags."""
    words, tags = zip(*(token.rsplit("/", 1) for token in text.split()), strict=True)
    return Example(((Sentence(words),),)), tags


def pair(first: str, second: str, label: str = "") -> tuple[Example, Answer]:
    """Two texts and a label."""
    texts = tuple((Sentence(tuple(text.split())),) for text in (first, second))
    return Example(texts, label), (label,)


def asked(examples: Set) -> list[Example]:
    """What is asked: the examples alone."""
    return [example for example, _ in examples]

"""Examples made by hand, and words as they stand."""

from calque.analysis.tasks.baselines import Answer
from calque.derive.example import Example
from calque.derive.sentence import Sentence

Set = list[tuple[Example, Answer]]


def as_is(word):
    """A word of the language that it stands in."""
    return word


def foreign(word):
    """The same word in a new script."""
    return f"{word}\0trans"


def tagged(text):
    """`a/DET dog/NOUN` as an example and its tags."""
    words, tags = zip(*(token.rsplit("/", 1) for token in text.split()), strict=True)
    return Example(((Sentence(words),),)), tags


def pair(first, second, label=""):
    """Two texts and a label."""
    texts = tuple((Sentence(tuple(text.split())),) for text in (first, second))
    return Example(texts, label), (label,)


def asked(examples):
    """What is asked: the examples alone."""
    return [example for example, _ in examples]

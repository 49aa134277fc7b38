from calque.derive.example import Example
from calque.derive.sentence import Sentence


def as_is(word):
    return word


def pair(first, second, label=""):
    texts = tuple((Sentence(tuple(text.split())),) for text in (first, second))
    return Example(texts, label), (label,)


def asked(examples):
    return [example for example, _ in examples]

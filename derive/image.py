"""The image of a sentence by a transform, checked, and the account of what a transform did to many."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from itertools import count
from operator import itemgetter

from derive.errors import BadInput
from derive.example import Example
from derive.sentence import EXAMPLES, Sentence
from derive.transform import Transform


@dataclass
class Account:
    """What a transform did to some sentences, beyond their order: `left_out` and `kept` by reason."""

    split_spans: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    kept: Counter[str] = field(default_factory=Counter)

    def add(self, other: Account) -> None:
        """Count another account's sentences too."""
        self.split_spans += other.split_spans
        self.left_out += other.left_out
        self.kept += other.kept


def image_of(transform: Transform, sentence: Sentence, number: int, account: Account) -> Sentence | None:
    """The sentence's image, with what there is to say of it; None where the transform leaves it out.

    Raises:
        BadInput: the image has other words than the sentence.
    """
    if transform.leaves_out(sentence, number):
        account.left_out["sentences without an image"] += 1
        account.left_out["words of sentences without an image"] += len(sentence)
        for why, count in transform.account(sentence, number).items():
            account.left_out[f"{why} in sentences without an image"] += count
        return None
    image = transform(sentence, number)
    if image is not sentence:
        check_words(transform, sentence, image)
        account.split_spans += len(image.spans) - len(sentence.spans)
    account.kept.update(transform.account(sentence, number))
    return image


def check_words(transform: Transform, sentence: Sentence, image: Sentence) -> None:
    """Refuse a transform that does more than move words: corpora hold the source's words in another order.

    Raises:
        BadInput: the image is not the sentence's words in the order of its origin.
    """
    before, after, origin = sentence.words, image.words, image.origin
    try:
        # Each word once: those that moved are as many, and a look at each finds the word that stands there now.
        same = len(set(origin)) == len(origin) == len(before) and (
            (itemgetter(*origin)(before) == after) if len(origin) > 1 else before == after
        )
    except IndexError:
        same = False
    if not same:
        raise BadInput(
            f"the transform {transform.name} changes the words of a sentence; expected the same ones in another order: "
            f"{' '.join(before)[:200]!r} becomes {' '.join(after)[:200]!r}"
        )


def image_of_example(transform: Transform, example: Example, number: int, account: Account) -> Example | None:
    """The image of example `number` of its split; None where one of its sentences has none.

    Raises:
        BadInput: as `image_of`.
    """
    own = Account()
    if (many := sum(map(len, example.texts))) > EXAMPLES.size:
        raise BadInput(f"an example of {many:,} sentences; expected {EXAMPLES.size:,} at most")
    numbers = count(EXAMPLES.number(number, 0))  # one each: a premise and its hypothesis have separate draws
    texts = []
    for text in example.texts:
        images = [image_of(transform, sentence, next(numbers), own) for sentence in text]
        texts.append(tuple(image for image in images if image is not None))
        if len(texts[-1]) < len(text):
            return None
    account.add(own)
    return replace(example, texts=tuple(texts))

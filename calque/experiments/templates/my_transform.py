"""My own transform, and a study that uses it.

calque show "the warm cook from dalmar ate two apples ." trans.my-transform --study my_transform.py
calque run my_transform.py
"""

from dataclasses import dataclass

from calque.derive.sentence import Sentence
from calque.derive.transform import Transform, compose, draw
from calque.derive.transforms import Transliterate
from calque.experiments.studies.pocket import pocket
from calque.experiments.study import Study


@dataclass(frozen=True)
class MyTransform(Transform):
    """Swap the first and second word, the third and fourth, and so on, but only in half of these pairs."""

    seed: int = 0  # fields are settings, and part of the fingerprint

    name = "my-transform"  # in commands, tables and folders

    def __call__(self, sentence: Sentence, number: int = 0) -> Sentence:
        random = draw(self.seed, number)  # random numbers that depend on the sentence's number in its corpus
        order = list(range(len(sentence)))  # order[i] is the old position of the word at new position i
        for i in range(0, len(order) - 1, 2):
            if random.random() > 0.5:
                order[i], order[i + 1] = order[i + 1], order[i]
        return sentence.reorder(order)  # tags, tree, entities and alignment follow their words


def my_transform() -> Study:
    """The pocket study in a new script, with and without MyTransform."""
    # Alignment is measured only between words that are spelled differently, so the script is new.
    return pocket().changed(
        name="my_transform", transforms=(Transliterate(), compose(Transliterate(), MyTransform()))
    )

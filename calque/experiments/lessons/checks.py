"""Checks of the lesson's exercises, which print whether an answer is correct and, if not, why."""

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np

from calque.analysis.checkpoint import Checkpoint
from calque.derive.errors import BadInput
from calque.derive.order import Invert
from calque.derive.pocket.language import Pocket
from calque.derive.sentence import Sentence
from calque.derive.transform import Account, Transform, image_of
from calque.derive.transforms import SCRIPT

LANGUAGE = "trans.inv"
SENTENCES = 100
TOLD = 0.99  # a higher cosine indicates that the dictionary contains the word


def first_word(answer: str, sentence: str) -> None:
    """Check which English word comes first in the reversed sentence."""
    last = sentence.split()[-2]
    _print(
        answer == last,
        f"{last!r} is the last word before the full stop, so it comes first after reversal.",
        f"not {answer!r}. The number above each word is its position in the English sentence.",
    )


def invented(language: Transform) -> None:
    """Check that a word order is deterministic, and is neither English nor its reverse."""
    sentences = list(Pocket(types=300).sentences(SENTENCES))
    try:
        images, again = _images(language, sentences), _images(language, sentences)
    except (BadInput, ValueError, IndexError, TypeError) as error:
        return _print(False, wrong=f"{error}. The rule must work for any length: use `len(sentence)`.")
    moved = sum(image.words != sentence.words for image, sentence in zip(images, sentences, strict=True))
    inverse, wrong = _images(Invert(), sentences), ""
    if images != again:
        wrong = "the same sentence gets two different orders. Seed random numbers with `number`, or use none."
    elif moved < SENTENCES / 2:
        wrong = f"only {moved} of {SENTENCES} sentences change. Change the order of more words."
    elif [image.words for image in images] == [image.words for image in inverse]:
        wrong = "this is English reversed, which exists already as `inv`. Find another rule."
    inverted, yours = map(_neighbours_kept, (inverse, images))
    right = (
        f"{moved} of {SENTENCES} sentences change. Of the pairs of neighbouring words in English, "
        f"{inverted:.0f} % remain neighbours in `inv`, and {yours:.0f} % in your language."
    )
    return _print(not wrong, right, wrong)


def predicted(predictions: Mapping[str, float | None]) -> None:
    """Check that each objective has a number from 0 to 100."""
    _print(
        all(isinstance(value, int | float) and 0 <= value <= 100 for value in predictions.values()),
        "your predictions are noted. You will compare them with the results below.",
        "write two numbers from 0 to 100 (percent, without quotation marks).",
    )


def aligned_without_help(answer: Sequence[str], model: Checkpoint, words: Sequence[str]) -> None:
    """Check which words outside the dictionary have their own image as nearest neighbour."""
    right = set()
    for word in words:
        (nearest,) = model.nearest(word, among=LANGUAGE, count=1)
        if nearest.word == SCRIPT.spell(word) and nearest.cosine < TOLD:
            right.add(word)
    _print(
        {*answer} == right,
        f"{', '.join(sorted(right)) or 'none'}: not in the dictionary, so the model learned them from text.",
        f"there are {len(right)}. Look for `own counterpart` and a cosine below 1.00.",
    )


def explanation(answer: str) -> None:
    """Check the conclusion drawn from the correlations."""
    wrong = {
        "a": "the models also differ in their training: the dictionary may cause both. "
        "Look at the models of one kind.",
        "c": "over all models, alignment and scores are strongly correlated. The question is why.",
    }
    right = "the dictionary may have improved both. To show a cause, change alignment and nothing else."
    _print(answer == "b", right, wrong.get(answer, 'answer "a", "b" or "c".'))


def smallest_and_largest(
    answer: tuple[float | None, float | None], scores: Mapping[str, Sequence[float]]
) -> None:
    """Check the smallest and largest difference between models with and without a dictionary."""
    differences = [align - mlm for align in scores["ALIGN-MLM"] for mlm in scores["MLM"]]
    low, high = min(differences), max(differences)
    _print(
        None not in answer and np.allclose(np.array(answer, float), [low, high], atol=0.1),
        f"with one model of each kind you could have measured any difference from {low:.1f} to {high:.1f} "
        f"points. The sign of the difference is {'always' if low > 0 else 'not always'} the same.",
        "these are not the smallest and largest of `differences`. `min` and `max` find them.",
    )


def _images(language: Transform, sentences: Sequence[Sentence]) -> list[Sentence]:
    return [image_of(language, sentence, number, Account()) for number, sentence in enumerate(sentences)]


def _neighbours_kept(images: Sequence[Sentence]) -> float:
    adjacent = [abs(i - j) == 1 for image in images for i, j in pairwise(image.origin)]
    return float(100 * np.mean(adjacent))


def _print(correct: bool, right: str = "", wrong: str = "") -> None:
    print(f"Right: {right}" if correct else f"Not yet: {wrong}")

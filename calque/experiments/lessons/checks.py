"""Checks of the lesson's exercises, which print whether an answer is correct and, if not, why."""

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np

from calque.analysis.checkpoint import Checkpoint
from calque.derive.errors import BadInput
from calque.derive.order import Invert
from calque.derive.pocket.language import Pocket
from calque.derive.script import SCRIPT
from calque.derive.sentence import Sentence
from calque.derive.transform import Account, Transform, image_of

LANGUAGE = "trans.inv"
SENTENCES = 100
KINDS = ("MLM", "ALIGN-MLM")
TOLD = 0.99  # a higher cosine indicates that the dictionary contains the word


def first_word(answer: str, sentence: str) -> None:
    """Check which English word comes first in the reversed sentence."""
    *_, last, _ = sentence.split()
    if answer == last:
        _right(f"{last!r} is the last word before the full stop, so it comes first after reversal.")
    elif answer:
        _wrong(f"not {answer!r}. The number above each word is its position in the English sentence.")
    else:
        _wrong("write the word between the quotation marks.")


def invented(language: Transform) -> None:
    """Check that a word order is deterministic, and is neither English nor its reverse."""
    sentences = list(Pocket(types=300).sentences(SENTENCES))
    try:
        images, again = _images(language, sentences), _images(language, sentences)
    except (BadInput, ValueError, IndexError, TypeError) as error:
        return _wrong(f"{error}. The rule must work for sentences of any length: use `len(sentence)`.")
    words = [image.words for image in images]
    if words != [image.words for image in again]:
        return _wrong(
            "the same sentence gets two different orders. Seed random numbers with `number`, or use none."
        )
    moved = sum(image != sentence.words for image, sentence in zip(words, sentences, strict=True))
    if moved < SENTENCES / 2:
        return _wrong(f"only {moved} of {SENTENCES} sentences change. Change the order of more words.")
    for reverse in (Invert(marks=()), Invert()):
        if words == [reverse(sentence).words for sentence in sentences]:
            return _wrong("this is English reversed, which exists already as `inv`. Find another rule.")
    inverted, yours = _neighbours_kept(_images(Invert(), sentences)), _neighbours_kept(images)
    return _right(
        f"{moved} of {SENTENCES} sentences change. Of the pairs of neighbouring words in English, "
        f"{inverted:.0f} % remain neighbours in `inv`, and {yours:.0f} % in your language."
    )


def predicted(predictions: Mapping[str, float | None]) -> None:
    """Check that each objective has a number from 0 to 100."""
    numbers = {name: predictions.get(name) for name in KINDS}
    right = {name for name, value in numbers.items() if isinstance(value, int | float) and 0 <= value <= 100}
    if missing := " and ".join(name for name in KINDS if name not in right):
        return _wrong(f"write a number from 0 to 100 (percent, without quotation marks) for {missing}.")
    return _right("your predictions are noted. You will compare them with the results below.")


def aligned_without_help(answer: Sequence[str], model: Checkpoint, words: Sequence[str]) -> None:
    """Check which words outside the dictionary have their own image as nearest neighbour."""
    answers, right = {answer} if isinstance(answer, str) else {*answer}, set()
    for word in words:
        (nearest,) = model.nearest(word, among=LANGUAGE, count=1)
        if nearest.word == SCRIPT.spell(word) and nearest.cosine < TOLD:
            right.add(word)
    if answers == right:
        named = ", ".join(sorted(right)) or "none"
        return _right(f"{named}: the dictionary lacks them, so the model learned them from text.")
    parts = [f"{', '.join(sorted(answers - right))} should not be in the list"] if answers - right else []
    parts += [f"{len(right - answers)} more to find"] if right - answers else []
    hint = "Look for rows that end with `own counterpart` and have a cosine below 1.00."
    return _wrong(f"{'; '.join(parts)}. {hint}")


def explanation(answer: str) -> None:
    """Check the conclusion drawn from the correlations."""
    wrong = {
        "a": "the models also differ in their training: the dictionary may cause both. "
        "Look at the models of one kind.",
        "c": "over all models, alignment and scores are strongly correlated. The question is why.",
    }
    if answer == "b":
        _right("the dictionary may have improved both. To show a cause, change alignment and nothing else.")
    else:
        _wrong(wrong.get(answer, 'answer "a", "b" or "c".'))


def smallest_and_largest(
    answer: tuple[float | None, float | None], scores: Mapping[str, Sequence[float]]
) -> None:
    """Check the smallest and largest difference between models with and without a dictionary."""
    if None in answer:
        return _wrong("replace both None. `differences` has one number for each pair of models.")
    differences = [align - mlm for align in scores["ALIGN-MLM"] for mlm in scores["MLM"]]
    low, high = min(differences), max(differences)
    if not np.allclose(np.array(answer, float), [low, high], atol=0.1):
        return _wrong("these are not the smallest and largest of `differences`. `min` and `max` find them.")
    return _right(
        f"with one model of each kind you could have measured any difference from {low:.1f} to {high:.1f} "
        f"points. The sign of the difference is {'always' if low > 0 else 'not always'} the same."
    )


def _images(language: Transform, sentences: Sequence[Sentence]) -> list[Sentence]:
    return [image_of(language, sentence, number, Account()) for number, sentence in enumerate(sentences)]


def _neighbours_kept(images: Sequence[Sentence]) -> float:
    """Return the percentage of adjacent words in the images that are adjacent in the source."""
    adjacent = total = 0
    for image in images:
        adjacent += sum(abs(i - j) == 1 for i, j in pairwise(image.origin))
        total += len(image.origin) - 1
    return 100 * adjacent / total


def _right(message: str) -> None:
    print(f"Right: {message}")


def _wrong(message: str) -> None:
    print(f"Not yet: {message}")

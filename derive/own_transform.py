"""Test user-defined transforms on the first sentences, before the whole corpus is derived."""

import traceback
from collections.abc import Sequence
from functools import partial
from itertools import chain, islice
from pathlib import Path

from calque.derive.errors import BadInput
from calque.derive.fingerprint import own_code
from calque.derive.sentence import Sentence
from calque.derive.source import Source
from calque.derive.transform import Account, Transform, image_of
from calque.derive.workers import Workers

SAMPLE = 100  # number of sentences tried
Numbered = tuple[int, Sentence]


def check_own(source: Source, transforms: Sequence[Transform], cache: Path, workers: int) -> None:
    """Raise BadInput for a user-defined transform that raises an error, loses or adds words, or yields
    different images in a second run, in reverse order and, with several `workers`, in a different process."""
    own = [transform.ready(cache) for transform in transforms if own_code(transform)]
    if not own:
        return
    source = source.ready(cache, any("trees" in transform.needs for transform in own), workers)
    sentences = chain.from_iterable(source.sentences(chunk)[0] for chunk in source.chunks())
    numbered = list(enumerate(islice(sentences, SAMPLE)))
    for transform in own:
        first = images(transform, numbered)
        with Workers(min(workers, 2)) as pool:
            (again,) = pool.map(partial(images, transform), [numbered[::-1]])
        for (number, _), one, other in zip(numbered, first, again[::-1], strict=True):
            if one != other:
                fault = f"{transform.name} is not a function of a sentence and its number"
                both = f"{one.text[:100]!r} and then {other.text[:100]!r}"
                hint = "draw random numbers with calque.derive.transform.draw"
                message = f"{fault}: sentence {number} becomes {both}; {hint}"
                raise BadInput(message, next(iter(own_code(transform))))


def images(transform: Transform, numbered: Sequence[Numbered]) -> list[Sentence]:
    """Return the images of numbered sentences; error messages name the line in the transform's code."""
    found = []
    for number, sentence in numbered:
        try:
            found.append(image_of(transform, sentence, number, Account()))
        except Exception as error:
            kind = "" if isinstance(error, BadInput) else f"{type(error).__name__}: "
            message = f"{transform.name} fails on sentence {number}, {sentence.text[:100]!r}: {kind}{error}"
            raise BadInput(message, *_place(transform, error)) from error
    return found


def _place(transform: Transform, error: Exception) -> tuple[str, int | None]:
    files = list(own_code(transform))
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if any(frame.filename.endswith(f"/{file}") for file in files):
            return frame.filename, frame.lineno
    return files[0], None

"""The list of all transforms, a parser for their names, and a test for users' own transforms."""

import re
import traceback
from collections.abc import Sequence
from functools import partial
from itertools import chain, islice
from pathlib import Path

from calque.derive.errors import BadInput, shown, unknown
from calque.derive.fingerprint import own_code
from calque.derive.order import Invert, Permute, Reorder
from calque.derive.script import Cognates, Transliterate
from calque.derive.sentence import Sentence
from calque.derive.source import Source
from calque.derive.transform import Account, Transform, compose, image_of
from calque.derive.words import Agglutinate, Cipher, Drop, Split, Translate
from calque.derive.workers import Workers

TRANSFORMS: list[type[Transform]] = [
    Transliterate,
    Cognates,
    Invert,
    Permute,
    Reorder,
    Agglutinate,
    Drop,
    Split,
    Cipher,
    Translate,
]
"""All kinds of transforms. Study files may add others (`experiments.settings.catalogue`)."""
SAMPLE = 100  # number of sentences used to test user-defined transforms


def transform(name: str) -> Transform:
    """Return the transform called `name`; the last part of a name such as `trans.inv` is applied first."""
    # Dots inside numbers, as in inv-12.5, are not separators.
    return compose(*map(_part, re.split(r"\.(?!\d)", name)))


def _part(name: str) -> Transform:
    try:
        for kind in TRANSFORMS:
            if (part := kind.parse(name)) is not None:
                return part
    except ValueError as error:
        raise BadInput(f"transform {shown(name)}: {error}") from error
    examples = dict(chain.from_iterable(kind.examples for kind in TRANSFORMS))
    examples |= {kind().name: "" for kind in TRANSFORMS if not kind.short_name}
    described = [f"{example} ({meaning})" if meaning else example for example, meaning in examples.items()]
    raise BadInput(unknown("transform", name, examples, described))


def check_own(source: Source, transforms: Sequence[Transform], cache: Path, workers: int) -> None:
    """Raise BadInput for a user's transform that fails, loses or adds words, or yields different images in
    reverse order or in another process (with several `workers`)."""
    own_transforms = [transform.ready(cache) for transform in transforms if own_code(transform)]
    if not own_transforms:
        return
    source = source.ready(cache, any("trees" in transform.needs for transform in own_transforms), workers)
    sentences = chain.from_iterable(source.sentences(chunk)[0] for chunk in source.chunks())
    numbered = list(enumerate(islice(sentences, SAMPLE)))
    for transform in own_transforms:
        first_images = _images(transform, numbered)
        with Workers(min(workers, 2)) as pool:
            (second_images,) = pool.map(partial(_images, transform), lambda: [numbered[::-1]], "")
        for number, (first_image, second_image) in enumerate(
            zip(first_images, second_images[::-1], strict=True)
        ):
            if first_image != second_image:
                fault = f"{transform.name} is not a function of a sentence and its number"
                images = f"{first_image.text[:100]!r} and then {second_image.text[:100]!r}"
                hint = "draw random numbers with calque.derive.transform.draw"
                message = f"{fault}: sentence {number} becomes {images}; {hint}"
                raise BadInput(message, next(iter(own_code(transform))))


def _images(transform: Transform, numbered: Sequence[tuple[int, Sentence]]) -> list[Sentence]:
    images = []
    for number, sentence in numbered:
        try:
            images.append(image_of(transform, sentence, number, Account()))
        except Exception as error:
            kind = "" if isinstance(error, BadInput) else f"{type(error).__name__}: "
            message = f"{transform.name} fails on sentence {number}, {sentence.text[:100]!r}: {kind}{error}"
            raise BadInput(message, *_place(transform, error)) from error
    return images


def _place(transform: Transform, error: Exception) -> tuple[str, int | None]:
    files = tuple(f"/{file}" for file in own_code(transform))
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if frame.filename.endswith(files):
            return frame.filename, frame.lineno
    return files[0][1:], None

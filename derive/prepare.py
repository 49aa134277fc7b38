"""Transforms before they are used: checked, and with whatever they have to learn first."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from derive.bpe import SMALLEST
from derive.derived_folder import SOURCE, VOCABULARY
from derive.errors import BadInput
from derive.files import MANIFEST, check_name
from derive.preview import PREVIEW
from derive.progress import Progress
from derive.transform import Compose, Transform
from derive.usage import Usage


def check_transforms(transforms: Sequence[Transform]) -> None:
    """Find what is wrong with transforms before the text is read: names that no folders can have, two scripts."""
    names, others = [transform.name for transform in transforms], (SOURCE, VOCABULARY, PREVIEW, MANIFEST)
    if len({*others, *names}) < len(others) + len(names):
        raise BadInput(
            f"the transforms {', '.join(names)} must have different names, none of them {' or '.join(others)}"
        )
    for transform in transforms:
        check_name(transform.name, "the transform's name")
        try:
            tried(transform, SMALLEST)
        except ValueError as error:
            raise BadInput(f"the transform {transform.name}: {error}") from error


def tried(transform: Transform, size: int) -> np.ndarray:
    """The ids of a vocabulary of which no text is known: as many move, and as far, as with one of a text.

    Raises:
        ValueError: the parts of the transform do not fit together, or one comes twice.
    """
    image = transform.informed(Usage.even(size)).image(size)
    parts = [part.name for part in transform.parts] if isinstance(transform, Compose) else []
    if twice := [name for name in parts if parts.count(name) > 1]:
        raise ValueError(f"{transform.name} has {twice[0]} twice; expected each part once")
    return image


def learn(transforms: Sequence[Transform], cache: Path, progress: Progress) -> tuple[Transform, ...]:
    """The transforms with what they had to learn; it is kept in the folder `cache`."""
    ready = []
    of = sum(transform.needs_trees for transform in transforms)
    for transform in transforms:
        ready.append(transform.ready(cache))
        if transform.needs_trees:
            progress("learning word orders", sum(transform.needs_trees for transform in ready), of)
    return tuple(ready)

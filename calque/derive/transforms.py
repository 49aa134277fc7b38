"""The list of all transforms, and a parser for their names."""

import re

from calque.derive.errors import BadInput, shown, unknown
from calque.derive.order import Invert, Permute, Reorder
from calque.derive.script import Cognates, Transliterate
from calque.derive.transform import Transform, compose
from calque.derive.words import Agglutinate, Split, Translate

TRANSFORMS: list[type[Transform]] = [
    Transliterate,
    Cognates,
    Invert,
    Permute,
    Reorder,
    Agglutinate,
    Split,
    Translate,
]
"""All kinds of transforms. Study files may add others (`experiments.settings.catalogue`)."""


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
    examples = [example for kind in TRANSFORMS for example, _ in kind.examples]
    examples += [kind().name for kind in TRANSFORMS if not kind.short_name]
    raise BadInput(unknown("transform", name, examples))

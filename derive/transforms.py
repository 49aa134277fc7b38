"""All transforms, and the parsing of their names. A new transform is defined in its own file and listed
here."""

import re

from calque.derive.errors import BadInput, shown, unknown
from calque.derive.galactic import Reorder
from calque.derive.order import Invert, Permute
from calque.derive.script import Cognates, Transliterate
from calque.derive.transform import Transform, compose
from calque.derive.words import Agglutinate, Cipher, Drop, Rewrite, Split, Translate

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
"""All kinds of transforms. Study files may add others (`experiments.settings.study_file`)."""
TERMS = {kind.__name__: kind.term for kind in TRANSFORMS}  # glossary definitions by class name
REWRITES = {kind.__name__ for kind in TRANSFORMS if issubclass(kind, Rewrite)}  # kinds that change words
_EXAMPLES = [example for kind in TRANSFORMS for example in kind.examples]
EXAMPLES = tuple(f"{name} ({meaning})" if meaning else name for name, meaning in _EXAMPLES)


def transform(name: str) -> Transform:
    """Return the transform called `name`; if dots join several parts, as in `trans.inv`, the last is applied
    first."""
    # The dot in inv-12.5 is not a separator.
    return compose(*map(_part, re.split(r"\.(?!\d)", name)))


def _part(name: str) -> Transform:
    try:
        for kind in TRANSFORMS:
            if (found := kind.parse(name)) is not None:
                return found
    except ValueError as error:
        raise BadInput(f"transform {shown(name)}: {error}") from error
    own_names = [kind().name for kind in TRANSFORMS if not kind.short_name]
    known = [*(example for example, _ in _EXAMPLES), *own_names]
    raise BadInput(unknown("transform", name, known, [*EXAMPLES, *own_names]))

"""The transforms and their command-line names. A new one is a class in its own file and an entry here."""

import re

from calque.derive.errors import BadInput, shown, unknown
from calque.derive.order import Invert, Permute
from calque.derive.reorder import Reorder
from calque.derive.script import Cognates, Transliterate
from calque.derive.transform import Transform, compose
from calque.derive.words import Agglutinate, Cipher, Drop, Rewrite, Split

TRANSFORMS: tuple[type[Transform], ...] = (
    Transliterate,
    Cognates,
    Invert,
    Permute,
    Reorder,
    Agglutinate,
    Drop,
    Split,
    Cipher,
)
TERMS = {kind.__name__: kind.term for kind in TRANSFORMS}  # definitions for a glossary by class name
REWRITES = frozenset(kind.__name__ for kind in TRANSFORMS if issubclass(kind, Rewrite))  # kinds that change words
_EXAMPLES = [example for kind in TRANSFORMS for example in kind.examples]
EXAMPLES = tuple(f"{name} ({meaning})" if meaning else name for name, meaning in _EXAMPLES)


def transform(name: str) -> Transform:
    """The transform with a name: parts joined by dots, the last applied first, as in `trans.inv`. Names round-trip:
    `transform("trans-25.inv").name` is `trans-25.inv`."""
    parts = []
    for part in re.split(r"\.(?!\d)", name):  # the dot of inv-12.5 is not a separator
        matches = ((kind, match) for kind in TRANSFORMS if (match := re.fullmatch(kind.pattern, part)))
        kind, match = next(matches, (None, None))
        if kind is None or match is None:
            raise BadInput(unknown("transform", part, (name for name, _ in _EXAMPLES), EXAMPLES))
        try:
            parts.append(kind.parse(**match.groupdict()))
        except ValueError as error:
            raise BadInput(f"transform {shown(part)}: {error}") from error
    return compose(*parts)

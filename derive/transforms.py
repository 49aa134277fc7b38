"""The transforms there are, and the names by which a person asks for them. A new one is a class in a file of its own
(order.py has the shortest) and an entry here."""

import re

from calque.derive.errors import BadInput, shown, unknown
from calque.derive.order import Invert, Permute
from calque.derive.reorder import Reorder
from calque.derive.script import Cognates, Transliterate
from calque.derive.transform import Transform, compose

TRANSFORMS: tuple[type[Transform], ...] = (Transliterate, Cognates, Invert, Permute, Reorder)
TERMS = {kind.__name__: kind.term for kind in TRANSFORMS}  # what a glossary says of each, by the name of its class
_EXAMPLES = [example for kind in TRANSFORMS for example in kind.examples]
EXAMPLES = tuple(f"{name} ({meaning})" if meaning else name for name, meaning in _EXAMPLES)
"""Names as help and errors list them."""


def transform(name: str) -> Transform:
    """The transform of a name: parts joined by dots, the last applied first, as in `trans.inv`. Every transform is
    written as it names itself, so `transform("trans-25.inv").name` is `trans-25.inv` again."""
    parts = []
    for part in re.split(r"\.(?!\d)", name):  # the dot of inv-12.5 joins nothing
        matches = ((kind, match) for kind in TRANSFORMS if (match := re.fullmatch(kind.pattern, part)))
        kind, match = next(matches, (None, None))
        if kind is None or match is None:
            raise BadInput(unknown("transform", part, (name for name, _ in _EXAMPLES), EXAMPLES))
        try:
            parts.append(kind.parse(**match.groupdict()))
        except ValueError as error:
            raise BadInput(f"transform {shown(part)}: {error}") from error
    return compose(*parts)

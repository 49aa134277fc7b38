"""Transforms describe themselves: names, help and glossary come from their classes and one list."""

from __future__ import annotations

import pytest

from calque.derive.errors import BadInput
from calque.derive.transform import Transform
from calque.derive.transforms import TRANSFORMS, transform

EXAMPLES = [(kind, name.replace("fr", "romance")) for kind in TRANSFORMS for name, _ in kind.examples]


@pytest.mark.parametrize(("kind", "name"), EXAMPLES)
def test_every_example_is_a_transform_of_its_class_and_is_called_so(kind: type[Transform], name: str) -> None:
    made = transform(name)
    assert type(made) is kind and made.name == name
    assert transform(f"{name}.inv-37.5").name == f"{name}.inv-37.5"


WRONG = """inv-0 inv-101 trans10 trans-101 trans-most trans-stems-101 agg-0 drop-foo lex-fr-0 syn-romance-p0
    syn-romance-101"""


@pytest.mark.parametrize("name", [*WRONG.split(), "trans-stems", "drop", "syn", "nope", ""])
def test_a_name_of_no_transform_is_refused(name: str) -> None:
    with pytest.raises(BadInput) as refused:
        transform(name)
    assert repr(name) in str(refused.value)

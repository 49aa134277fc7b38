from __future__ import annotations

import pytest

from calque.derive.transform import Transform
from calque.derive.transforms import TRANSFORMS, transform

EXAMPLES = [(kind, name.replace("fr", "romance")) for kind in TRANSFORMS for name, _ in kind.examples]


@pytest.mark.parametrize(("kind", "name"), EXAMPLES)
def test_every_example_is_a_transform_of_its_class_and_is_called_so(kind: type[Transform], name: str) -> None:
    made = transform(name)
    assert type(made) is kind and made.name == name
    assert transform(f"{name}.inv-37.5").name == f"{name}.inv-37.5"

"""Transforms describe themselves: names, help and glossary come from their classes and one list."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from calque.derive import transforms
from calque.derive.errors import BadInput
from calque.derive.forms import number
from calque.derive.sentence import Sentence
from calque.derive.transform import Transform, compose
from calque.derive.transforms import TRANSFORMS, transform

EXAMPLES = [(kind, name.replace("fr", "romance")) for kind in TRANSFORMS for name, _ in kind.examples]


@pytest.mark.parametrize(("kind", "name"), EXAMPLES)
def test_every_example_is_a_transform_of_its_class_and_is_called_so(kind: type[Transform], name: str) -> None:
    made = transform(name)
    assert type(made) is kind and made.name == name
    assert transform(f"{name}.inv-37.5").name == f"{name}.inv-37.5"


@dataclass(frozen=True)
class Rotate(Transform):
    """A toy: the first `by` words go last."""

    short_name = "rotate"
    forms = (number("by", "-", "by {value} words", "2"),)
    examples = (("rotate-2", "by two words"),)

    by: int = 1

    def __post_init__(self) -> None:
        if self.by > 8:
            raise ValueError("expected fewer words")

    def __call__(self, sentence: Sentence, number: int = 0) -> Sentence:
        places = list(range(len(sentence)))
        return sentence.reorder(places[self.by :] + places[: self.by])


@dataclass(frozen=True)
class Plain(Rotate):
    short_name, name = "", "plain"


def test_a_transform_in_the_list_has_a_name_on_the_command_line(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BadInput, match="'rotate-2'"):
        transform("rotate-2")
    monkeypatch.setattr(transforms, "TRANSFORMS", (*TRANSFORMS, Rotate, Plain))
    assert transform("rotate-2.inv.plain") == compose(Rotate(2), transform("inv"), Plain())


WRONG = (
    "inv-0 inv-101 trans10 trans-101 trans-most trans-stems-101 agg-0 drop-foo lex-fr-0 syn-romance-p0 syn-romance-101"
)


@pytest.mark.parametrize("name", [*WRONG.split(), "trans-stems", "drop", "syn", "nope", ""])
def test_a_name_of_no_transform_is_refused(name: str) -> None:
    with pytest.raises(BadInput) as refused:
        transform(name)
    assert repr(name) in str(refused.value)

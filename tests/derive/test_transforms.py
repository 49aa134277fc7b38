"""Transforms describe themselves: names, help and glossary come from their classes and one list."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from calque.derive import transforms
from calque.derive.errors import BadInput
from calque.derive.sentence import Sentence
from calque.derive.transform import Transform, compose
from calque.derive.transforms import TERMS, TRANSFORMS, transform

EXAMPLES = [(kind, name.replace("fr", "romance")) for kind in TRANSFORMS for name, _ in kind.examples]


@pytest.mark.parametrize(("kind", "name"), EXAMPLES)
def test_every_example_is_a_transform_of_its_class_and_is_called_so(kind: type[Transform], name: str) -> None:
    made = transform(name)
    assert type(made) is kind and made.name == name
    assert transform(f"{name}.inv-37.5").name == f"{name}.inv-37.5"


def test_every_transform_is_explained_in_reports() -> None:
    assert all(TERMS[kind.__name__].endswith(".") for kind in TRANSFORMS)


@dataclass(frozen=True)
class Rotate(Transform):
    """A toy: the first `by` words go last."""

    pattern = r"rotate-(?P<by>[1-9])"
    examples = (("rotate-2", "by two words"),)
    term = "Rotate moves the first words to the end."

    by: int = 1

    @classmethod
    def parse(cls, by: str) -> Rotate:
        if by == "9":
            raise ValueError("expected fewer words")
        return cls(int(by))

    @property
    def name(self) -> str:
        return f"rotate-{self.by}"

    def __call__(self, sentence: Sentence, number: int = 0) -> Sentence:
        places = list(range(len(sentence)))
        return sentence.reorder(places[self.by :] + places[: self.by])


def test_a_transform_in_the_list_has_a_name_on_the_command_line(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BadInput, match="no transform is called 'rotate-2'"):
        transform("rotate-2")
    monkeypatch.setattr(transforms, "TRANSFORMS", (*TRANSFORMS, Rotate))
    assert transform("rotate-2.inv") == compose(Rotate(2), transform("inv"))
    with pytest.raises(BadInput, match="transform 'rotate-9': expected fewer words"):
        transform("rotate-9")

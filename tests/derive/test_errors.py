"""Errors are one line, and say of an unknown name what was meant, perhaps."""

import pytest

from calque.derive.errors import BadInput, nearest

KNOWN = ("inv", "Trans", "perm")


def test_place_and_message_stand_in_one_line() -> None:
    assert str(BadInput("wrong")) == "wrong"
    assert str(BadInput("wrong", "a")) == "a: wrong"
    assert str(BadInput("wrong", "a", 3)) == "a:3: wrong"


@pytest.mark.parametrize(
    ("name", "said"), [("trnas", "did you mean Trans?"), ("INV", "did you mean inv?"), ("xyz", "")]
)
def test_the_nearest_name_is_asked_for(name: str, said: str) -> None:
    assert nearest(name, KNOWN) == said

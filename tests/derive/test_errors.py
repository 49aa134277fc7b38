"""Errors are one line, and say of an unknown name what was meant, perhaps."""

import pytest

from calque.derive.errors import LONGEST, LONGEST_NAME, BadInput, nearest, shown, unknown

KNOWN = ("inv", "Trans", "perm")


def test_place_and_message_stand_in_one_line() -> None:
    assert str(BadInput("wrong")) == "wrong"
    assert str(BadInput("wrong", "a")) == "a: wrong"
    assert str(BadInput("wrong", "a", 3)) == "a:3: wrong"


def test_a_long_quotation_is_cut_in_the_middle() -> None:
    message = str(BadInput(f"found {'x' * 10_000}; expected a word", "a", 3))
    assert message.startswith("a:3: found xxx") and message.endswith("; expected a word")
    assert len(message) < LONGEST + 20
    assert str(BadInput("y" * LONGEST)) == "y" * LONGEST


@pytest.mark.parametrize(
    ("name", "said"), [("trnas", "did you mean Trans?"), ("INV", "did you mean inv?"), ("xyz", "")]
)
def test_the_nearest_name_is_asked_for(name: str, said: str) -> None:
    assert nearest(name, KNOWN) == said


def test_what_there_is_stands_in_one_line() -> None:
    assert unknown("transform", "perms", KNOWN) == (
        "no transform is called 'perms'; did you mean perm? there are inv, Trans, perm"
    )
    assert unknown("task", "qa", KNOWN, ["parts of speech"]) == "no task is called 'qa'; there are parts of speech"


def test_a_long_name_is_cut_and_its_length_told() -> None:
    assert shown("x" * LONGEST_NAME) == repr("x" * LONGEST_NAME)
    assert shown("x" * LONGEST_NAME + "y") == f"'{'x' * LONGEST_NAME}'... ({LONGEST_NAME + 1} characters)"
    assert nearest("inv" + "n" * 10**6, KNOWN) == ""

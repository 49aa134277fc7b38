"""What is said of a name that nothing has."""

from __future__ import annotations

import pytest

from derive.errors import LONGEST, nearest, shown, unknown

KNOWN = ("inv", "Trans", "perm")


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
    assert shown("x" * LONGEST) == repr("x" * LONGEST)
    assert shown("x" * LONGEST + "y") == f"'{'x' * LONGEST}'... ({LONGEST + 1} characters)"
    assert nearest("inv" + "n" * 10**6, KNOWN) == ""

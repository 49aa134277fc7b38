from derive.errors import LONGEST, BadInput


def test_place_and_message_stand_in_one_line() -> None:
    assert str(BadInput("wrong")) == "wrong"
    assert str(BadInput("wrong", "a")) == "a: wrong"
    assert str(BadInput("wrong", "a", 3)) == "a:3: wrong"


def test_a_long_quotation_is_cut_in_the_middle() -> None:
    message = str(BadInput(f"found {'x' * 10_000}; expected a word", "a", 3))
    assert message.startswith("a:3: found xxx") and message.endswith("; expected a word")
    assert len(message) < LONGEST + 20
    assert str(BadInput("y" * LONGEST)) == "y" * LONGEST

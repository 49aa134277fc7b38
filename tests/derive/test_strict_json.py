"""Whatever is wrong with a JSON text is a ValueError."""

import json

import pytest

from calque.derive.strict_json import loads


@pytest.mark.parametrize("text", ['{"a": [1, 2.5, "x", null, true]}', "3", '"\\u00e9"', "[]", '[{"a": 1}, {"a": 2}]'])
def test_what_is_right_is_read(text: str) -> None:
    assert loads(text) == json.loads(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "Expecting value"),
        ("{", "Expecting property name"),
        ("[" * 100_000, "nested too deeply"),
        ('{"a":' * 100_000, "nested too deeply"),
        ("9" * 5_000, "limit"),
        ('{"a": 1, "b": 2, "a": 1}', "the key 'a' occurs twice"),
        ('{"b": {"a": 1, "a": 2}}', "the key 'a' occurs twice"),
        ("[NaN]", "NaN is not a JSON number"),
        ("-Infinity", "-Infinity is not a JSON number"),
    ],
)
def test_what_is_wrong_is_a_value_error(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        loads(text)

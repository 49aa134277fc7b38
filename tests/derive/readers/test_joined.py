"""Words joined to text again."""

from __future__ import annotations

import pytest

from derive.natural.formats import join_words


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ("Pierre lives in Paris .", "Pierre lives in Paris ."),
        ("佐 賀 県", "佐賀県"),
        ("１ ９ 年 、 T V で 9 0", "１９年、TVで90"),  # by character: what stood between digits is not known
        ("ประเทศ ไทย", "ประเทศไทย"),
        ("東京 タワー in 東京 ( Japan )", "東京タワー in 東京 ( Japan )"),
        ("한국 사람", "한국 사람"),  # Korean has spaces
        ("a b c", "a b c"),
        ("", ""),
    ],
)
def test_scripts_without_spaces_are_joined_without(words: str, text: str) -> None:
    assert join_words(words.split()) == text

"""Words as the text that they were cut from, as nearly as rules can tell."""

from __future__ import annotations

import re
from collections.abc import Sequence

_UNSPACED = (
    "\u0e00-\u0fff"  # Thai, Lao, Tibetan
    "\u1000-\u109f\u1780-\u17ff"  # Burmese, Khmer
    "\u3000-\u30ff\u31f0-\u31ff"  # punctuation and kana
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
    "\uff00-\uffef"  # wide forms
)
_BETWEEN = re.compile(f"(?<=[{_UNSPACED}]) (?=[{_UNSPACED}])")
_ANY = re.compile(f"[{_UNSPACED}]")


def join_words(words: Sequence[str]) -> str:
    """The words with a space between them, but with none between letters of scripts that are written without spaces.

    A sentence of single characters with such a letter among them was cut by character, as PAN-X's Chinese and Japanese
    are: there is none between digits or Latin letters in it either, and where there was one is not known.
    """
    if max(map(len, words), default=0) == 1 and _ANY.search("".join(words)):
        return "".join(words)
    return _BETWEEN.sub("", " ".join(words))

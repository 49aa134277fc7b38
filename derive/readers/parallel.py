"""Parallel text: sentence pairs from two files or from columns, in words as the sets of gold links have them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from derive.errors import BadInput
from derive.readers.english import cut, split_words
from derive.readers.lines import read_lines
from derive.readers.markup import ESCAPED, seems_escaped, unescaped
from derive.readers.placeholders import PLACEHOLDERS, is_placeholder
from derive.readers.two_files import Pair

_APOSTROPHES = str.maketrans("’ʼ", "''")
_REMEMBERED = 1 << 18
_NOT = {"ca": "can", "sha": "shall", "wo": "will"}
_FULL = {f"{short}'": (f"{short}e",) for short in ("c", "d", "j", "l", "m", "n", "qu", "s", "t")} | {
    "du": ("de", "le"),
    "des": ("de", "les"),
    "au": ("à", "le"),
    "aux": ("à", "les"),
}
"""What the French side of the en-fr set (Och and Ney 2000) writes out, whatever the gender."""


@dataclass(frozen=True)
class ParallelText:
    """Sentences and their translations: in `path` and `beside`, line by line, or, without `beside`, in two columns.

    `turned` says that the columns begin with the target language, `escaped` that characters are escaped, as Moses's
    tokenizer does (`&quot;`), and are to be unescaped.
    """

    path: Path
    beside: Path | None = None
    turned: bool = False
    escaped: bool = False

    def pairs(self, counts: Counter[str] | None = None) -> Iterator[tuple[str, str]]:
        """Stream the sentences as they are; `counts` has what `read_lines` removed.

        Raises:
            BadInput: a file is missing or damaged, a line has not two columns, or one file has more lines.
        """
        if self.beside is None:
            for number, line in read_lines(self.path, counts):
                columns = line.split("\t")
                if len(columns) != 2:
                    raise BadInput(
                        f"{len(columns)} columns; expected a sentence and its translation", self.path, number
                    )
                yield (columns[1], columns[0]) if self.turned else (columns[0], columns[1])
            return
        second = read_lines(self.beside, counts)
        number = 0
        for number, line in read_lines(self.path, counts):
            _, translation = next(second, (0, None))
            if translation is None:
                raise BadInput(f"ends before line {number:,} of {self.path}", self.beside)
            yield line, translation
        if next(second, None):
            raise BadInput(f"has more than the {number:,} lines of {self.path}", self.beside)

    def words(self, source: str, target: str, left_out: Counter[str]) -> Iterator[Pair]:
        """Stream the pairs' words; `source` and `target` are codes as in en.

        Pairs with an empty side or with a placeholder are left out and counted.
        """
        for first, second in self.pairs(left_out):
            if is_placeholder(first) or is_placeholder(second):
                left_out[PLACEHOLDERS] += 1
                continue
            if self.escaped:
                first, second = unescaped(first, left_out), unescaped(second, left_out)
            elif seems_escaped(first) or seems_escaped(second):
                left_out[ESCAPED] += 1
            pair = words_of(first, source), words_of(second, target)
            if all(pair):
                yield pair
            else:
                left_out["sentence pairs with an empty side"] += 1


def words_of(text: str, language: str) -> tuple[str, ...]:
    """The words of a text in lower case, as nearly as rules can tell in the style of the sets of gold links.

    An apostrophe inside a word parts it: `it 's`, `do not` for don't, and in French `le ami`, elisions and contractions
    (`de le`) being written out as in the en-fr set. A hyphen parts French words.
    """
    words: list[str] = []
    for sentence in cut(text.translate(_APOSTROPHES)):
        *parts, last = sentence.split()
        for part in parts:
            words += _words(f"{part} ", language)  # the space tells an abbreviation's full stop from the last one
        words += _words(last, language)
    return tuple(words)


@lru_cache(_REMEMBERED)
def _words(part: str, language: str) -> tuple[str, ...]:
    """The words of what stands between white space, which mostly has been seen before."""
    words = split_words(part.lower())
    if language == "fr":
        pieces = (piece for word in words for piece in re.split(r"(?<=')|(?<=\w)(-)(?=\w)", word) if piece)
        return tuple(full for piece in pieces for full in _FULL.get(piece, (piece,)))
    return tuple(piece for word in words for piece in _parted(word))


def _parted(word: str) -> list[str]:
    head, mark, tail = word.partition("'")
    if not head or not tail:
        return [word]
    if tail == "t" and head.endswith("n"):
        return [_NOT.get(head[:-1], head[:-1]), "not"]
    return [head, mark + tail]

"""Read parallel text as words: tokenised files, or sentences, which are tokenised as in gold-link sets."""

import re
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from calque.derive.errors import BadInput
from calque.derive.readers.english import cut, split_words
from calque.derive.readers.lines import Lines, decode, tokens

Pair = tuple[tuple[str, ...], tuple[str, ...]]  # the words of a sentence and its translation
_APOSTROPHES = str.maketrans("’ʼ", "''")
_BARS = re.compile(r"(?:^|\s)\|\|\|(?:\s|$)")
_NOT = {"ca": "can", "sha": "shall", "wo": "will"}
_FULL = {f"{short}'": (f"{short}e",) for short in ("c", "d", "j", "l", "m", "n", "qu", "s", "t")} | {
    "du": ("de", "le"),
    "des": ("de", "les"),
    "au": ("à", "le"),
    "aux": ("à", "les"),
}
"""French elisions and contractions, as the en-fr gold-link set (Och and Ney 2000) writes them out, ignoring
gender."""


class TwoFiles:
    """The sentence pairs in two files with one sentence per line, which every iteration reads again."""

    def __init__(self, source: Path, target: Path) -> None:
        self.paths = source, target
        self.counts: Counter[str] = Counter()
        self.size, other = (sum(1 for _ in Lines(path, self.counts)) for path in self.paths)
        if other != self.size:
            raise BadInput(f"{other:,} lines, but {source} has {self.size:,}; expected equal numbers", target)

    def __iter__(self) -> Iterator[Pair]:
        for (_, source), (_, target) in zip(*map(Lines, self.paths), strict=True):
            yield tuple(tokens(source)), tuple(tokens(target))


def pair_of_line(line: bytes, path: Path, number: int) -> Pair:
    """Split a line into the words of a sentence and its translation, separated by ` ||| ` or a tab; for a
    blank line, both are empty."""
    text = decode(line, path, number)
    sides = text.split("\t") if "\t" in text else _BARS.split(text) if text.strip() else ["", ""]
    if len(sides) != 2:
        expected = "a line must contain a sentence, a tab or ` ||| `, and its translation"
        raise BadInput(f"{len(sides)} sides of {text[:100]!r}; {expected}", path, number)
    return tuple(tokens(sides[0])), tuple(tokens(sides[1]))


def words_of(text: str, language: str) -> tuple[str, ...]:
    """Return a text's lower-case words, tokenised as in gold-link sets: `it 's` for it's, `do not` for don't
    and, in French, `le ami` for l'ami."""
    words: list[str] = []
    for sentence in cut(text.translate(_APOSTROPHES)):
        *parts, last = sentence.split()
        for part in parts:
            words += _words(f"{part} ", language)  # the space makes a full stop part of its abbreviation
        words += _words(last, language)
    return tuple(words)


@lru_cache(1 << 18)
def _words(part: str, language: str) -> tuple[str, ...]:
    words = split_words(part.lower())
    if language == "fr":
        pieces = (piece for word in words for piece in re.split(r"(?<=')|(?<=\w)(-)(?=\w)", word) if piece)
        return tuple(full for piece in pieces for full in _FULL.get(piece, (piece,)))
    return tuple(piece for word in words for piece in _at_apostrophe(word))


def _at_apostrophe(word: str) -> list[str]:
    head, mark, tail = word.partition("'")
    if not head or not tail:
        return [word]
    if tail == "t" and head.endswith("n"):
        return [_NOT.get(head[:-1], head[:-1]), "not"]
    return [head, mark + tail]

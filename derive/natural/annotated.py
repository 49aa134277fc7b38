"""The text of annotated files: of treebanks in CoNLL-U, and of words with the tags of entities."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path

from derive.errors import BadInput
from derive.files import ADDED
from derive.natural.lines import LineFormat, Lines
from derive.readers.conllu import NAMES, cells
from derive.readers.hidden_words import HiddenWords
from derive.readers.iob2 import DOCUMENT_START, Shape, is_comment, words_of
from derive.readers.joined import join_words
from derive.readers.lines import parse_integer

_TEXT = "# text ="
_ID, _FORM, _MISC = 0, 1, 9


class Sentences(LineFormat):
    """Files with a blank line after each sentence."""

    record = "blank line"

    def ends(self, line: bytes) -> bool:
        return not line.strip()


@dataclass(frozen=True)
class Treebank(Sentences):
    """The text of a sentence as its comment has it; without one, its words as they stood before they were cut.

    `names` are the columns' names. Comments without a sentence have no text.
    """

    names: tuple[str, ...] = field(default=NAMES, metadata=ADDED)

    def texts(self, lines: Lines, path: Path, left_out: Counter[str]) -> Iterator[str]:
        last, hidden = 0, HiddenWords()
        for block in _blocks(lines):
            rows = [(number, line) for number, line in block if not line.startswith("#")]
            comments = [(number, line) for number, line in block if line.startswith(_TEXT)]
            if not rows:
                if comments:
                    raise BadInput("a sentence without words: the file is truncated", path, comments[0][0])
                left_out["comments without a sentence"] += len(block)
                continue
            text = _written(path, rows, self.names)
            if comments:
                text = comments[0][1].removeprefix(_TEXT)
            hidden.add(text.split(), rows[0][0])
            last = block[-1][0]
            yield text
        if lines and last == lines[-1][0]:
            raise BadInput(
                "no blank line after the last sentence: the file is truncated, or add one if it is whole", path, last
            )
        hidden.check(path)


def _written(path: Path, lines: list[tuple[int, str]], names: tuple[str, ...]) -> str:
    """The tokens of a sentence, multiword ones whole, with a space after each but those that say otherwise."""
    text, covered = "", 0
    for number, line in lines:
        columns = cells(path, number, line, names)
        first, _, last = columns[_ID].partition("-")
        if "." in first:
            continue  # an empty node
        try:
            at, end = parse_integer(first), parse_integer(last or first)
        except ValueError:
            raise BadInput(f"ID {columns[_ID]!r}; expected a number such as 3, 3-4 or 3.1", path, number) from None
        if at > covered:
            text += columns[_FORM] + ("" if "SpaceAfter=No" in columns[_MISC].split("|") else " ")
            covered = end
    return text


@dataclass(frozen=True)
class Entities(Sentences):
    """The words of a sentence, joined: see `derive.readers.joined`."""

    shape: Shape

    def texts(self, lines: Lines, path: Path, left_out: Counter[str]) -> Iterator[str]:
        hidden = HiddenWords()
        for block in _blocks(lines):
            if rows := [(number, line) for number, line in block if is_word(line, self.shape.separator)]:
                words = words_of(path, rows, self.shape, left_out)
                hidden.add(words, rows[0][0])
                yield join_words(words)
        hidden.check(path)


def is_word(line: str, separator: str | None) -> bool:
    """Whether a line of a file of entities is that of a word: no comment, and no mark of a document's begin."""
    return bool(line.strip()) and not is_comment(line, separator) and not line.startswith(DOCUMENT_START)


def _blocks(lines: Lines) -> Iterator[list[tuple[int, str]]]:
    """The lines of each sentence."""
    return (list(block) for blank, block in groupby(lines, lambda line: not line[1].strip()) if not blank)

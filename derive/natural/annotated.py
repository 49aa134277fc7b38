"""The text of annotated files: of treebanks in CoNLL-U, and of words with the tags of entities in IOB2."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from derive.errors import BadInput
from derive.natural.lines import LineFormat, Lines
from derive.readers.conllu import COLUMNS
from derive.readers.iob2 import Shape, words_of
from derive.readers.joined import join_words

_TEXT = "# text ="
_ID, _FORM, _MISC = 0, 1, 9


class Sentences(LineFormat):
    """Files with a blank line after each sentence."""

    record = "blank line"

    def ends(self, line: bytes) -> bool:
        return not line.strip()


@dataclass(frozen=True)
class Treebank(Sentences):
    """The text of a sentence as its comment has it; without one, its words as they stood before they were cut."""

    def texts(self, lines: Lines, path: Path, left_out: Counter[str]) -> Iterator[str]:
        last = 0
        for block in _blocks(lines):
            comments = [line for _, line in block if line.startswith(_TEXT)]
            words = _written(path, [(number, line) for number, line in block if not line.startswith("#")])
            yield comments[0].removeprefix(_TEXT) if comments else words
            last = block[-1][0]
        if lines and last == lines[-1][0]:
            raise BadInput(
                "no blank line after the last sentence: the file is truncated, or add one if it is whole", path, last
            )


def _written(path: Path, lines: list[tuple[int, str]]) -> str:
    """The tokens of a sentence, multiword ones whole, with a space after each but those that say otherwise."""
    text, covered = "", 0
    for number, line in lines:
        columns = line.split("\t")
        if len(columns) != COLUMNS:
            raise BadInput(f"{len(columns)} columns between tabs; expected {COLUMNS}", path, number)
        first, _, last = columns[_ID].partition("-")
        if "." in first:
            continue  # an empty node
        try:
            at, end = int(first), int(last or first)
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
        for block in _blocks(lines):
            if words := [(number, line) for number, line in block if is_word(line)]:
                yield join_words(words_of(path, words, self.shape, left_out))


def is_word(line: str) -> bool:
    """Whether a line of a file of entities is that of a word: no comment, and no mark of a document's begin."""
    comment = line.startswith("#") and "\t" not in line
    return bool(line.strip()) and not comment and not line.startswith("-DOCSTART-")


def _blocks(lines: Lines) -> Iterator[list[tuple[int, str]]]:
    """The lines of each sentence."""
    return (list(block) for blank, block in groupby(lines, lambda line: not line[1].strip()) if not blank)

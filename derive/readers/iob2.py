"""Entity files in IOB2, one word a line: PAN-X, CoNLL, WNUT, Universal NER."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from derive.errors import BadInput
from derive.readers.lines import check_file, one_word, read_lines
from derive.sentence import Sentence, spans_of

_TAG = re.compile(r"O|[BI]-\S+")
_LANGUAGE = re.compile(r"[a-z]{2,3}(?:-[a-z-]+)?:")
_NO_TYPE = frozenset({"B-O", "I-O", "B-OTH", "I-OTH"})

Block = list[tuple[int, str]]


@dataclass(frozen=True)
class Shape:
    """Where a file keeps its words and tags; columns count from 0, or from the end if negative.

    `separator` None is any run of spaces, `prefix` is PAN-X's language mark before every word (`en:`).
    `numbered` files (Universal NER) have a word number first and other columns after the tag, which may lack.
    """

    separator: str | None
    word: int = 0
    tag: int = -1
    prefix: str = ""
    numbered: bool = False
    width: int = 2


def read_iob2(
    path: Path,
    counts: Counter[str] | None = None,
    *,
    word_column: int | None = None,
    tag_column: int | None = None,
) -> Iterator[Sentence]:
    """Stream a file's sentences with their entity spans.

    The shape is read off the head of the file: tabs if it has one, else spaces; word first and tag last,
    but second and third where the first column numbers the words; a language prefix if all words have the
    same. The two arguments overrule the columns. In a file with tabs a line without one that begins with #
    is a comment.

    What is repaired is counted in `counts`: an I- that continues nothing begins an entity (PAN-X has them);
    in Universal NER the type OTH and the stray tag B-O are O; white space inside a word goes.
    `-DOCSTART-` lines are left out and counted.

    Raises:
        BadInput: with file and line. A column missing or too many, an empty word, a tag that is not O,
            B-x or I-x, a number out of order, a word without the prefix, a last line without its end.
    """
    counts = Counter() if counts is None else counts
    check_file(path)
    with path.open("rb") as file:
        separator = "\t" if b"\t" in file.read(1 << 16) else None
    shape = None
    for block in _blocks(path, separator, counts):
        shape = shape or _detect(block, separator, word_column, tag_column)
        rows = [_row(path, number, line, shape) for number, line in block]
        words: list[str] = []
        tags: list[str] = []
        for place, ((number, _), row) in enumerate(zip(block, rows, strict=True), start=1):
            if shape.numbered and row[0] != str(place):
                raise BadInput(f"word number {row[0]!r}; expected {place}", path, number)
            words.append(_word(path, number, row[shape.word], shape, counts))
            tags.append(_tag(path, number, row[shape.tag], tags[-1] if tags else "O", shape, counts))
        yield Sentence(tuple(words), spans=spans_of(tags))
    if shape is None:
        raise BadInput("no sentence in it", path)


def _blocks(path: Path, separator: str | None, counts: Counter[str]) -> Iterator[Block]:
    """The lines of each sentence: blank lines (white space alone, in WNUT) stand between them."""
    block: Block = []
    for number, line in read_lines(path, ended=True):
        if not line.strip():
            if block:
                yield block
            block = []
        elif line.startswith("-DOCSTART-"):
            counts["-DOCSTART- lines"] += 1
        elif not (separator and line.startswith("#") and separator not in line):
            block.append((number, line))
    if block:
        yield block


def _detect(block: Block, separator: str | None, word_column: int | None, tag_column: int | None) -> Shape:
    rows = [line.split(separator) for _, line in block]
    width = len(rows[0])
    numbered = all(
        len(row) > 2 and row[0] == str(place) and _TAG.fullmatch(row[2]) for place, row in enumerate(rows, start=1)
    )
    word, tag = (1, 2) if numbered else (0, -1)
    if word_column is not None or tag_column is not None:
        numbered = False
        word, tag = word_column if word_column is not None else word, tag_column if tag_column is not None else tag
    marks = {match[0] if (match := _LANGUAGE.match(row[word])) else "" for row in rows if word < len(row)}
    prefix = marks.pop() if len(marks) == 1 else ""
    return Shape(separator, word, tag, prefix, numbered, width)


def _row(path: Path, number: int, line: str, shape: Shape) -> list[str]:
    """The columns of a line: as many as the first line has, if the tag's place is counted from the end."""
    row = line.split(shape.separator)
    least = max(shape.word + 1, shape.tag + 1, -shape.tag, 2)
    if len(row) < least or (shape.tag < 0 and len(row) != shape.width):
        expected = shape.width if shape.tag < 0 and shape.width >= least else f"at least {least}"
        between = "spaces" if shape.separator is None else "tabs"
        raise BadInput(f"{len(row)} columns between {between}; expected {expected}", path, number)
    return row


def _word(path: Path, number: int, text: str, shape: Shape, counts: Counter[str]) -> str:
    if not text.startswith(shape.prefix):
        raise BadInput(f"{text!r} lacks the prefix {shape.prefix!r} of the words before", path, number)
    word = one_word(text.removeprefix(shape.prefix), counts)
    if not word:
        raise BadInput("the word is empty", path, number)
    return word


def _tag(path: Path, number: int, tag: str, before: str, shape: Shape, counts: Counter[str]) -> str:
    if not _TAG.fullmatch(tag) or (tag in ("B-O", "I-O") and not shape.numbered):
        raise BadInput(f"tag {tag!r}; expected O, B-type or I-type", path, number)
    if shape.numbered and tag in _NO_TYPE:
        counts[f"{tag} tags read as O"] += 1
        return "O"
    if tag.startswith("I-") and before[2:] != tag[2:]:
        counts["I- tags that begin an entity"] += 1
        return f"B-{tag[2:]}"
    return tag

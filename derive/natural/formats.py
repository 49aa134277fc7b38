"""Formats of text: which one a file has, by its name and its first lines, and what text a block of its lines holds.

Text stays as it is, except for white space at a line's ends.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from pathlib import Path

from derive import strict_json
from derive.errors import BadInput
from derive.natural import parquet
from derive.natural.piece import BlockPiece, Piece
from derive.readers.compressed import LIMIT, bare_name, open_bytes
from derive.readers.conllu import NAMES, cells, column_names
from derive.readers.iob2 import Shape, sentence_lines, shape_of, words_of
from derive.readers.lines import (
    SIZE,
    Numbered,
    Place,
    WithheldWords,
    blocks,
    decode,
    ends_line,
    parse_integer,
    stripped,
)
from derive.readers.text import (
    COLUMNS,
    ENTITIES,
    JSON,
    TREEBANK,
    XML,
    annotation,
    closes_document,
    head,
    kind_of,
    text_lines,
)

PARQUET, DOCUMENTS, WIKITEXT, PLAIN = "Parquet", "documents of WikiExtractor", "WikiText", "plain text"
_RUNNING = {"doc": DOCUMENTS, "wikitext": WIKITEXT, "plain": PLAIN}
NAMED = {".conllu": TREEBANK, ".jsonl": JSON, ".ndjson": JSON, ".parquet": PARQUET}
"""What a file must be whose name ends so."""
NumberedLines = Sequence[Numbered]
_TEXT = "# text ="
_UNSPACED = (
    "\u0e00-\u0fff"  # Thai, Lao, Tibetan
    "\u1000-\u109f\u1780-\u17ff"  # Burmese, Khmer
    "\u3000-\u30ff\u31f0-\u31ff"  # punctuation and kana
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
    "\uff00-\uffef"  # wide forms
)
_BETWEEN = re.compile(f"(?<=[{_UNSPACED}]) (?=[{_UNSPACED}])")
_ANY = re.compile(f"[{_UNSPACED}]")


@dataclass(frozen=True)
class Format:
    """The format of a file: `name`, and what its text depends on beside its lines.

    `column` is that of the text in JSON lines and Parquet, `names` are a treebank's columns, `shape` is that of a file
    of entities.
    """

    name: str
    column: str = ""
    names: tuple[str, ...] = NAMES
    shape: Shape | None = None

    def pieces(self, path: Path) -> Iterator[Piece]:
        """The pieces of a file in order; where it is cut into blocks, these end with a record."""
        if self.name == PARQUET:
            return parquet.pieces(path, self.column)
        ends, record, _ = _READ[self.name]
        return (LinesPiece(block, self) for block in blocks(path, ends, record, SIZE))

    def texts(self, lines: NumberedLines, path: Path, left_out: Counter[str]) -> Iterator[str]:
        """The text that the lines of a block hold; `left_out` counts what is not text."""
        return _READ[self.name][2](self, lines, path, left_out)


@dataclass(frozen=True)
class LinesPiece(BlockPiece):
    """Some whole records of a file."""

    form: Format

    def columns(self, left_out: Counter[str]) -> tuple[list[str], ...]:
        numbered = list(enumerate(self.block.lines(left_out), self.block.line))
        return (stripped(self.form.texts(numbered, self.block.path, left_out), left_out),)


def format_of(path: Path, column: str) -> Format:
    """The format of a file; `column` is that of the text, where there are several."""
    name, suffix = _name_of(path), Path(bare_name(path)).suffix
    if NAMED.get(suffix, name) != name:
        raise BadInput(f"named {suffix}, as {NAMED[suffix]} is, but it begins as {name} does", path)
    if name == TREEBANK:
        with open_bytes(path) as file:
            return Format(name, names=column_names(path, decode(file.readline(LIMIT), path, 1).rstrip("\n")))
    if name == ENTITIES:
        return Format(name, shape=shape_of(path))
    return Format(name, column if name in (JSON, PARQUET) else "")


def _name_of(path: Path) -> str:
    with open_bytes(path) as file:
        if file.peek(len(parquet.MAGIC)).startswith(parquet.MAGIC):
            return PARQUET
        first, lines = head(path, file)
    kind = "" if first.startswith("<doc ") else annotation(first, lines)
    if kind in (COLUMNS, XML):
        raise BadInput(f"{kind}; expected text, CoNLL-U, or words with the tags of entities", path, lines[0][0])
    return kind or _RUNNING[kind_of(Path(bare_name(path)).suffix, first)]


def _running(kind: str, form: Format, lines: NumberedLines, path: Path, left_out: Counter[str]) -> Iterator[str]:
    """Plain text, WikiText and documents: see `derive.readers.text`."""
    return text_lines(kind, lines, path, left_out, lambda reason, _: left_out.update([reason]))  # type: ignore[arg-type]


def _json(form: Format, lines: NumberedLines, path: Path, left_out: Counter[str]) -> Iterator[str]:
    """JSON lines: a text of several lines is several lines. Objects whose text is null are left out."""
    for number, line in lines:
        if not line.strip():
            left_out["blank lines"] += 1
            continue
        place, row, column = Place(path, number), strict_json.line(line, path, number), form.column
        if column not in row:
            raise place.fault(f"no column {column!r}; there are {', '.join(row) or 'none'}")
        text = row[column]
        if text is None:
            left_out["rows without text"] += 1
            continue
        yield place.text(text, repr(column))


def _treebank(form: Format, lines: NumberedLines, path: Path, left_out: Counter[str]) -> Iterator[str]:
    """The text of a sentence as its comment has it; without one, its words as they stood before they were cut.

    Comments without a sentence have no text.
    """
    last, withheld = 0, WithheldWords()
    for blank, group in groupby(lines, lambda line: not line[1].strip()):
        if blank:
            continue
        block = list(group)
        rows = [(number, line) for number, line in block if not line.startswith("#")]
        comments = [(number, line) for number, line in block if line.startswith(_TEXT)]
        if rows:
            text = _joined_tokens(path, rows, form.names)
            if comments:
                text = comments[0][1].removeprefix(_TEXT)
            withheld.add(text.split(), rows[0][0])
            last = block[-1][0]
            yield text
        elif comments:
            raise BadInput("a sentence without words: the file is truncated", path, comments[0][0])
        else:
            left_out["comments without a sentence"] += len(block)
    if lines and last == lines[-1][0]:
        raise BadInput(
            "no blank line after the last sentence: the file is truncated, or add one if it is whole", path, last
        )
    withheld.check(path)


def _joined_tokens(path: Path, rows: NumberedLines, names: Sequence[str]) -> str:
    """The tokens of a sentence, multiword ones whole, with a space after each unless its line says otherwise."""
    text, covered = "", 0
    for number, line in rows:
        id_, form, *_, misc = cells(Place(path, number), line, names)
        first, _, last = id_.partition("-")
        if "." in first:
            continue  # an empty node
        try:
            at, end = parse_integer(first), parse_integer(last or first)
        except ValueError:
            raise BadInput(f"ID {id_!r}; expected a number such as 3, 3-4 or 3.1", path, number) from None
        if at > covered:
            text += form + ("" if "SpaceAfter=No" in misc.split("|") else " ")
            covered = end
    return text


def _entities(form: Format, lines: NumberedLines, path: Path, left_out: Counter[str]) -> Iterator[str]:
    """The words of each sentence, joined."""
    withheld, shape = WithheldWords(), form.shape or Shape()
    for rows in sentence_lines(lines, shape.separator, Counter()):
        words = words_of(path, rows, shape, left_out)
        withheld.add(words, rows[0][0])
        yield join_words(words)
    withheld.check(path)


def join_words(words: Sequence[str]) -> str:
    """The words with a space between them, but with none between letters of scripts that are written without spaces.

    A sentence of single characters with such a letter among them was cut by character, as PAN-X's Chinese and Japanese
    are: there is none between digits or Latin letters in it either, and where there was one is not known.
    """
    if max(map(len, words), default=0) == 1 and _ANY.search("".join(words)):
        return "".join(words)
    return _BETWEEN.sub("", " ".join(words))


def _ends_sentence(line: bytes) -> bool:
    return not line.strip()


Read = Callable[[Format, NumberedLines, Path, Counter[str]], Iterator[str]]
_READ: dict[str, tuple[Callable[[bytes], bool], str, Read]] = {
    PLAIN: (ends_line, "line end", partial(_running, "plain")),
    WIKITEXT: (ends_line, "line end", partial(_running, "wikitext")),
    DOCUMENTS: (closes_document, "</doc>", partial(_running, "doc")),
    JSON: (ends_line, "line end", _json),
    TREEBANK: (_ends_sentence, "blank line", _treebank),
    ENTITIES: (_ends_sentence, "blank line", _entities),
}
"""By a format's name: whether a record ends with a line, what such an end is called, and what reads the text."""

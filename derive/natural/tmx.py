"""Parallel text in the units of a TMX file, read as a stream: no more of it is held than one piece."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from typing import NoReturn
from xml.parsers import expat

from derive.errors import BadInput
from derive.natural.piece import Piece
from derive.readers.compressed import LIMIT, bytes_read, open_bytes
from derive.readers.markup import breaks, whole_pairs

READ = 1 << 16
"""Bytes that are parsed at a time."""
MANY = 1 << 14
"""Pairs in a piece."""
CODES = frozenset(("bpt", "ept", "it", "ph", "ut", "sub"))
"""Elements inside a segment that hold the codes of a format, and no text of the sentence."""
BREAKS = frozenset(("lb", "pb", "cb"))
"""Values of an inline element's `type` that mean the end of a line, page or column."""
LONGEST, DEEPEST, NAMES = 1 << 20, 100, 10_000
"""Bytes of the longest tag or comment, levels of elements, and names of elements and attributes: more is refused."""
LANGUAGES = 1_000
"""The most languages that are remembered, to be named in an error."""

_BREAK = re.compile(r"[\n\x85\u2028\u2029]")
_CODED_BREAK = re.compile(r"\n|\\(?:line|par|n)\b|<(?:w:)?br\b")
"""A line's end among the codes of a format: itself, or as RTF, C or WordprocessingML has it; HTML's are `breaks`."""


def is_xml(path: Path) -> bool:
    """Whether a file begins as XML does, as a TMX file must."""
    with open_bytes(path) as file:
        begins = file.read(256).removeprefix(b"\xef\xbb\xbf").lstrip()
    if begins.startswith((b"<?xml", b"<!DOCTYPE", b"<tmx", b"\xff\xfe<", b"\xfe\xff\0<")):
        return True
    if ".tmx" in path.suffixes:
        raise BadInput("named .tmx, but it does not begin as XML does", path)
    return False


@dataclass(frozen=True)
class UnitsPiece:
    """Some units: the text of a sentence and of its translation."""

    pairs: tuple[tuple[str, str], ...]
    lacking: int
    further: int
    offset: int
    size: int

    def columns(self, left_out: Counter[str]) -> tuple[list[str], ...]:
        left_out["units without one of the languages"] += self.lacking
        left_out["further variants of a language in a unit"] += self.further
        return whole_pairs(((_one_line(first), _one_line(second)) for first, second in self.pairs), left_out)


def units(path: Path, codes: tuple[str, str]) -> Iterator[Piece]:
    """The pieces of a TMX file, of the languages that xml:lang calls by these codes; `en` stands for `en-GB` too.

    If a unit has several variants of a language, the first with exactly that code is taken, or else the first; the
    others are counted. An inline element leaves nothing behind, unless it breaks the line: then a space. Nothing
    outside the file is read, and a file that declares entities is refused.
    """
    parser, found = _Units(path, codes), False
    with open_bytes(path) as file:
        offset = read = before = 0
        while data := file.read(READ):
            read += len(data)
            parser.feed(data, last=False)
            while len(parser.pairs) >= MANY or parser.length > LIMIT:
                found = True
                yield parser.take(offset, bytes_read(file) - before)
                offset, before = read, bytes_read(file)
        parser.feed(b"", last=True)
        if parser.pairs or (found and parser.lacking):
            found = True
            yield parser.take(offset, bytes_read(file) - before)
    if not found:
        there = ", ".join(sorted(parser.met)) or "none"
        raise BadInput(f"no unit has both {' and '.join(codes)}; its languages are {there}", path)


class _Units:
    """A parser of TMX that keeps the pairs that it has read, and the languages that it has met."""

    def __init__(self, path: Path, codes: tuple[str, str]) -> None:
        self.path, self.codes = path, codes
        self.pairs: list[tuple[str, str]] = []
        self.met: set[str] = set()
        self.length = 0  # characters of the pairs
        self.lacking = self.further = 0
        self._parser = expat.ParserCreate()
        self._parser.buffer_text = True
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._text
        self._parser.EntityDeclHandler = self._entity
        self._parser.SkippedEntityHandler = self._skipped
        self._unit: dict[str, tuple[bool, str]] | None = None  # by code: whether that is the variant's exact code
        self._segment: list[str] | None = None
        self._marks: list[str] = []  # the codes of an inline element
        self._language, self._exact, self._root = "", False, ""
        self._read = self._size = self._depth = self._codes = self._line = 0

    def feed(self, data: bytes, last: bool) -> None:
        """Read some more of the file."""
        self._read += len(data)
        try:
            self._parser.Parse(data, last)
        except expat.ExpatError as error:
            what = "cut short, or damaged" if last else "damaged"
            raise BadInput(f"TMX that is {what}: {expat.ErrorString(error.code)}", self.path, error.lineno) from None
        except (ValueError, LookupError) as error:  # of an encoding that Python does not know, or not byte by byte
            raise BadInput(f"XML in an encoding that cannot be read: {error}; expected UTF-8", self.path, 1) from None
        if self._read - self._parser.CurrentByteIndex > LONGEST:  # all of a tag or comment is held until it ends
            self._refuse(f"a tag or a comment of more than {LONGEST:,} bytes")
        if len(self._parser.intern) > NAMES:
            self._refuse(f"more than {NAMES:,} names of elements and attributes")

    def take(self, offset: int, size: int) -> UnitsPiece:
        """The first pairs that were read, which are forgotten."""
        piece = UnitsPiece(tuple(self.pairs[:MANY]), self.lacking, self.further, offset, size)
        del self.pairs[:MANY]
        self.length = sum(len(first) + len(second) for first, second in self.pairs)
        self.lacking = self.further = 0
        return piece

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if not self._root:
            self._root = name
            if name != "tmx":
                self._refuse(f"XML of <{name}>; expected <tmx>")
        self._depth += 1
        if self._depth > DEEPEST:
            self._refuse(f"elements {self._depth} levels deep; expected at most {DEEPEST}")
        if name == "tu":
            if self._unit is not None:
                self._refuse(f"<tu> inside the unit that line {self._line} opens")
            self._unit, self._line = {}, self._parser.CurrentLineNumber
        elif name == "tuv":
            self._language, self._exact = self._wanted(attributes.get("xml:lang") or attributes.get("lang") or "")
        elif name == "seg":
            if self._segment is not None:
                self._refuse("<seg> inside a segment")
            self._segment, self._size = [], 0
        elif self._segment is not None:
            self._codes += name in CODES
            if attributes.get("type") in BREAKS or name == "br":
                self._segment.append("\n")

    def _end(self, name: str) -> None:
        self._depth -= 1
        if name == "seg" and self._segment is not None:
            if self._language and self._unit is not None:
                there = self._unit.get(self._language)
                self.further += there is not None
                if there is None or (self._exact and not there[0]):
                    self._unit[self._language] = self._exact, "".join(self._segment)
            self._segment = None
        elif name == "tuv":
            self._language = ""
        elif name == "tu" and self._unit is not None:
            first, second = (self._unit.get(code) for code in self.codes)
            if first is None or second is None:
                self.lacking += 1
            else:
                self.pairs.append((first[1], second[1]))
                self.length += len(first[1]) + len(second[1])
            self._unit = None
        elif name in CODES and self._segment is not None:
            self._codes -= 1
            if not self._codes:
                marks, self._marks = "".join(self._marks), []
                if breaks(marks) or _CODED_BREAK.search(marks):
                    self._segment.append("\n")

    def _text(self, text: str) -> None:
        if self._segment is None:
            return
        self._size += len(text)
        if self._size > LIMIT:
            self._refuse(f"a segment of more than {LIMIT:,} characters; expected a sentence")
        (self._marks if self._codes else self._segment).append(text)

    def _skipped(self, name: str, is_parameter: bool) -> None:
        """An entity that the DTD would declare, which is not read: HTML's are known."""
        character = unescape(f"&{name};")
        if not is_parameter:
            if character == f"&{name};":
                self._refuse(f"the entity {name!r}, which the file does not declare")
            self._text(character)

    def _entity(self, name: str, *rest: object) -> None:
        self._refuse(f"declares the entity {name!r}; expected a TMX file without entities of its own")

    def _refuse(self, message: str) -> NoReturn:
        raise BadInput(message, self.path, self._parser.CurrentLineNumber)

    def _wanted(self, language: str) -> tuple[str, bool]:
        """Which of the codes a language has, and whether it is exactly that code; an empty one where it has none."""
        if len(self.met) < LANGUAGES:
            self.met.add(language)
        variant, normal = _normal(language), {_normal(code): code for code in self.codes}
        if variant in normal:
            return normal[variant], True
        return next((code for start, code in normal.items() if variant.startswith(f"{start}-")), ""), False


def _one_line(text: str) -> str:
    """A segment with a space for its line breaks and the white space around them."""
    return " ".join(filter(None, map(str.strip, _BREAK.split(text))))


def _normal(language: str) -> str:
    return language.lower().replace("_", "-")

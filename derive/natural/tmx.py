"""Parallel text in the units of a TMX file, read as a stream: no more of it is held than one piece."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from xml.parsers import expat

from derive.errors import BadInput
from derive.natural.pairs import whole_pairs
from derive.natural.piece import Piece
from derive.readers.compressed import opened, place

READ = 1 << 16
"""Bytes that are parsed at a time."""
MANY = 1 << 14
"""Pairs in a piece."""
CODES = frozenset(("bpt", "ept", "it", "ph", "ut", "sub"))
"""Elements inside of a segment that hold the marks of a format, and no text of the sentence."""

_BREAK = re.compile(r"\s*\n\s*")


def is_xml(path: Path) -> bool:
    """Whether a file begins as XML does, as a TMX file must."""
    with opened(path) as file:
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
    offset: int
    size: int

    def columns(self, left_out: Counter[str]) -> tuple[list[str], ...]:
        left_out["units without one of the languages"] += self.lacking
        return whole_pairs(
            ((_BREAK.sub(" ", first), _BREAK.sub(" ", second)) for first, second in self.pairs), left_out
        )


def units(path: Path, codes: tuple[str, ...]) -> Iterator[Piece]:
    """The pieces of a TMX file, of the languages that xml:lang calls by these codes; `en` stands for `en-GB` too.

    Nothing outside the file is read, and a file that declares entities is refused.

    Raises:
        BadInput: with file and line: no TMX, damaged, cut short, entities; or no unit has both languages.
    """
    parser, found = _Units(path, codes), False
    with opened(path) as file:
        offset = read = before = 0
        while data := file.read(READ):
            read += len(data)
            parser.feed(data, last=False)
            while len(parser.pairs) >= MANY:
                found = True
                yield parser.taken(offset, place(file) - before)
                offset, before = read, place(file)
        parser.feed(b"", last=True)
        if parser.pairs or (found and parser.lacking):
            found = True
            yield parser.taken(offset, place(file) - before)
    if not found:
        there = ", ".join(sorted(parser.met)) or "none"
        raise BadInput(f"no unit has both {' and '.join(codes)}; its languages are {there}", path)


@dataclass
class _Units:
    """A parser of TMX that keeps the pairs that it has read, and the languages that it has met."""

    path: Path
    codes: tuple[str, ...]
    pairs: list[tuple[str, str]] = field(default_factory=list)
    lacking: int = 0
    met: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._parser = expat.ParserCreate()
        self._parser.buffer_text = True
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._text
        self._parser.EntityDeclHandler = self._entity
        self._unit: dict[str, str] = {}
        self._segment: list[str] | None = None
        self._language, self._codes, self._root = "", 0, ""

    def feed(self, data: bytes, last: bool) -> None:
        """Read some more of the file."""
        try:
            self._parser.Parse(data, last)
        except expat.ExpatError as error:
            what = "cut short, or damaged" if last else "damaged"
            raise BadInput(f"TMX that is {what}: {expat.ErrorString(error.code)}", self.path, error.lineno) from None
        except (ValueError, LookupError) as error:  # of an encoding that Python does not know, or not byte by byte
            raise BadInput(f"XML in an encoding that cannot be read: {error}; expected UTF-8", self.path, 1) from None

    def taken(self, offset: int, size: int) -> UnitsPiece:
        """The first pairs that were read, which are forgotten."""
        piece = UnitsPiece(tuple(self.pairs[:MANY]), self.lacking, offset, size)
        del self.pairs[:MANY]
        self.lacking = 0
        return piece

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if not self._root:
            self._root = name
            if name != "tmx":
                raise BadInput(f"XML of <{name}>; expected <tmx>", self.path, self._parser.CurrentLineNumber)
        if name == "tu":
            self._unit = {}
        elif name == "tuv":
            self._language = self._wanted(attributes.get("xml:lang") or attributes.get("lang") or "")
        elif name == "seg":
            self._segment = []
        elif name in CODES:
            self._codes += 1

    def _end(self, name: str) -> None:
        if name == "seg" and self._segment is not None:
            if self._language:
                self._unit.setdefault(self._language, "".join(self._segment))
            self._segment = None
        elif name == "tu":
            first, second = (self._unit.get(code) for code in self.codes)
            if first is None or second is None:
                self.lacking += 1
            else:
                self.pairs.append((first, second))
        elif name in CODES:
            self._codes -= 1

    def _text(self, text: str) -> None:
        if self._segment is not None and not self._codes:
            self._segment.append(text)

    def _entity(self, name: str, *rest: object) -> None:
        raise BadInput(
            f"declares the entity {name!r}; expected a TMX file without entities of its own",
            self.path,
            self._parser.CurrentLineNumber,
        )

    def _wanted(self, language: str) -> str:
        """Which of the codes a language is; none where it is another."""
        self.met.add(language)
        said = language.lower().replace("_", "-")
        for code in self.codes:
            asked = code.lower().replace("_", "-")
            if said == asked or said.startswith(f"{asked}-"):
                return code
        return ""

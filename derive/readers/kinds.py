"""Recognise a text file's kind by its name and first lines."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise, zip_longest
from pathlib import Path
from typing import Literal, Self

from calque.derive.errors import BadInput
from calque.derive.readers.conllu import PLUS, UPOS
from calque.derive.readers.iob2 import DOCUMENT_START
from calque.derive.readers.lines import COMPRESSIONS, Lines, Numbered

Running = Literal["wikitext", "doc", "plain", "numbered"]
Annotated = Literal["treebank", "entities", "json", "markup", "columns", "tagged words"]
Kind = Running | Annotated
ANNOTATED: dict[str, str] = {
    "treebank": "a treebank in CoNLL-U",
    "entities": "words with the tags of entities",
    "json": "JSON lines",
    "markup": "XML or HTML",
    "columns": "lines of columns",
    "tagged words": "words joined with their tags",
}
"""The kinds that are not running text, as described in messages."""
LEAST_TAGS = 3  # minimum number of different tags: `and/or` and `km/h m/s` are not tagged words
MOST_COLUMNS = 8  # maximum number of columns searched for tags
SAMPLE, SAMPLE_LETTERS = 100, 1 << 16  # maximum numbers of lines and characters read to recognise a file
LINE_LETTERS = 1 << 12  # maximum number of characters searched per line
TAG_LINE = re.compile(r"</?[A-Za-z][^<>]*>")  # a line that consists of a tag
_OPENING, _CLOSING = "= ", " ="
NUMBERED = re.compile(r"([0-9]{1,12})\t")
_LABEL = r"(?:O|[BIESUL]-\S+)"
_TREE = re.compile(r"\d+(?:[-.]\d+)?(?:\t[^\t]+){9}")
_TAGGED = re.compile(rf"[^\t]*(?:\t[^\t]*)*\t{_LABEL}|\d+\t[^\t]*\t{_LABEL}(?:\t.*)?")
_TAGGED_BETWEEN_SPACES = re.compile(rf"[^\s]+ (?:.* )?{_LABEL}")
_OBJECT = re.compile(r'(?:\[\s*)?\{\s*(?:"|$)|\[\s*$')
_COMMENTS = re.compile(r"\s*(?:<!--.*?-->\s*)*", re.DOTALL)
_OPENS = re.compile(r"<(?:[?!]|([A-Za-z][\w:.-]*)((?:\s[^<>]*)?)>)")  # a declaration or a tag
_ROOTS = "doc tmx html mediawiki srcset refset tstset tei teicorpus corpus xml body head article s p".split()
_STYLES = "a abbr b big cite code em font i q small span strong sub sup u".split()  # inline tags
_TAGGED_WORD = re.compile(r"\S+(?:_[A-Z]+[0-9$]*(?:[:.-]\w+)*|[/|][A-Za-z][\w$*+:.-]*|[_/|][^\w\s]{1,3})")
_PENN = """CC CD DT EX FW JJ JJR JJS LS NN NNS NNP NNPS PDT POS PRP PRP$ RB RBR RBS RP TO UH VB VBD VBG VBN
    VBP VBZ WDT WP WP$ WRB"""
_TAGS = UPOS.union(_PENN.split())  # without IN and MD, which also abbreviate US states


@dataclass(frozen=True)
class Head:
    """A file's `first` non-blank line, and its first `lines` that are not comments."""

    path: Path
    first: str
    lines: tuple[Numbered, ...]

    @classmethod
    def of(cls, path: Path) -> Self:
        """Read a file's first lines; raise BadInput if it contains only white space."""
        first: Numbered | None = None
        lines: list[Numbered] = []
        letters = 0
        for place, line in Lines(path):
            if line.strip():
                first = first or (place, line)
                if not line.startswith("#"):  # CoNLL-U starts with comments
                    lines.append((place, line))
            letters += len(line)
            if len(lines) >= SAMPLE or (lines and letters >= SAMPLE_LETTERS):
                break
        if not first:
            raise BadInput("this file contains only white space", path)
        return cls(path, first[1], tuple(lines) or (first,))

    @cached_property
    def kind(self) -> Kind:
        texts = [line.rstrip()[:LINE_LETTERS] for _, line in self.lines]
        if self.first.startswith("<doc "):
            return self._annotation(texts) or "doc"
        if _is_markup("\n".join(texts)):
            return "markup"
        return self._annotation(texts) or self._text()

    def _annotation(self, lines: Sequence[str]) -> Annotated | None:
        if self.first.startswith(PLUS) or _TREE.fullmatch(lines[0]):
            return "treebank"
        if _OBJECT.match(lines[0]):
            return "json"
        if lines[0].startswith(DOCUMENT_START) or _are_entities(lines):
            return "entities"
        if _are_columns(lines):
            return "columns"
        return "tagged words" if _have_tagged_words(lines) else None

    def _text(self) -> Running:
        if are_numbered([line for _, line in self.lines]):
            return "numbered"
        bare = Path(self.path.stem) if self.path.suffix in COMPRESSIONS else self.path
        return "wikitext" if bare.suffix == ".tokens" or is_heading(self.first) else "plain"

    def refusal(self, expected: str) -> BadInput:
        """Return the error for an annotated file in place of `expected` text."""
        return self.lines[0][0].fault(f"this file contains {ANNOTATED[self.kind]}, not {expected}")


def is_heading(line: str) -> bool:
    """Whether a WikiText line is a heading, with the same number of equals signs on both sides: ` = = Size =
    = `."""
    line = line.removeprefix(" ").removesuffix(" ")
    start, end = 0, len(line)
    while line.startswith(_OPENING, start):
        start += len(_OPENING)
    while line.endswith(_CLOSING, start, end):
        end -= len(_CLOSING)
    title = line[start : start + 1] if start < end else ""
    return start == len(line) - end > 0 and title not in ("", "=") and not title.isspace()


def _is_markup(text: str) -> bool:
    text = _COMMENTS.sub("", text, count=1)
    if not (tag := _OPENS.match(text)):
        return False
    name = (tag[1] or "").lower()
    return name in ("", *_ROOTS) or (name not in _STYLES and ("=" in tag[2] or f"</{name}>" in text.lower()))


def _are_entities(lines: Sequence[str]) -> bool:
    if 2 * sum(_TAGGED.fullmatch(line) is not None for line in lines) >= len(lines):
        return True
    spaced = [len(line.split()) for line in lines if _TAGGED_BETWEEN_SPACES.fullmatch(line)]
    return len(set(spaced)) == 1 and len(spaced) > 1 and 2 * len(spaced) >= len(lines)


def _are_columns(lines: Sequence[str]) -> bool:
    rows = [line.strip() for line in lines if not TAG_LINE.fullmatch(line.strip())]
    if len(rows) < 2 or are_numbered(rows):
        return False
    tabs, count = Counter(row.count("\t") for row in rows).most_common(1)[0]
    if tabs and 5 * count >= 4 * len(rows):
        return True
    columns = zip_longest(*(row.split()[1:MOST_COLUMNS] for row in rows))
    tags = [[cell for cell in column if cell in _TAGS] for column in columns]
    return any(2 * len(found) >= len(rows) and len(set(found)) > 1 for found in tags)


def _have_tagged_words(lines: Sequence[str]) -> bool:
    lines_of_words = lines_of_tags = 0
    tags = set[str]()
    for words in map(str.split, lines):
        if len(words) > 1:
            tagged = [word for word in words if _TAGGED_WORD.fullmatch(word)]
            tags.update(re.split("[_/|]", word, maxsplit=1)[1] for word in tagged)
            lines_of_words += 1
            lines_of_tags += 10 * len(tagged) >= 9 * len(words)
    return len(tags) >= LEAST_TAGS and 2 * lines_of_tags >= lines_of_words


def are_numbered(lines: Sequence[str]) -> bool:
    """Whether several lines start with consecutive numbers and a tab, and most are not table rows."""
    numbers = [int(match[1]) for match in map(NUMBERED.match, lines) if match]
    rows_of_tables = sum(line.count("\t") > 1 for line in lines)
    if len(lines) < 2 or len(numbers) < len(lines) or 2 * rows_of_tables >= len(lines):
        return False
    return all(b == a + 1 for a, b in pairwise(numbers))

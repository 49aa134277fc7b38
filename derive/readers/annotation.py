"""Recognise annotated files (treebanks, tables, tagged words, markup) by their first lines."""

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise, zip_longest
from pathlib import Path

from calque.derive.errors import BadInput
from calque.derive.readers.conllu import PLUS, UPOS
from calque.derive.readers.iob2 import DOCUMENT_START
from calque.derive.readers.lines import Lines, Numbered

TREEBANK, ENTITIES, JSON = "a treebank in CoNLL-U", "words with the tags of entities", "JSON lines"
XML, COLUMNS, TAGGED_WORDS = "XML or HTML", "lines of columns", "words joined with their tags"
LEAST_TAGS = 3  # minimum number of different tags: `and/or` and `km/h m/s` are not tagged words
MOST_COLUMNS = 8  # maximum number of columns searched for tags
SAMPLE, SAMPLE_LETTERS = 100, 1 << 16  # maximum numbers of lines and characters read to recognise a file
LINE_LETTERS = 1 << 12  # maximum number of characters searched per line
TAG_LINE = re.compile(r"</?[A-Za-z][^<>]*>")  # a line that consists of a tag
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


def head_of(path: Path) -> tuple[str, list[Numbered]]:
    """Return a file's first non-blank line, and its first non-comment lines with their locations."""
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
    return first[1], lines or [first]


def annotation(first: str, lines: Sequence[Numbered]) -> str:
    """Return the kind of annotation in a file, or "" for running text, given its first lines (`head_of`)."""
    texts = [line.rstrip()[:LINE_LETTERS] for _, line in lines]
    if not first.startswith("<doc ") and _is_markup("\n".join(texts)):
        return XML
    if first.startswith(PLUS) or _TREE.fullmatch(texts[0]):
        return TREEBANK
    if _OBJECT.match(texts[0]):
        return JSON
    if texts[0].startswith(DOCUMENT_START) or _are_entities(texts):
        return ENTITIES
    if _are_columns(texts):
        return COLUMNS
    return TAGGED_WORDS if _have_tagged_words(texts) else ""


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

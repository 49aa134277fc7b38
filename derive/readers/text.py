"""Text to sentences: WikiText, `<doc>`-marked Wikipedia, plain text with one paragraph per line, treebanks, JSON lines.

A large file, compressed or not, is cut into chunks that worker processes read independently; the cuts depend only on
the file and the size. Exclusions are counted:

- wikitext: tokens are separated by white space; ` @-@ `, ` @,@ ` and ` @.@ ` are joined again; ` = Heading = ` lines
  are left out.
- doc: `<doc ...>`, title, paragraphs, `</doc>`. Left out are the title, lines of at most eight words (WikiExtractor
  ends headings with a full stop and breaks lists and tables into fragments, so that nothing else distinguishes them
  from sentences), and lines of one tag (`</dl>`). Escaped characters are unescaped, and tags inside a line removed.
- plain: every line is text.
- treebank: sentences with their tags and trees, from CoNLL-U.
- json: every line of the texts in one `column` is text; null is left out.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from calque.derive import strict_json
from calque.derive.errors import BadInput
from calque.derive.readers.conllu import NAMES, PLUS, column_names, read_conllu
from calque.derive.readers.english import cut_tokens, split_sentences
from calque.derive.readers.iob2 import DOCUMENT_START
from calque.derive.readers.lines import (
    LIMIT,
    SIZE,
    Numbered,
    Place,
    bare_name,
    blocks,
    decode,
    ends_line,
    open_bytes,
    read_at,
    stripped,
    without_marks,
)
from calque.derive.readers.markup import ESCAPED, seems_escaped, unescaped, without_tags
from calque.derive.sentence import Sentence

Kind = Literal["wikitext", "doc", "plain", "treebank", "json"]
LeaveOut = Callable[[str, str], None]  # counts a line that is left out: the reason, and the line

FRAGMENT = 8  # maximum words of a heading or fragment in a `<doc>`
_OPENING, _CLOSING = "= ", " ="
_JOINER = re.compile(r" @([-,.])@ ")  # WikiText's form of a mark inside a word
_TAG = re.compile(r"</?[A-Za-z][^<>]*>")  # a line of a `<doc>` that is a tag

TREEBANK, ENTITIES, JSON = "a treebank in CoNLL-U", "words with the tags of entities", "JSON lines"
XML, COLUMNS = "XML", "lines of columns"
_ROWS: dict[str, Kind] = {TREEBANK: "treebank", JSON: "json"}
SAMPLE, SAMPLE_LETTERS = 100, 1 << 16  # the number of lines and of letters that are read to recognise annotated files
_LABEL = r"(?:O|[BIESUL]-\S+)"
_TREE = re.compile(r"\d+(?:[-.]\d+)?(?:\t[^\t]+){9}")
_ROW = re.compile(r"\d+(?:[-.]\d+)?(?:\t[^\t]*){3,}")
_NUMBERED_BETWEEN_SPACES = re.compile(r"\d+(?: \S+){3,}")
_TAGGED = re.compile(rf"[^\t]*(?:\t[^\t]*)*\t{_LABEL}|\d+\t[^\t]*\t{_LABEL}(?:\t.*)?")
_TAGGED_BETWEEN_SPACES = re.compile(rf"[^\s]+ (?:.* )?{_LABEL}")
_OBJECT = re.compile(r'(?:\[\s*)?\{\s*(?:"|$)|\[\s*$')
_MARKUP = re.compile(r"<(?:doc>|(?:\?xml|!DOCTYPE|tmx|html|mediawiki|(?:src|ref|tst)set)\b)", re.IGNORECASE)
"""The start of XML and HTML, and of documents without WikiExtractor's attributes in `<doc>`."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """A part of a text file: `length` bytes from `offset`, where line `line` starts. `names`: a treebank's columns."""

    path: Path
    kind: Kind
    offset: int
    length: int
    line: int
    names: tuple[str, ...] = NAMES


def detect(path: Path) -> Kind:
    """The kind of a text file by its name and first lines; entities, columns and XML are refused."""
    first, lines = head_of(path)
    name = annotation(first, lines) or (COLUMNS if _are_columns([line for _, line in lines]) else "")
    if name in _ROWS:
        return _ROWS[name]
    if name:
        raise BadInput(f"{name}; expected running text, CoNLL-U or JSON lines", path, lines[0][0])
    return kind_of(Path(bare_name(path)).suffix, first)


def kind_of(suffix: str, first: str) -> Kind:
    """The kind of running text in a file with this `suffix` and `first` non-blank line."""
    if first.startswith("<doc "):
        return "doc"
    return "wikitext" if suffix == ".tokens" or is_heading(first) else "plain"


def head_of(path: Path) -> tuple[str, list[Numbered]]:
    """The first non-blank line of a file, and its first lines that are not comments (or else the first), numbered."""
    first: Numbered | None = None
    lines: list[Numbered] = []
    letters = 0
    with open_bytes(path) as file:
        for number, raw in enumerate(iter(lambda: file.readline(LIMIT), b""), start=1):
            line = decode(raw, path, number).rstrip("\n")
            if line.strip():
                first = first or (number, line)
                if not line.startswith("#"):  # CoNLL-U starts with comments
                    lines.append((number, line))
            letters += len(line)
            if len(lines) >= SAMPLE or (lines and letters >= SAMPLE_LETTERS):
                break
    if not first:
        raise BadInput("contains only white space", path)
    return first[1], lines or [first]


def annotation(first: str, lines: Sequence[Numbered]) -> str:
    """The kind of annotation in a file, by its first lines; empty if it may be running text. At least half of the lines
    must have columns, because single lines of text may look like them."""
    texts = [line.rstrip() for _, line in lines]
    if _MARKUP.match(first):
        return XML
    if first.startswith(PLUS) or _TREE.fullmatch(texts[0]):
        return TREEBANK
    if _OBJECT.match(texts[0]):
        return JSON
    if texts[0].startswith(DOCUMENT_START) or _most(_TAGGED, texts):
        return ENTITIES
    if _most(_ROW, texts):
        return COLUMNS
    for shape, kind in ((_TAGGED_BETWEEN_SPACES, ENTITIES), (_NUMBERED_BETWEEN_SPACES, COLUMNS)):
        spaced = [line for line in texts if shape.fullmatch(line)]
        of_one_width = len({len(line.split()) for line in spaced}) == 1
        if of_one_width and len(spaced) > 1 and 2 * len(spaced) >= len(texts):
            return kind
    return ""


def _are_columns(lines: Sequence[str]) -> bool:
    """Whether several lines all have the same number of tabs, as in tables; a line number is not a column."""
    tabs = {line.count("\t") for line in lines}
    numbered = all(line.partition("\t")[0].isdecimal() for line in lines)
    return len(lines) > 1 and len(tabs) == 1 and tabs != {0} and not (numbered and tabs == {1})


def _most(shape: re.Pattern[str], lines: Sequence[str]) -> bool:
    return 2 * sum(shape.fullmatch(line) is not None for line in lines) >= len(lines)


def chunks(path: Path, size: int = SIZE, kind: Kind | None = None) -> Iterator[Chunk]:
    """Cut a file into chunks of about `size` bytes that end with a line or a document."""
    kind, names = kind or detect(path), NAMES
    for block in blocks(path, *ends_of(kind), size, LIMIT):
        if kind == "treebank" and block.line == 1:
            names = column_names(path, decode(block.data.partition(b"\n")[0], path, 1))
        yield Chunk(path, kind, block.offset, len(block.data), block.line, names)


def ends_of(kind: Kind) -> tuple[Callable[[bytes], bool], str]:
    """Whether a chunk of this kind may end after a line, and the name of such an end."""
    if kind == "doc":
        return (lambda line: line.rstrip() == b"</doc>"), "</doc>"
    return (bytes.isspace, "blank line") if kind == "treebank" else (ends_line, "line end")


def sentences(chunk: Chunk, escaped: bool = False, column: str = "text") -> tuple[list[Sentence], Counter[str]]:
    """A chunk's sentences, and the number of lines and words left out, by reason. `escaped`: characters are escaped as
    by Moses's tokenizer; in a `<doc>` they are always unescaped. `column` has the text of JSON lines."""
    data = read_at(chunk.path, chunk.offset, chunk.length)
    left_out: Counter[str] = Counter()

    def leave_out(reason: str, line: str) -> None:
        if line:  # a title may be empty
            left_out[reason] += 1
            left_out[f"words of {reason}"] += len(line.split())

    text = without_marks(decode(data, chunk.path, chunk.line, left_out), left_out)
    numbered = list(enumerate(text.removesuffix("\n").split("\n"), chunk.line))
    if chunk.kind == "treebank":
        return list(read_conllu(chunk.path, left_out, unparsed=True, part=numbered, names=chunk.names)), +left_out
    cut = cut_tokens if chunk.kind == "wikitext" else split_sentences
    read: list[list[str]] = []
    if chunk.kind == "json":
        found = iter(stripped(json_texts(column, numbered, chunk.path, left_out), left_out))
    else:
        found = text_lines(chunk.kind, numbered, chunk.path, left_out, leave_out)
    for line in found:
        if chunk.kind == "doc" and line and len(line.split(None, FRAGMENT)) <= FRAGMENT:
            leave_out("headings and fragments", line)
            continue
        if escaped:
            line = unescaped(line, left_out)
        else:
            left_out[ESCAPED] += seems_escaped(line)
        read += cut(line)
    return [Sentence(tuple(words)) for words in read], +left_out


def json_texts(column: str, numbered: Iterable[Numbered], path: Path, left_out: Counter[str]) -> Iterator[str]:
    """The texts in a column of JSON lines. Objects with null for the text, and blank lines, are left out."""
    for number, line in numbered:
        if not line.strip():
            left_out["blank lines"] += 1
            continue
        place, row = Place(path, number), strict_json.line(line, path, number)
        if column not in row:
            raise place.fault(f"no column {column!r}; there are {', '.join(row) or 'none'}")
        if row[column] is None:
            left_out["rows without text"] += 1
        else:
            yield place.text(row[column], repr(column))


def text_lines(
    kind: Kind, lines: Iterable[Numbered], path: Path, counts: Counter[str], leave_out: LeaveOut
) -> Iterator[str]:
    """The text among the lines of whole records, blank lines included; repairs are added to `counts`."""
    if kind == "doc":
        yield from _document_lines(lines, path, counts, leave_out)
        return
    for _, line in lines:
        if kind == "wikitext":
            line = _JOINER.sub(r"\1", line) if "@" in line else line
            if line.startswith((" =", "=")) and is_heading(line):
                leave_out("headings", line)
                continue
        yield line


def is_heading(line: str) -> bool:
    """Whether a line of WikiText is a title between equally many equals signs: ` = = Size = = `."""
    line = line.removeprefix(" ").removesuffix(" ")
    start, end = 0, len(line)
    while line.startswith(_OPENING, start):
        start += len(_OPENING)
    while line.endswith(_CLOSING, start, end):
        end -= len(_CLOSING)
    title = line[start : start + 1] if start < end else ""
    return start == len(line) - end > 0 and title not in ("", "=") and not title.isspace()


def _document_lines(lines: Iterable[Numbered], path: Path, counts: Counter[str], leave_out: LeaveOut) -> Iterator[str]:
    opened = 0  # the line of the open document's <doc>
    for number, line in lines:
        if line.startswith("<doc "):
            if opened:
                raise BadInput(f"<doc> inside the document of line {opened}", path, number)
            opened = number
        elif line.rstrip() == "</doc>":
            if not opened:
                raise BadInput("</doc> without <doc>", path, number)
            opened = 0
        elif not opened:
            if line.strip():
                raise BadInput("text outside of <doc> ... </doc>", path, number)
        elif number == opened + 1:
            leave_out("titles", line)
        elif _TAG.fullmatch((line := unescaped(line, counts)).strip()):
            leave_out("tags", line)
        else:
            yield without_tags(line, counts)
    if opened:
        raise BadInput("no </doc> for this <doc>: the file is truncated", path, opened)

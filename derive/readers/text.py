"""Text to sentences: WikiText, `<doc>`-marked Wikipedia, plain text with one paragraph per line, treebanks, JSON lines.

A large file, compressed or not, is cut into chunks that worker processes read independently; the cuts depend only on
the file and the size. Exclusions are counted:

- wikitext: tokens are separated by white space; ` @-@ `, ` @,@ ` and ` @.@ ` are joined again; ` = Heading = ` lines
  are left out. `<unk>` is an unknown word (`UNKNOWN`), to which nothing is joined.
- doc: `<doc ...>`, title, paragraphs, `</doc>`. Left out are the title, lines of at most eight words (WikiExtractor
  ends headings with a full stop and breaks lists and tables into fragments, so that nothing else distinguishes them
  from sentences), and lines of one tag (`</dl>`). Escaped characters are unescaped, and tags inside a line removed.
- plain: every line is text.
- numbered: a number, a tab and a text per line (Leipzig Corpora Collection); the numbers are removed.
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
from calque.derive.readers.annotation import JSON, NUMBERED, TAG_LINE, TREEBANK, annotation, are_numbered, head_of
from calque.derive.readers.conllu import NAMES, column_names, read_conllu
from calque.derive.readers.english import cut_tokens, split_sentences
from calque.derive.readers.lines import (
    LIMIT,
    SIZE,
    WITHHELD,
    Numbered,
    Place,
    bare_name,
    blocks,
    decode,
    ends_line,
    is_withheld,
    read_at,
    stripped,
    without_marks,
)
from calque.derive.readers.markup import ESCAPED, seems_escaped, unescaped, without_tags
from calque.derive.sentence import UNKNOWN, Sentence

Kind = Literal["wikitext", "doc", "plain", "numbered", "treebank", "json"]
LeaveOut = Callable[[str, str], None]  # counts a line that is left out: the reason, and the line

FRAGMENT = 8  # maximum words of a heading or fragment in a `<doc>`
_OPENING, _CLOSING = "= ", " ="
_JOINER = re.compile(r" @([-,.])@ ")  # WikiText's form of a mark inside a word
_JOINED = re.compile(rf" *([-,.]?)({UNKNOWN})([-,.]?) *")  # an unknown word with marks that join others to it
_SPACES = re.compile(" {2,}")
NUMBERS = "line numbers, removed"
UNKNOWN_WORDS = "words that WikiText replaces by <unk>, read as the unknown type"

_ROWS: dict[str, Kind] = {TREEBANK: "treebank", JSON: "json"}


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
    """The kind of a text file by its name and first lines; other annotated files than treebanks are refused."""
    first, lines = head_of(path)
    name = annotation(first, lines)
    if name in _ROWS:
        return _ROWS[name]
    if name:
        raise BadInput(f"{name}; expected running text, CoNLL-U or JSON lines", path, lines[0][0])
    return kind_of(path, first, lines)


def kind_of(path: Path, first: str, lines: Sequence[Numbered]) -> Kind:
    """The kind of running text in a file with these first lines (see `head_of`)."""
    if first.startswith("<doc "):
        return "doc"
    if are_numbered([line for _, line in lines]):
        return "numbered"
    return "wikitext" if Path(bare_name(path)).suffix == ".tokens" or is_heading(first) else "plain"


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
        if is_withheld(line):
            left_out[WITHHELD] += 1
            continue
        if chunk.kind == "wikitext":
            read += [set_apart(" ".join(words)).split() for words in cut_tokens(line)]
        else:
            read += split_sentences(line, left_out)
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
    for number, line in lines:
        if kind == "numbered" and line.strip():
            if not (match := NUMBERED.match(line)):
                raise BadInput("no number and tab before the text, which the first lines have", path, number)
            line = line[match.end() :]
            counts[NUMBERS] += 1
        if kind == "wikitext":
            line = _JOINER.sub(r"\1", line) if "@" in line else line
            if line.startswith((" =", "=")) and is_heading(line):
                leave_out("headings", line)
                continue
            if "<unk>" in line:
                line = line.replace("<unk>", UNKNOWN)
                counts[UNKNOWN_WORDS] += line.count(UNKNOWN)
        yield line


def set_apart(text: str) -> str:
    """Text without anything joined to an unknown word: `<unk> - based` for `<unk>-based`."""
    return _SPACES.sub(" ", _JOINED.sub(r" \1 \2 \3 ", text)) if UNKNOWN in text else text


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
        elif TAG_LINE.fullmatch((line := unescaped(line, counts)).strip()):
            leave_out("tags", line)
        else:
            yield without_tags(line, counts)
    if opened:
        raise BadInput("no </doc> for this <doc>: the file is truncated", path, opened)

"""Text files and bitexts, read in chunks, optionally without sentences that models are tested on."""

import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain, compress, takewhile, zip_longest
from pathlib import Path
from typing import Any
from unicodedata import normalize

from calque.derive.artefact import digest, input_digest
from calque.derive.errors import BadInput, check_range
from calque.derive.fingerprint import ADDED
from calque.derive.natural import parquet
from calque.derive.readers import lines, text
from calque.derive.readers.conllu import read_raw_text
from calque.derive.readers.iob2 import read_iob2
from calque.derive.readers.kinds import ANNOTATED, Head
from calque.derive.readers.lines import Chunk
from calque.derive.readers.markup import ESCAPED, seems_escaped, unescaped, whole_pairs
from calque.derive.readers.parallel import Pair, words_of
from calque.derive.readers.tables import HEADERS, is_header, is_quoted, unquoted

MANY = 1 << 14  # maximum number of lines in parallel chunks of two files
HEAD = 24  # minimum length of test sentences to search for inside lines; shorter ones would match by chance
WHY = "lines that contain a test sentence"
_OTHER = re.compile(r"[\W_]+")
_UNSPACED = (
    "\u0e00-\u0fff"  # Thai, Lao, Tibetan
    "\u1000-\u109f\u1780-\u17ff"  # Burmese, Khmer
    "\u3000-\u30ff\u31f0-\u31ff"  # punctuation and kana
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
    "\uff00-\uffef"  # wide forms
)
_BETWEEN = re.compile(f"(?<=[{_UNSPACED}]) (?=[{_UNSPACED}])")
_ANY = re.compile(f"[{_UNSPACED}]")

Columns = tuple[list[str], ...]  # non-blank lines in one language, or parallel ones in two
Chunks = tuple[Chunk, ...]  # a chunk of a file, or of two parallel ones


class FileSet(ABC):
    """Files with text or parallel text, whose chunks can be read by any process."""

    @abstractmethod
    def chunks(self) -> Iterator[Chunks]:
        """Yield the chunks of all files, in order; raise BadInput for unsuitable files."""

    @abstractmethod
    def read(self, chunks: Chunks, left_out: Counter[str]) -> Columns:
        """Read parallel chunks as one column of lines per language; count exclusions in `left_out`."""

    @abstractmethod
    def identity(self) -> list[Any]:
        """Return the values that determine the lines, for fingerprints."""

    def read_all(self, left_out: Counter[str]) -> Iterator[Columns]:
        """Read all chunks in turn."""
        return (self.read(chunks, left_out) for chunks in self.chunks())


@dataclass(frozen=True)
class TextFiles(FileSet):
    """Text files of any kind (docs/formats.md) in one language. `column` contains the text in JSON lines and
    Parquet. `megabytes` limits how much of each file is read (0: no limit). `escaped`: whether to undo the
    Moses tokenizer's escaping."""

    paths: tuple[Path, ...]
    column: str = "text"
    megabytes: int = 0
    escaped: bool = False

    def __post_init__(self) -> None:
        if not self.paths:
            raise BadInput("a language needs at least one text file")
        check_range("megabytes", self.megabytes, 0)

    def chunks(self) -> Iterator[Chunks]:
        for path in self.paths:
            kind = _kind(path)
            if kind == "parquet":
                chunks = parquet.chunks(path)
            elif kind in ("treebank", "entities"):
                chunks = iter([Chunk(path, kind, 0, 0, 1)])
            else:
                chunks = text.chunks(path, lines.SIZE)
            yield from _up_to(self.megabytes, ((chunk,) for chunk in chunks))

    def read(self, chunks: Chunks, left_out: Counter[str]) -> Columns:
        (chunk,) = chunks
        if chunk.kind == "entities":
            found = [join_words(sentence.words) for sentence in read_iob2(chunk.path, left_out)]
            return _unescaped((found,), self.escaped, left_out)
        if chunk.kind == "treebank":
            texts = read_raw_text(chunk.path, left_out)
        else:
            read = parquet.texts if chunk.kind == "parquet" else text.lines_of
            texts = map(text.set_apart, read(chunk, self.column, left_out))
        return _unescaped((lines.stripped(texts, left_out),), self.escaped, left_out)

    def identity(self) -> list[Any]:
        files = [[_kind(path), digest(path)] for path in self.paths]
        return [files, self.column, self.megabytes, self.escaped]


@dataclass(frozen=True)
class BitextFiles(FileSet):
    """Sentences and translations, either line by line in the files `path` and `beside` (Moses format) or in
    two `columns` of the tab-separated file `path`. Given two language codes `words_in`, text is split into
    words as in gold-link sets, and pairs with fewer than `fewest` words on a side are left out."""

    path: Path
    beside: Path | None = None
    columns: tuple[int, int] = (0, 1)
    megabytes: int = 0
    escaped: bool = False
    words_in: tuple[str, str] | None = field(default=None, metadata=ADDED)
    fewest: int = field(default=1, metadata=ADDED)

    def __post_init__(self) -> None:
        if min(self.columns) < 0 or self.columns[0] == self.columns[1]:
            first, second = self.columns
            raise BadInput(f"columns {first} and {second}; expected two different numbers of at least 0")
        check_range("megabytes", self.megabytes, 0)

    def chunks(self) -> Iterator[Chunks]:
        for path in self.paths:
            head = Head.of(path)
            if head.kind in ANNOTATED and not (head.kind == "columns" and self.beside is None):
                raise head.refusal("sentences and their translations")
        if self.beside:
            found: Iterator[Chunks] = _parallel_chunks(self.path, self.beside)
        else:
            kind = "quoted bitext" if is_quoted(self.path) else "bitext"
            found = ((chunk,) for chunk in lines.cut_file(self.path, kind))
        return _up_to(self.megabytes, found)

    def read(self, chunks: Chunks, left_out: Counter[str]) -> Columns:
        if self.beside:
            sides = ([line for _, line in chunk.numbered(left_out)] for chunk in chunks)
            pairs = whole_pairs(zip(*sides, strict=True), left_out)
        else:
            pairs = whole_pairs(self._pairs_of_columns(chunks[0], left_out), left_out)
        found = _unescaped(pairs, self.escaped, left_out)
        if not self.words_in:
            return found
        both = zip(found, self.words_in, strict=True)
        split = tuple([" ".join(words_of(line, code)) for line in column] for column, code in both)
        why = f"pairs with fewer than {self.fewest} words on a side"
        return _only(
            split, lambda row: min(side.count(" ") for side in row) + 1 >= self.fewest, why, left_out
        )

    def _pairs_of_columns(self, chunk: Chunk, left_out: Counter[str]) -> Iterator[tuple[str, str]]:
        least = max(self.columns) + 1
        for place, line in chunk.numbered(left_out):
            whole = unquoted(line, left_out) if chunk.kind == "quoted bitext" else line
            row = whole.split("\t") if line.strip() else [""] * least
            if len(row) < least:
                raise place.fault(f"{len(row)} tab-separated columns; expected at least {least}")
            first, second = (row[column] for column in self.columns)
            if place.line == 1 and is_header((first, second)):
                left_out[HEADERS] += 1
            else:
                yield first, second

    def words(self, source: str, target: str, left_out: Counter[str]) -> Iterator[Pair]:
        """Stream each pair's words, tokenised as in gold-link sets; `source` and `target` are language codes
        such as en."""
        counts = Counter[str]()
        for columns in self.read_all(counts):
            for first, second in zip(*columns, strict=True):
                yield words_of(first, source), words_of(second, target)
        left_out.update(+counts)

    def identity(self) -> list[Any]:
        identity = [list(map(input_digest, self.paths)), self.columns, self.megabytes, self.escaped]
        return [*identity, self.words_in, self.fewest] if self.words_in else identity

    @property
    def paths(self) -> tuple[Path, ...]:
        return (self.path, self.beside) if self.beside else (self.path,)


@dataclass(frozen=True)
class Without(FileSet):
    """The files, minus any line that contains a sentence from the `tests` files; only letters and digits are
    compared."""

    files: TextFiles | BitextFiles
    tests: TextFiles

    def chunks(self) -> Iterator[Chunks]:
        sentences(self.tests)  # raises BadInput if the files contain no sentences
        return self.files.chunks()

    def read(self, chunks: Chunks, left_out: Counter[str]) -> Columns:
        tested, columns = sentences(self.tests), self.files.read(chunks, left_out)
        return _only(columns, lambda row: not any(map(tested.within, row)), WHY, left_out)

    def identity(self) -> list[Any]:
        return [self.files.identity(), self.tests.identity()]


def _up_to(megabytes: int, chunks: Iterable[Chunks]) -> Iterator[Chunks]:
    """Yield chunks until `megabytes` are reached, or all chunks if it is 0."""
    return takewhile(lambda each: each[0].begins_within(megabytes), chunks)


def _kind(path: Path) -> str:
    return "parquet" if parquet.is_parquet(path) else text.detect(path, entities=True)


def join_words(words: Sequence[str]) -> str:
    """Join words with spaces, except between letters of scripts written without spaces and in text split into
    characters."""
    if all(len(word) == 1 for word in words) and _ANY.search("".join(words)):
        return "".join(words)
    return _BETWEEN.sub("", " ".join(words))


@dataclass
class _Side:
    """One of two parallel files, read up to `offset`, plus `length` bytes that are not in a chunk yet."""

    path: Path
    offset: int = 0
    length: int = 0

    def chunk(self, line: int) -> Chunk:
        chunk = Chunk(self.path, "bitext", self.offset, self.length, line)
        self.offset, self.length = self.offset + self.length, 0
        return chunk


def _parallel_chunks(path: Path, beside: Path) -> Iterator[tuple[Chunk, Chunk]]:
    first, second = _Side(path), _Side(beside)
    line, uneven = 1, 0  # the chunk's first line, and the first line that is blank in only one file
    with lines.open_bytes(path) as ours, lines.open_bytes(beside) as theirs:
        rows = zip_longest(lines.raw_lines(ours, path), lines.raw_lines(theirs, beside))
        for number, (a, b) in enumerate(rows, start=1):
            if a is None or b is None:
                own, other = (number - (side is None) for side in (a, b))
                own, other = own + sum(1 for _ in ours), other + sum(1 for _ in theirs)
                where = f"; line {uneven:,} is the first that is blank in only one of them" if uneven else ""
                found = f"{other:,} lines, but {path} has {own:,}"
                raise BadInput(f"{found}; each line needs exactly one translation{where}", beside)
            if not uneven and bool(a.strip()) != bool(b.strip()):
                uneven = number
            first.length += len(a)
            second.length += len(b)
            if number - line + 1 == MANY or first.length + second.length >= lines.LIMIT:
                yield first.chunk(line), second.chunk(line)
                line = number + 1
    if first.length or second.length:
        yield first.chunk(line), second.chunk(line)


def _unescaped(columns: Columns, escaped: bool, left_out: Counter[str]) -> Columns:
    """Unescape lines if `escaped`; otherwise, count lines that seem escaped."""
    if not escaped:
        left_out[ESCAPED] += sum(map(seems_escaped, chain.from_iterable(columns)))
        return columns
    stripped = tuple([unescaped(line, left_out).strip() for line in column] for column in columns)
    return _only(stripped, all, "blank lines", left_out)


def _only(
    columns: Columns, fits: Callable[[tuple[str, ...]], bool], otherwise: str, left_out: Counter[str]
) -> Columns:
    """Keep rows that `fits` accepts; count the others under `otherwise`."""
    fitting = [fits(row) for row in zip(*columns, strict=True)]
    left_out[otherwise] += fitting.count(False)
    return tuple(list(compress(column, fitting)) for column in columns)


class Sentences:
    """A set of sentences to search for in lines; only letters and digits are compared."""

    def __init__(self, texts: Iterable[str]) -> None:
        self.whole = {bare for text in texts if (bare := letters(text))}
        self._by_head: dict[str, list[str]] = {}
        for bare in self.whole:
            if len(bare) >= HEAD:
                self._by_head.setdefault(bare[:HEAD], []).append(bare)

    def within(self, line: str) -> bool:
        """Whether a line equals a sentence or contains a long one."""
        bare = letters(line)
        return bare in self.whole or any(
            bare.startswith(sentence, i)
            for i in range(len(bare) - HEAD + 1)
            for sentence in self._by_head.get(bare[i : i + HEAD], ())
        )


def letters(text: str) -> str:
    """Return a text's letters and digits in lower case, after NFKC normalisation, which unifies accents and
    widths."""
    return _OTHER.sub("", normalize("NFKC", text).lower())


def sentences(tests: TextFiles) -> Sentences:
    """Read the sentences in test files, once per process; raise BadInput if there are none."""
    return _read_sentences(tests, tuple(map(digest, tests.paths)))


@lru_cache(maxsize=4)
def _read_sentences(tests: TextFiles, digests: tuple[str, ...]) -> Sentences:
    found = Sentences(line for (column,) in tests.read_all(Counter()) for line in column)
    if not found.whole:
        raise BadInput("this file contains no sentences to withhold", tests.paths[0])
    return found

"""Text files and bitexts, which are read in chunks. Lines that contain given test sentences can be
excluded."""

import math
import re
from abc import ABC, abstractmethod
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import compress, takewhile, zip_longest
from pathlib import Path
from typing import Any, ClassVar
from unicodedata import normalize

from calque.derive.artefact import digest, input_digest
from calque.derive.errors import BadInput, check_range
from calque.derive.fingerprint import ADDED
from calque.derive.readers import lines, text
from calque.derive.readers.conllu import read_raw_text
from calque.derive.readers.examples import is_placeholder
from calque.derive.readers.iob2 import read_iob2
from calque.derive.readers.lines import Chunk, Numbered, Place
from calque.derive.readers.parallel import words_of

MANY = 1 << 14  # maximum number of lines in each of two parallel chunks
HEAD = 24  # shorter test sentences are not searched for inside lines, where they would match by chance
WHY = "lines that contain a test sentence"
PARQUET = b"PAR1"  # the first bytes of every Parquet file
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

Columns = tuple[list[str], ...]  # non-blank lines in one language, or parallel lines in two
Chunks = tuple[Chunk, ...]  # a chunk of one file, or parallel chunks of two


class FileSet(ABC):
    """Files with text or parallel text, whose chunks can be read by any process."""

    @abstractmethod
    def chunks(self) -> Iterator[Chunks]:
        """Yield the chunks of all files, in order; raise BadInput for unsuitable files."""

    @abstractmethod
    def read(self, chunks: Chunks, left_out: Counter[str]) -> Columns:
        """Read parallel chunks as one column of lines per language; count exclusions."""

    @abstractmethod
    def identity(self) -> list[Any]:
        """Return the values that determine the lines, for fingerprints."""

    def read_all(self, left_out: Counter[str]) -> Iterator[Columns]:
        return (self.read(chunks, left_out) for chunks in self.chunks())


@dataclass(frozen=True)
class TextFiles(FileSet):
    """Text files of any kind (docs/formats.md) in one language. At most `megabytes` of each file are read (0:
    no limit), except of files with entities."""

    former_fields: ClassVar = {"column": "text", "escaped": False}

    paths: tuple[Path, ...]
    megabytes: int = 0

    def __post_init__(self) -> None:
        if not self.paths:
            raise BadInput("a language needs at least one text file")
        check_range("megabytes", self.megabytes, 0)

    def chunks(self) -> Iterator[Chunks]:
        limit = self.megabytes * 1_000_000 or math.inf
        for path in self.paths:
            kind = _kind(path)
            if kind == "parquet":
                chunks = _row_groups(path)
            elif kind == "entities":
                chunks = iter([Chunk(path, kind, 0, 0, 1)])
            else:
                chunks = text.chunks(path, lines.SIZE)
            yield from ((chunk,) for chunk in takewhile(lambda chunk: chunk.offset < limit, chunks))

    def read(self, chunks: Chunks, left_out: Counter[str]) -> Columns:
        (chunk,) = chunks
        if chunk.kind == "entities":
            return ([join_words(sentence.words) for sentence in read_iob2(chunk.path, left_out)],)
        if chunk.kind == "treebank":
            texts = read_raw_text(chunk.path, chunk.numbered(left_out))
        else:
            read = _parquet_texts if chunk.kind == "parquet" else text.lines_of
            texts = map(text.set_apart, read(chunk, left_out))
        return _complete(((line,) for line in texts), 1, left_out)

    def identity(self) -> list[Any]:
        files = [[_kind(path), digest(path)] for path in self.paths]
        return [files, "text", self.megabytes, False]


@dataclass(frozen=True)
class BitextFiles(FileSet):
    """Sentences and translations, aligned line by line in the files `path` and `beside` (Moses format) or in
    two `columns` of the tab-separated file `path`. If `words_in` contains two language codes, text is split
    into words as in gold-link sets, and pairs with fewer than `fewest` words on a side are left out."""

    former_fields: ClassVar = {"escaped": False, "megabytes": 0}

    path: Path
    beside: Path | None = None
    columns: tuple[int, int] = (0, 1)
    words_in: tuple[str, str] | None = field(default=None, metadata=ADDED)
    fewest: int = field(default=1, metadata=ADDED)

    def __post_init__(self) -> None:
        if min(self.columns) < 0 or self.columns[0] == self.columns[1]:
            raise BadInput(f"columns must be two different numbers of at least 0, not {self.columns}")

    @property
    def paths(self) -> tuple[Path, ...]:
        return (self.path, self.beside) if self.beside else (self.path,)

    def chunks(self) -> Iterator[Chunks]:
        for path in self.paths:
            text.detect(path, ("wikitext", "doc", "plain", *(() if self.beside else ("columns",))))
        if self.beside:
            return _parallel_chunks(self.paths)
        return ((chunk,) for chunk in lines.cut_file(self.path, "bitext"))

    def read(self, chunks: Chunks, left_out: Counter[str]) -> Columns:
        sides = [chunk.numbered(left_out) for chunk in chunks]
        rows = self._pairs_of_columns(sides[0])
        if self.beside:
            rows = ((first, second) for (_, first), (_, second) in zip(*sides, strict=True))
        columns = _complete(rows, 2, left_out)
        if not self.words_in:
            return columns
        codes = zip(columns, self.words_in, strict=True)
        split = tuple([" ".join(words_of(line, code)) for line in column] for column, code in codes)

        def is_long(row: Sequence[str]) -> bool:
            return min(side.count(" ") for side in row) + 1 >= self.fewest

        return _only(split, is_long, f"pairs with fewer than {self.fewest} words on a side", left_out)

    def _pairs_of_columns(self, numbered: Sequence[Numbered]) -> Iterator[tuple[str, str]]:
        width = max(self.columns) + 1
        for place, line in numbered:
            row = line.split("\t") if line.strip() else [""] * width
            if len(row) < width:
                raise place.fault(f"{len(row)} tab-separated columns; expected at least {width}")
            yield row[self.columns[0]], row[self.columns[1]]

    def identity(self) -> list[Any]:
        identity = [list(map(input_digest, self.paths)), self.columns, 0, False]
        return [*identity, self.words_in, self.fewest] if self.words_in else identity


@dataclass(frozen=True)
class Without(FileSet):
    """Files without the lines that contain a sentence from the `tests` files (see `Sentences`)."""

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


def _kind(path: Path) -> str:
    if path.is_file():
        with path.open("rb") as file:
            if file.read(len(PARQUET)) == PARQUET:
                return "parquet"
    return text.detect(path, (*text.TEXT, "entities"))


def _row_groups(path: Path) -> Iterator[Chunk]:
    """Yield a chunk per row group: `offset` counts uncompressed bytes, and `length` is the group's index."""
    metadata, offset = _parquet(path).metadata, 0
    for group in range(metadata.num_row_groups):
        yield Chunk(path, "parquet", offset, group, 1)
        offset += metadata.row_group(group).total_byte_size


def _parquet_texts(chunk: Chunk, counts: Counter[str]) -> Iterator[str]:
    file, place = _parquet(chunk.path), Place(chunk.path)
    if "text" not in file.schema_arrow.names:
        raise place.fault(f"no column text; available: {', '.join(file.schema_arrow.names)}")
    try:
        values = file.read_row_group(chunk.length, ["text"])["text"].to_pylist()
    except (OSError, ValueError) as error:  # pyarrow's errors are subclasses of these
        raise place.fault(f"this Parquet file is damaged: {error}") from None
    for value in values:
        yield from text.texts_of(place, value, counts)


def _parquet(path: Path) -> Any:
    try:
        from pyarrow import parquet

        return parquet.ParquetFile(path)
    except ImportError:
        raise BadInput("reading Parquet needs pyarrow: pip install pyarrow", path) from None
    except (OSError, ValueError) as error:
        raise BadInput(f"this Parquet file is damaged: {error}", path) from None


def join_words(words: Sequence[str]) -> str:
    """Join words with spaces, except in scripts without spaces and in text split into characters."""
    if all(len(word) == 1 for word in words) and _ANY.search("".join(words)):
        return "".join(words)
    return _BETWEEN.sub("", " ".join(words))


def _parallel_chunks(paths: Sequence[Path]) -> Iterator[Chunks]:
    """Divide two parallel files into chunks of the same lines, which have MANY lines or at least
    `lines.LIMIT` bytes."""
    starts, ends, line = (0, 0), (0, 0), 1  # the bytes and the first line of the next chunk
    with ExitStack() as files:
        sides = [lines.raw_lines(files.enter_context(lines.open_bytes(path)), path) for path in paths]
        for number, (first, second) in enumerate(zip_longest(*sides, fillvalue=b""), start=1):
            if not (first and second):
                fault = f"this file has {number - 1:,} lines; the other file of the bitext has more"
                raise BadInput(fault, paths[bool(first)])
            ends = ends[0] + len(first), ends[1] + len(second)
            if number - line + 1 == MANY or sum(ends) - sum(starts) >= lines.LIMIT:
                yield _chunks_between(paths, starts, ends, line)
                starts, line = ends, number + 1
    if ends > starts:
        yield _chunks_between(paths, starts, ends, line)


def _chunks_between(paths: Sequence[Path], starts: Sequence[int], ends: Sequence[int], line: int) -> Chunks:
    parts = zip(paths, starts, ends, strict=True)
    return tuple(Chunk(path, "bitext", start, end - start, line) for path, start, end in parts)


def _complete(rows: Iterable[Sequence[str]], sides: int, left_out: Counter[str]) -> Columns:
    """Strip rows of texts. Return the columns of complete rows, which have text on all `sides`, and count
    the others."""
    complete = []
    for row in rows:
        bare = [lines.without_marks(side, left_out).strip() for side in row]
        if sides > 1 and any(map(is_placeholder, bare)):
            left_out["pairs with a placeholder for a translation"] += 1
        elif all(bare):
            complete.append(bare)
        else:
            left_out["pairs with an empty side" if any(bare) else "blank lines"] += 1
    return tuple([row[side] for row in complete] for side in range(sides))


def _only(
    columns: Columns, fits: Callable[[tuple[str, ...]], bool], otherwise: str, left_out: Counter[str]
) -> Columns:
    mask = [fits(row) for row in zip(*columns, strict=True)]
    left_out[otherwise] += mask.count(False)
    return tuple(list(compress(column, mask)) for column in columns)


class Sentences:
    """A set of sentences to search for in lines; only letters and digits are compared."""

    def __init__(self, texts: Iterable[str]) -> None:
        self.whole = {bare for text in texts if (bare := letters(text))}
        self._by_head: defaultdict[str, list[str]] = defaultdict(list)
        for bare in self.whole:
            self._by_head[bare[:HEAD]].append(bare)

    def within(self, line: str) -> bool:
        """Whether a line equals one of the sentences or contains one of at least HEAD characters."""
        bare = letters(line)
        heads = (bare[i : i + HEAD] for i in range(len(bare) - HEAD + 1))
        candidates = (tuple(self._by_head.get(head, ())) for head in heads)
        return bare in self.whole or any(bare.startswith(long, i) for i, long in enumerate(candidates))


def letters(text: str) -> str:
    """Return a text's letters and digits in lower case, after NFKC normalisation."""
    return _OTHER.sub("", normalize("NFKC", text).lower())


def sentences(tests: TextFiles) -> Sentences:
    """Read the sentences in test files, once per process; raise BadInput if there are none."""
    return _read_sentences(tests, tuple(map(digest, tests.paths)))


@lru_cache(maxsize=4)
def _read_sentences(tests: TextFiles, digests: tuple[str, ...]) -> Sentences:
    sentences = Sentences(line for (column,) in tests.read_all(Counter()) for line in column)
    if not sentences.whole:
        raise BadInput("this file contains no sentences to withhold", tests.paths[0])
    return sentences

"""Text in a column of a Parquet file; the one file that knows of pyarrow, which is installed on request."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from derive.errors import BadInput
from derive.natural.lines import Format, stripped
from derive.natural.piece import Piece
from derive.readers.blocks import SIZE
from derive.strict_json import is_text

MAGIC = b"PAR1"
"""What a Parquet file begins and ends with."""
ROWS = 1 << 10
"""Rows that are read at a time."""


@dataclass(frozen=True)
class TextsPiece:
    """Some texts; those that are None are left out."""

    texts: tuple[str | None, ...]
    offset: int
    size: int

    def columns(self, left_out: Counter[str]) -> tuple[list[str], ...]:
        there = [text for text in self.texts if text is not None]
        left_out["rows without text"] += len(self.texts) - len(there)
        return (stripped(there, left_out),)


@dataclass(frozen=True)
class Parquet(Format):
    """The text of `column`; a text of several lines is several lines. Rows whose text is null are left out."""

    column: str

    def pieces(self, path: Path) -> Iterator[Piece]:
        try:
            import pyarrow as pa
            from pyarrow import parquet
        except ImportError:
            raise BadInput("Parquet, which needs pyarrow: pip install pyarrow", path) from None
        try:
            with parquet.ParquetFile(path) as file:
                self._check(path, file.schema_arrow, pa.types)
                yield from self._pieces(path, file, path.stat().st_size)
        except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
            raise BadInput(f"damaged Parquet: {error}", path) from None

    def _check(self, path: Path, schema: Any, types: Any) -> None:
        if self.column not in schema.names:
            raise BadInput(f"no column {self.column!r}; there are {', '.join(schema.names)}", path)
        if schema.names.count(self.column) > 1:
            raise BadInput(f"several columns {self.column!r}; expected one", path)
        kind = schema.field(self.column).type
        kind = kind.value_type if types.is_dictionary(kind) else kind
        if not any(holds(kind) for holds in (types.is_string, types.is_large_string, types.is_string_view)):
            raise BadInput(f"column {self.column!r} holds {kind}; expected text", path)

    def _pieces(self, path: Path, file: Any, size: int) -> Iterator[Piece]:
        texts: list[str | None] = []
        offset = length = rows = before = 0
        for batch in file.iter_batches(ROWS, columns=[self.column]):
            made = batch.column(0).to_pylist()
            if wrong := [text for text in made if text is not None and not is_text(text)]:
                raise BadInput(f"{self.column!r} holds a NUL, as in {wrong[0][:80]!r}; expected text", path)
            texts, rows = texts + made, rows + len(made)
            length += sum(len(text.encode()) for text in made if text)
            if length >= SIZE or rows == file.metadata.num_rows:
                done = size * rows // file.metadata.num_rows
                yield TextsPiece(tuple(texts), offset, done - before)
                texts, offset, length, before = [], offset + length, 0, done

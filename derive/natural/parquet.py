"""Text in a column of a Parquet file; the only module that uses pyarrow, which is an optional dependency."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from calque.derive.errors import BadInput
from calque.derive.readers.lines import LIMIT, SIZE, Columns, Piece, stripped
from calque.derive.strict_json import is_text

MAGIC = b"PAR1"  # the first and last bytes of a Parquet file
ROWS = 1 << 10  # rows per read
EXPANSION = 100  # maximum compression ratio; zstandard rarely reaches 20 on text


def _read(texts: list[str | None], left_out: Counter[str]) -> Columns:
    present = [text for text in texts if text is not None]
    left_out["rows without text"] += len(texts) - len(present)
    return (stripped(present, left_out),)


def pieces(path: Path, column: str) -> Iterator[Piece]:
    """The text of a column; each line of a text is a line of its own. Rows with null for the text are left out."""
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError:
        raise BadInput("reading Parquet needs pyarrow: pip install pyarrow", path) from None
    try:
        with parquet.ParquetFile(path) as file:
            _check_column(path, column, file.schema_arrow, pa.types)
            _check_expansion(path, column, file)
        # repeated values are decoded once, not once per row
        with parquet.ParquetFile(path, read_dictionary=[column]) as file:
            yield from _pieces(path, column, file)
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise BadInput(f"damaged Parquet: {error}", path) from None


def _check_column(path: Path, column: str, schema: Any, types: Any) -> None:
    if column not in schema.names:
        raise BadInput(f"no column {column!r}; there are {', '.join(schema.names)}", path)
    if schema.names.count(column) > 1:
        raise BadInput(f"several columns {column!r}; expected one", path)
    kind = schema.field(column).type
    kind = kind.value_type if types.is_dictionary(kind) else kind
    if not any(holds(kind) for holds in (types.is_string, types.is_large_string, types.is_string_view)):
        raise BadInput(f"column {column!r} holds {kind}; expected text", path)


def _check_expansion(path: Path, column: str, file: Any) -> None:
    """Refuse a column chunk with an implausible compression ratio: all of it may be one page."""
    leaves = range(file.metadata.num_columns)  # a nested column has several leaves
    place = next(i for i in leaves if file.schema.column(i).path == column)
    for group in range(file.metadata.num_row_groups):
        chunk = file.metadata.row_group(group).column(place)
        if chunk.total_uncompressed_size > max(LIMIT, EXPANSION * chunk.total_compressed_size):
            raise BadInput(
                f"row group {group} has {chunk.total_compressed_size:,} bytes of {column!r} that decompress "
                f"to {chunk.total_uncompressed_size:,}; expected at most {EXPANSION} times as many",
                path,
            )


def _pieces(path: Path, column: str, file: Any) -> Iterator[Piece]:
    size, total = path.stat().st_size, file.metadata.num_rows
    texts: list[str | None] = []
    offset = length = rows = before = 0
    for batch in file.iter_batches(ROWS, columns=[column]):
        for row in batch.column(0):
            text = row.as_py()
            if text is not None and not is_text(text):
                raise BadInput(f"{column!r} contains a NUL, as in {text[:80]!r}; expected text", path)
            texts.append(text)
            rows += 1
            own = len(text.encode()) if text else 0
            if own > LIMIT:
                raise BadInput(f"row {rows:,} has {own:,} bytes of text; expected at most {LIMIT:,}", path)
            length += own
            if length >= SIZE or rows == total:
                done = size * rows // total
                yield Piece(texts, _read, offset, done - before)
                texts, offset, length, before = [], offset + length, 0, done

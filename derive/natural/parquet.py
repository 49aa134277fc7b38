"""Read text from a column of a Parquet file; only this module imports pyarrow."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from calque.derive.errors import BadInput
from calque.derive.readers.lines import Chunk, Place
from calque.derive.readers.text import LINE_ENDS

MAGIC = b"PAR1"  # the first bytes of every Parquet file


def is_parquet(path: Path) -> bool:
    """Whether a file starts with Parquet's magic bytes."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(MAGIC)) == MAGIC


def chunks(path: Path) -> Iterator[Chunk]:
    """Yield one chunk per row group, whose `offset` counts uncompressed bytes and whose `length` is the
    group's index."""
    metadata, offset = _opened(path).metadata, 0
    for group in range(metadata.num_row_groups):
        yield Chunk(path, "parquet", offset, group, 1)
        offset += metadata.row_group(group).total_byte_size


def texts(chunk: Chunk, column: str, counts: Counter[str]) -> Iterator[str]:
    """Yield the lines of the texts in a column; null values are skipped and counted."""
    file, place = _opened(chunk.path), Place(chunk.path)
    if column not in file.schema_arrow.names:
        raise place.fault(f"no column {column!r}; there are {', '.join(file.schema_arrow.names)}")
    try:
        values = file.read_row_group(chunk.length, [column])[column].to_pylist()
    except (OSError, ValueError) as error:  # includes pyarrow's
        raise place.fault(f"damaged Parquet: {error}") from None
    for value in values:
        if value is None:
            counts["rows without text"] += 1
        else:
            yield from LINE_ENDS.split(place.text(value, repr(column)))


def _opened(path: Path) -> Any:
    try:
        from pyarrow import parquet
    except ImportError:
        raise BadInput("reading Parquet needs pyarrow: pip install pyarrow", path) from None
    try:
        return parquet.ParquetFile(path)
    except (OSError, ValueError) as error:
        raise BadInput(f"damaged Parquet: {error}", path) from None

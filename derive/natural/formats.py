"""Which format a file of text has, by its name and its first lines."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from derive.errors import BadInput
from derive.natural.annotated import Entities, Treebank, is_word
from derive.natural.json_lines import JsonLines
from derive.natural.lines import Documents, Format, Plain, WikiText
from derive.natural.parquet import MAGIC, Parquet
from derive.readers.compressed import LIMIT, bare_name, opened
from derive.readers.conllu import column_names
from derive.readers.iob2 import Shape, separator_of, shape_of
from derive.readers.lines import decode
from derive.readers.text import COLUMNS, ENTITIES, JSON, TREEBANK, XML, annotation, head, is_heading

PARQUET, DOCUMENTS, WIKITEXT, PLAIN = "Parquet", "documents of WikiExtractor", "WikiText", "plain text"
NAMED = {".conllu": TREEBANK, ".jsonl": JSON, ".ndjson": JSON, ".parquet": PARQUET}
"""What a file must be whose name ends so."""
_MAKE: dict[str, Callable[[Path, str], Format]] = {
    PARQUET: lambda path, column: Parquet(column),
    JSON: lambda path, column: JsonLines(column),
    TREEBANK: lambda path, column: Treebank(_names(path)),
    ENTITIES: lambda path, column: Entities(_shape(path)),
    DOCUMENTS: lambda path, column: Documents(),
    WIKITEXT: lambda path, column: WikiText(),
    PLAIN: lambda path, column: Plain(),
}


def format_of(path: Path, column: str) -> Format:
    """The format of a file; `column` is that of the text, where there are several.

    Raises:
        BadInput: it cannot be read, is blank, or is not what its name says.
    """
    kind, suffix = _kind(path), Path(bare_name(path)).suffix
    if NAMED.get(suffix, kind) != kind:
        raise BadInput(f"named {suffix}, as {NAMED[suffix]} is, but it begins as {kind} does", path)
    return _MAKE[kind](path, column)


def _kind(path: Path) -> str:
    with opened(path) as file:
        if file.peek(len(MAGIC))[: len(MAGIC)] == MAGIC:  # type: ignore[attr-defined]
            return PARQUET
        first, lines = head(path, file)
    if first.startswith("<doc "):
        return DOCUMENTS
    kind = annotation(first, lines)
    if kind in (COLUMNS, XML):
        raise BadInput(f"{kind}; expected text, CoNLL-U, or words with the tags of entities", path, lines[0][0])
    if kind:
        return kind
    return WIKITEXT if Path(bare_name(path)).suffix == ".tokens" or is_heading(first) else PLAIN


def _names(path: Path) -> tuple[str, ...]:
    """The names of the columns of a treebank."""
    with opened(path) as file:
        return column_names(path, decode(file.readline(LIMIT), path, 1).rstrip("\n"))


def _shape(path: Path) -> Shape:
    """The shape of a file of entities, by its first sentence."""
    lines: list[tuple[int, str]] = []
    with opened(path) as file:
        separator = separator_of(file.peek(1 << 16))  # type: ignore[attr-defined]
        for number, raw in enumerate(iter(lambda: file.readline(LIMIT), b""), start=1):
            line = decode(raw, path, number).rstrip("\n")
            if is_word(line, separator):
                lines.append((number, line))
            elif lines and not line.strip():
                break
    return shape_of(lines, separator)

"""Formats of text: detection by a file's name and first lines, and the text, stripped, in a block of lines."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import groupby
from pathlib import Path

from calque.derive.errors import BadInput
from calque.derive.natural import parquet
from calque.derive.readers import lines, text
from calque.derive.readers.annotation import ENTITIES, JSON, TREEBANK, annotation, head_of
from calque.derive.readers.conllu import UNENDED, cells, column_names
from calque.derive.readers.iob2 import Shape, sentence_lines, shape_of, words_of
from calque.derive.readers.lines import Block, Columns, Numbered, Piece, Place, WithheldWords
from calque.derive.readers.text import Kind

PARQUET = "Parquet"
RUNNING: dict[Kind, str] = {
    "doc": "documents of WikiExtractor",
    "wikitext": "WikiText with unknown words",
    "plain": "plain text",
    "numbered": "numbered lines of text",
}
NAMED = {".conllu": TREEBANK, ".jsonl": JSON, ".ndjson": JSON, ".parquet": PARQUET}
"""The format that a file name's suffix requires."""
NumberedLines = Sequence[Numbered]
Read = Callable[[NumberedLines, Path, Counter[str]], Iterator[str]]
"""Finds the text in the lines of whole records and counts the rest."""
_TEXT = "# text ="
_UNSPACED = (
    "\u0e00-\u0fff"  # Thai, Lao, Tibetan
    "\u1000-\u109f\u1780-\u17ff"  # Burmese, Khmer
    "\u3000-\u30ff\u31f0-\u31ff"  # punctuation and kana
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
    "\uff00-\uffef"  # wide forms
)
_BETWEEN = re.compile(f"(?<=[{_UNSPACED}]) (?=[{_UNSPACED}])")
_ANY = re.compile(f"[{_UNSPACED}]")


def pieces(path: Path, column: str) -> Iterator[Piece]:
    """The pieces of a file in order, each of whole records; `column` is the text's column, in formats with several."""
    name = format_of(path)
    if name == PARQUET:
        yield from parquet.pieces(path, column)
        return
    ends, record = text.ends_of("treebank")
    if name == TREEBANK:
        with lines.open_bytes(path) as file:
            names = column_names(path, lines.decode(file.readline(lines.LIMIT), path, 1).rstrip("\n"))
        texts: Read = partial(treebank_texts, names)
    elif name == ENTITIES:
        texts = partial(_entities, shape_of(path))
    else:
        kind: Kind = next((kind for kind, title in RUNNING.items() if title == name), "json")
        ends, record = text.ends_of(kind)
        texts = partial(text.json_texts, column) if kind == "json" else partial(_running, kind)
    for block in lines.blocks(path, ends, record, lines.SIZE):
        yield Piece(block, partial(_read, texts), block.offset, block.size)


def _read(texts: Read, block: Block, left_out: Counter[str]) -> Columns:
    numbered = list(enumerate(block.lines(left_out), block.line))
    return (lines.stripped(texts(numbered, block.path, left_out), left_out),)


def format_of(path: Path) -> str:
    """The format of a file by its first lines; BadInput if its suffix requires another."""
    name, suffix = _format_of_contents(path), Path(lines.bare_name(path)).suffix
    if NAMED.get(suffix, name) != name:
        raise BadInput(f"has the suffix {suffix} of {NAMED[suffix]} but starts like {name}", path)
    return name


def _format_of_contents(path: Path) -> str:
    with lines.open_bytes(path) as file:
        if file.peek(len(parquet.MAGIC)).startswith(parquet.MAGIC):
            return PARQUET
    first, sample = head_of(path)
    kind = annotation(first, sample)
    if kind not in ("", TREEBANK, JSON, ENTITIES):
        expected = "expected text, CoNLL-U, JSON lines, or words with the tags of entities"
        raise BadInput(f"{kind}; {expected}", path, sample[0][0])
    return kind or RUNNING[text.kind_of(path, first, sample)]


def _running(kind: Kind, numbered: NumberedLines, path: Path, left_out: Counter[str]) -> Iterator[str]:
    """Plain text, WikiText and documents: see `derive.readers.text`."""
    return map(
        text.set_apart, text.text_lines(kind, numbered, path, left_out, lambda reason, _: left_out.update([reason]))
    )


def treebank_texts(names: Sequence[str], numbered: NumberedLines, path: Path, left_out: Counter[str]) -> Iterator[str]:
    """The text of each sentence: its `# text` comment, or else its tokens, spaced by SpaceAfter."""
    last, withheld = 0, WithheldWords()
    for blank, group in groupby(numbered, lambda line: not line[1].strip()):
        if blank:
            continue
        block = list(group)
        rows = [(number, line) for number, line in block if not line.startswith("#")]
        comments = [(number, line) for number, line in block if line.startswith(_TEXT)]
        if rows:
            sentence = _joined_tokens(path, rows, names)
            if comments:
                sentence = comments[0][1].removeprefix(_TEXT)
            withheld.add(sentence.split(), rows[0][0])
            last = block[-1][0]
            yield sentence
        elif comments:
            raise BadInput("a sentence without words: the file is truncated", path, comments[0][0])
        else:
            left_out["comments without a sentence"] += len(block)
    if numbered and last == numbered[-1][0]:
        raise BadInput(UNENDED, path, last)
    withheld.check(path)


def _joined_tokens(path: Path, rows: NumberedLines, names: Sequence[str]) -> str:
    """The tokens of a sentence, multiword tokens unsplit, with a space after each except where SpaceAfter=No."""
    joined, covered = "", 0
    for number, line in rows:
        id_, form, *_, misc = cells(Place(path, number), line, names)
        first, _, last = id_.partition("-")
        if "." in first:
            continue  # an empty node
        try:
            at, end = lines.parse_integer(first), lines.parse_integer(last or first)
        except ValueError:
            raise BadInput(f"ID {id_!r}; expected a number such as 3, 3-4 or 3.1", path, number) from None
        if at > covered:
            joined += form + ("" if "SpaceAfter=No" in misc.split("|") else " ")
            covered = end
    return joined


def _entities(shape: Shape, numbered: NumberedLines, path: Path, left_out: Counter[str]) -> Iterator[str]:
    withheld = WithheldWords()
    for rows in sentence_lines(numbered, shape.separator, Counter()):
        words = words_of(path, rows, shape, left_out)
        withheld.add(words, rows[0][0])
        yield join_words(words)
    withheld.check(path)


def join_words(words: Sequence[str]) -> str:
    """The words joined by spaces, except between letters of scripts written without spaces. A sentence of single
    characters that has such a letter was split by character (Chinese and Japanese PAN-X): it is joined without any."""
    if all(len(word) == 1 for word in words) and _ANY.search("".join(words)):
        return "".join(words)
    return _BETWEEN.sub("", " ".join(words))

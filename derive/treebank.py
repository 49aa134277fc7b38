"""Treebanks in CoNLL-U: a file or a folder of them to read, trees of our own to write."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from derive.errors import BadInput
from derive.files import whole_file
from derive.readers.compressed import check_file
from derive.readers.conllu import UPOS, read_conllu, relation_fault, tree_fault
from derive.sentence import Sentence


def read_treebank(path: Path, counts: Counter[str] | None = None) -> Iterator[Sentence]:
    """Stream the sentences of a CoNLL-U file, or of all `*.conllu` files below a folder, sorted by path.

    Grammars learn from tags and trees alone, so words may be withheld.

    Raises:
        BadInput: as `read_conllu`; a folder without such a file.
    """
    for file in treebank_files(path):
        yield from read_conllu(file, counts, withheld=True)


def treebank_files(path: Path) -> list[Path]:
    """The file, or all `*.conllu` files below the folder, sorted.

    Raises:
        BadInput: there is nothing of that name, or a folder without such a file.
    """
    if not path.is_dir():
        check_file(path)
        return [path]
    files = sorted(path.rglob("*.conllu"))
    if not files:
        raise BadInput("no .conllu file below this folder; expected a treebank", path)
    return files


def write_treebank(path: Path, sentences: Iterable[Sentence], lemmas: bool = False) -> int:
    """Write words, tags and trees as CoNLL-U, whole or not at all, and return how many sentences.

    XPOS, FEATS, DEPS and MISC are `_`, and so is LEMMA unless words are to stand for their `lemmas`. What was
    written reads back equal, but for spans and origin.

    Raises:
        ValueError: a sentence that CoNLL-U cannot hold: no words, no tree, white space in a word, other tags
            or relations than UD v2's.
    """
    count = 0
    with whole_file(path) as part, part.open("w", encoding="utf-8", newline="\n") as file:
        for sentence in sentences:
            file.write(_block(sentence, lemmas))
            count += 1
        if not count:
            raise ValueError(f"no sentence to write to {path}")
    return count


def _block(sentence: Sentence, lemmas: bool) -> str:
    words = sentence.words
    if not words or not len(words) == len(sentence.tags) == len(sentence.heads) == len(sentence.relations):
        raise ValueError(f"a sentence of {len(words)} words lacks a column that CoNLL-U needs: {' '.join(words)}")
    for text in words:
        if text.split() != [text] or "\0" in text:
            raise ValueError(f"white space or NUL in {text!r}, or nothing: {' '.join(words)}")
    if not UPOS.issuperset(sentence.tags):
        raise ValueError(f"tags {' '.join(sentence.tags)}; expected those of UD v2")
    if fault := tree_fault(sentence.heads):
        raise ValueError(f"{fault[1]}: {' '.join(words)}")
    if wrong := next(filter(None, map(relation_fault, sentence.relations, sentence.heads)), None):
        raise ValueError(f"{wrong}: {' '.join(words)}")
    rows = zip(words, sentence.tags, sentence.heads, sentence.relations, strict=True)
    lines = (
        f"{i}\t{word}\t{word if lemmas else '_'}\t{tag}\t_\t_\t{head + 1}\t{relation}\t_\t_\n"
        for i, (word, tag, head, relation) in enumerate(rows, start=1)
    )
    return "".join(lines) + "\n"

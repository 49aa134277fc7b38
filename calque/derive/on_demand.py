"""Derive the sentences of a text or file, and display them with their images."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from calque.derive.errors import BadInput, excluded
from calque.derive.parser import StanzaParser
from calque.derive.readers.english import split_sentences
from calque.derive.sentence import CHUNKS, Sentence, iob2, printable
from calque.derive.sources.files import Files
from calque.derive.transform import Account, Transform, check_parts, image_of
from calque.derive.transforms import transform
from calque.derive.vocabulary import OURS, SMALLEST

PREVIEW = "preview.txt"
WIDTH = 110  # maximum line width in characters
MARGIN = 12  # minimum width of the column for language names

Row = tuple[str, Sequence[str]]


def side_by_side(sentence: Sentence, transforms: Sequence[Transform], number: int) -> str:
    """Return a sentence and its images in columns, with positions, glosses and labels."""
    margin = max([MARGIN, *(len(derivation.name) + 1 for derivation in transforms)])
    blocks = [_grid([("", _places(sentence)), ("source", sentence.words), *_labels(sentence)], margin)]
    for derivation in transforms:
        image = image_of(derivation, sentence, number, Account())
        words = tuple(map(derivation.spell, image.words))
        gloss = [("gloss", image.words)] if words != image.words else []
        rows = [("", _places(image)), (derivation.name, words), *gloss, *_labels(image)]
        blocks.append(_grid(rows, margin))
    return "\n".join(blocks)


def _places(sentence: Sentence) -> list[str]:
    return ["+".join(str(place + 1) for place in group) for group in sentence.rendered]


def preview_sentences(corpus: Iterable[tuple[int, Sentence]], transforms: Sequence[Transform]) -> str:
    """Return the contents of preview.txt."""
    parts = ["Sentences of the corpus\n=======================\n"]
    for place, (number, sentence) in enumerate(corpus, start=1):
        parts.append(f"{place}.\n{side_by_side(sentence, transforms, number)}")
    return "\n".join(parts)


def _labels(sentence: Sentence) -> list[Row]:
    rows: list[Row] = [("tags", sentence.tags)] if sentence.tags else []
    if sentence.spans:
        rows.append(("entities", ["" if tag == "O" else tag for tag in iob2(sentence)]))
    return rows


def _grid(rows: Sequence[Row], margin: int) -> str:
    names, cells = [name.ljust(margin - 1) for name, _ in rows], [printable(cells) for _, cells in rows]
    blocks, line_width = [[names]], margin
    for column in zip(*cells, strict=True):
        width = max(map(len, column))
        if line_width + width + 1 > WIDTH and line_width > margin:
            blocks.append([names])
            line_width = margin
        blocks[-1].append([cell.ljust(width) for cell in column])
        line_width += width + 1
    lines = [" ".join(line).rstrip() for block in blocks for line in zip(*block, strict=True)]
    return "\n".join(lines) + "\n"


class Derived:
    """The `words` of a sentence's image, and their `origin`; `str` aligns both sentences, word by word."""

    def __init__(self, source: Sentence, transform: Transform) -> None:
        image = image_of(transform, source, 0, Account())
        self.words, self.origin = tuple(map(transform.spell, image.words)), image.origin
        self._text = side_by_side(source, [transform], 0)

    def __str__(self) -> str:
        return self._text


def transforms_of(
    names: Iterable[str],
    parser: Path | None,
    cache: Path,
    own_transforms: Mapping[str, Transform] | None = None,
) -> list[Transform]:
    """Return the named transforms, ready to use; `own_transforms` are further ones."""
    transforms = [(own_transforms or {}).get(name) or transform(name) for name in names]
    for derivation in transforms:
        if derivation.needs_trees:
            if parser is None:
                raise BadInput(
                    f"{derivation.name} needs parsed sentences; use --parser FOLDER, with Stanza models"
                )
            StanzaParser(parser).fingerprint()  # fail early, because learning a word order takes a minute
        check_parts(derivation)
    return [derivation.ready(cache) for derivation in transforms]


def sentences_of(
    text: str, transforms: Sequence[Transform], parser: Path | None
) -> tuple[list[Sentence], Counter[str]]:
    """Split a text into sentences, parsed if a transform needs trees; count failures by reason."""
    failures, sentences = Counter[str](), [Sentence(tuple(words)) for words in split_sentences(text)]
    if not sentences:
        raise BadInput("the text contains no words")
    if parser is not None and any(transform.needs_trees for transform in transforms):
        for place, tree in enumerate(StanzaParser(parser).trees([sentence.words for sentence in sentences])):
            if isinstance(tree, str):
                failures[tree] += 1
            else:
                sentences[place] = tree
    return sentences, failures


def derive_file(source: Files, transform: Transform, account: Account, cache: Path) -> Iterator[str]:
    """Yield the image of each sentence in the only file of `source`, the same as in a study."""
    types = OURS.ordinary(SMALLEST)
    if 0 < np.isin(transform.image(SMALLEST), types).sum() < len(types):
        raise BadInput(f"text cannot represent shared sub-words, as in {transform.name}; use trans")
    (path,) = source.text
    source = source.ready(cache, transform.needs_trees)
    has_sentences = False
    for index, chunk in enumerate(source.chunks()):
        sentences, left_out = source.sentences(chunk)
        account.left_out += left_out
        for place, sentence in enumerate(sentences):
            has_sentences = True
            image = image_of(transform, sentence, CHUNKS.number(index, place), account)
            if image.words:
                yield " ".join(printable([transform.spell(word) for word in image.words]))
    if not has_sentences:
        raise BadInput(f"no sentence is left{excluded(account.left_out)}", path)

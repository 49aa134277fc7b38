"""Show sentences aligned with their images, in `preview.txt` and in the output of `calque show`."""

import unicodedata
from collections.abc import Iterable, Sequence

from calque.derive.sentence import Sentence, iob2, shown
from calque.derive.transform import Account, Transform, image_of

PREVIEW = "preview.txt"
WIDTH = 110  # maximum line width in characters
MARGIN = 12  # minimum width of the column for language names

Row = tuple[str, Sequence[str]]


def side_by_side(sentence: Sentence, transforms: Sequence[Transform], number: int) -> str:
    """Align a sentence and its images word by word, with source positions, glosses, tags and entities."""
    places = [str(place + 1) for place in range(len(sentence))]
    margin = max([MARGIN, *(len(transform.name) + 1 for transform in transforms)])
    blocks = [_grid([("", places), ("source", sentence.words), *_labels(sentence)], margin)]
    for transform in transforms:
        image = image_of(transform, sentence, number, Account())
        places = ["+".join(str(place + 1) for place in group) for group in image.rendered]
        words = [transform.spell(word) for word in image.words]
        rows: list[Row] = [("", places), (transform.name, words)]
        if words != list(image.words):
            rows.append(("gloss", image.words))
        blocks.append(_grid([*rows, *_labels(image)], margin))
    return "\n".join(blocks)


def preview_sentences(corpus: Iterable[tuple[int, Sentence]], transforms: Sequence[Transform]) -> str:
    """Return the contents of preview.txt: each sentence, followed by all of its images."""
    parts = ["Sentences of the corpus\n=======================\n"]
    for place, (number, sentence) in enumerate(corpus, start=1):
        parts.append(f"{place}.\n{side_by_side(sentence, transforms, number)}")
    return "\n".join(parts)


def _labels(sentence: Sentence) -> list[Row]:
    rows: list[Row] = []
    if sentence.tags:
        rows.append(("tags", sentence.tags))
    if sentence.spans:
        rows.append(("entities", ["" if tag == "O" else tag for tag in iob2(sentence)]))
    return rows


def _grid(rows: Sequence[Row], margin: int) -> str:
    """Align the rows' cells in columns, divided into blocks at most as wide as WIDTH."""
    names, cells = [name for name, _ in rows], [shown(cells) for _, cells in rows]
    blocks = [[_padded(names, margin - 1)]]
    used = margin
    for column in zip(*cells, strict=True):
        width = max(map(_width, column))
        if used + width + 1 > WIDTH and used > margin:
            blocks.append([_padded(names, margin - 1)])
            used = margin
        blocks[-1].append(_padded(column, width))
        used += width + 1
    lines = [" ".join(line).rstrip() for block in blocks for line in zip(*block, strict=True)]
    return "\n".join(lines) + "\n"


def _padded(cells: Sequence[str], width: int) -> list[str]:
    return [cell + " " * (width - _width(cell)) for cell in cells]


def _width(text: str) -> int:
    marks = sum(unicodedata.combining(letter) > 0 for letter in text)
    return len(text) - marks + sum(unicodedata.east_asian_width(letter) in "WF" for letter in text)

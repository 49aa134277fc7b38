"""Sentences, whose annotations are reordered with the words; and task examples."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, groupby
from pathlib import Path
from sys import intern
from typing import Any, NamedTuple, Self, TypeVar

from calque.derive.errors import BadInput

T = TypeVar("T")
UNKNOWN = "\0"
"""Stands for a missing word, such as WikiText's `<unk>`; text never contains NUL."""


class Numbering(NamedTuple):
    """Numbers sentences in groups of up to `1 << bits`, to seed random transforms."""

    bits: int

    def number(self, group: int, place: int) -> int:
        return (group << self.bits) + place


CHUNKS, EXAMPLES = Numbering(32), Numbering(16)
"""Numbers of sentences in a corpus's chunks, and in a split's examples."""
PARTS = Numbering(80)  # each part of a composed transform has its own range of the numbers above


@dataclass(frozen=True, slots=True)
class Span:
    """A labelled span of words, from `start` to `end` (exclusive)."""

    start: int
    end: int
    label: str


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence's words and annotation columns, each empty or with one entry per word. `heads` are 0-based
    (the root's: -1). `origin[i]` is the position of word i before any transform. If words were changed,
    `sources[i]` has the positions of all source words that word i renders, `origin[i]` first. `glued[i]` says
    whether word i follows the previous word without a space."""

    words: tuple[str, ...]
    tags: tuple[str, ...] = ()
    heads: tuple[int, ...] = ()
    relations: tuple[str, ...] = ()
    spans: tuple[Span, ...] = ()
    origin: tuple[int, ...] = ()
    glued: tuple[bool, ...] = ()
    sources: tuple[tuple[int, ...], ...] = ()

    def __post_init__(self) -> None:
        n = len(self.words)
        if not self.origin:
            object.__setattr__(self, "origin", tuple(range(n)))
        for column in (self.tags, self.heads, self.relations, self.origin, self.glued, self.sources):
            if column and len(column) != n:
                raise ValueError(f"{len(column)} entries for the {n} words of {' '.join(self.words)}")

    def __len__(self) -> int:
        return len(self.words)

    def reorder(self, order: Sequence[int]) -> Self:
        """Return the sentence in a new order of positions, which may split spans."""
        if sorted(order) != list(range(len(self))):
            expected = f"expected each position from 0 to {len(self) - 1} once"
            raise BadInput(f"cannot reorder {self.text[:200]!r} as {list(order)[:30]}; {expected}")
        place = {-1: -1} | {old: new for new, old in enumerate(order)} if self.heads else {}
        return type(self)(
            words=_pick(self.words, order),
            tags=_pick(self.tags, order),
            heads=tuple([place[head] for head in _pick(self.heads, order)]),
            relations=_pick(self.relations, order),
            spans=self._new_spans(zip(order, strict=True)),
            origin=_pick(self.origin, order),
            sources=_pick(self.sources, order),
        )

    def rewrite(self, words: Sequence[tuple[str, Sequence[int]]]) -> Self:
        """Return the sentence without a tree and with new words, each given with the positions of the words
        that it renders, main word first. It gets its main word's tag, and the first span of these words."""
        groups = [tuple(group) for _, group in words]
        if not all(0 <= place < len(self) for group in groups for place in group) or not all(groups):
            expected = f"expected positions from 0 to {len(self) - 1}"
            raise BadInput(f"cannot rewrite {self.text[:200]!r} from {groups[:30]}; {expected}")
        mains = [group[0] for group in groups]
        sources = (chain.from_iterable(_pick(self.rendered, group)) for group in groups)
        return type(self)(
            words=tuple(word for word, _ in words),
            tags=_pick(self.tags, mains),
            spans=self._new_spans(groups),
            origin=_pick(self.origin, mains),
            sources=tuple(tuple(dict.fromkeys(places)) for places in sources),
        )

    def _new_spans(self, groups: Iterable[tuple[int, ...]]) -> tuple[Span, ...]:
        if not self.spans:  # as in most sentences
            return ()
        spans = {place: n for n, span in enumerate(self.spans) for place in range(span.start, span.end)}
        numbers = [next((spans[place] for place in group if place in spans), -1) for group in groups]
        return tuple(Span(start, end, self.spans[n].label) for start, end, n in runs(numbers) if n >= 0)

    @property
    def rendered(self) -> tuple[tuple[int, ...], ...]:
        """The positions of the source words that each word renders."""
        return self.sources or tuple((place,) for place in self.origin)

    @property
    def text(self) -> str:
        return self._upto(len(self))

    def _upto(self, end: int) -> str:
        glued = self.glued or (False,) * len(self)
        words = zip(printable(self.words[:end]), glued, strict=False)
        return "".join([word if is_glued else f" {word}" for word, is_glued in words]).removeprefix(" ")

    def length(self, end: int) -> int:
        """Return the length of the text of the words before position `end`."""
        return len(self._upto(end))


def runs(values: Iterable[T]) -> Iterator[tuple[int, int, T]]:
    """Yield the start, the end (exclusive) and the value of each run of equal values."""
    end = 0
    for value, run in groupby(values):
        start, end = end, end + sum(1 for _ in run)
        yield start, end, value


def printable(words: Sequence[str]) -> list[str]:
    """Replace unknown words with `<unk>`."""
    return ["<unk>" if word == UNKNOWN else word for word in words]


def _pick(column: tuple[T, ...], order: Sequence[int]) -> tuple[T, ...]:
    return tuple(map(column.__getitem__, order)) if column else ()


def iob2(sentence: Sentence) -> list[str]:
    """Convert a sentence's spans to IOB2 tags, one per word."""
    tags = ["O"] * len(sentence)
    for span in sentence.spans:
        tags[span.start : span.end] = [f"I-{span.label}"] * (span.end - span.start)
        tags[span.start] = f"B-{span.label}"
    return tags


def word_labels(sentence: Sentence) -> tuple[str, ...]:
    """Return the label of each word, or ""."""
    labels = {place: span.label for span in sentence.spans for place in range(span.start, span.end)}
    return tuple(labels.get(place, "") for place in range(len(sentence)))


def spans_of(tags: Sequence[str]) -> tuple[Span, ...]:
    """Convert IOB2 tags to spans; raise ValueError if an I- tag does not continue an entity."""
    spans: list[Span] = []
    for i, tag in enumerate(tags):
        if tag.startswith("B-"):
            spans.append(Span(i, i + 1, tag[2:]))
        elif tag.startswith("I-"):
            if not spans or spans[-1].end != i or spans[-1].label != tag[2:]:
                raise ValueError(f"{tag} at word {i + 1} does not continue an entity")
            spans[-1] = replace(spans[-1], end=i + 1)
    return tuple(spans)


@dataclass(frozen=True)
class Example:
    """A task example: one or two texts, or none if it is missing."""

    texts: tuple[tuple[Sentence, ...], ...]
    label: str = ""
    id: str = ""

    @property
    def sentences(self) -> list[Sentence]:
        return list(chain.from_iterable(self.texts))

    def interned(self) -> Self:
        """Intern words and tags, which saves most of a data set's memory."""
        return replace(self, texts=tuple(tuple(map(_interned, text)) for text in self.texts))


def _interned(sentence: Sentence) -> Sentence:
    words, tags = (tuple(map(intern, column)) for column in (sentence.words, sentence.tags))
    return replace(sentence, words=words, tags=tags)


_TEXTS = ("label", "id")  # the fields written after an example's texts, in order
_COLUMNS = ("words", "tags", "heads", "relations", "spans", "glued")


def write_examples(path: Path, examples: Iterable[Example]) -> int:
    """Write examples as JSON lines; return their number."""
    count = 0
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for example in examples:
            count += 1
            row: dict[str, Any] = {"texts": [[_columns(s) for s in text] for text in example.texts]}
            row |= {name: getattr(example, name) for name in _TEXTS if getattr(example, name)}
            file.write(json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n")
    return count


def read_examples(path: Path) -> Iterator[Example]:
    """Stream the examples in a file written by `write_examples`."""
    with path.open(encoding="utf-8") as file:
        for line in file:
            row = json.loads(line)
            texts = tuple(tuple(map(_sentence, text)) for text in row["texts"])
            yield Example(texts, *(row.get(name, "") for name in _TEXTS))


def _sentence(columns: dict[str, Any]) -> Sentence:
    columns["spans"] = (Span(*span) for span in columns.get("spans", ()))
    columns["sources"] = map(tuple, columns.get("sources", ()))
    return Sentence(**{name: tuple(column) for name, column in columns.items()})


def _columns(sentence: Sentence) -> dict[str, Any]:
    columns = {name: getattr(sentence, name) for name in _COLUMNS}
    columns["spans"] = [[span.start, span.end, span.label] for span in sentence.spans]
    if sentence.sources or sentence.origin != tuple(range(len(sentence))):
        columns |= {"origin": sentence.origin, "sources": sentence.sources}
    return {name: column for name, column in columns.items() if column or name == "words"}

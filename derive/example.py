"""Labelled task instances, and questions about facts stated in a corpus."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from sys import intern
from typing import Any, Self

from calque.derive.sentence import Sentence, Span


@dataclass(frozen=True)
class Example:
    """A task instance: one or two texts of sentences. `label` applies to the whole; `diagnostic` names the
    phenomenon that it tests. Without texts, it is an instance missing from its file."""

    texts: tuple[tuple[Sentence, ...], ...]
    label: str = ""
    diagnostic: str = ""
    id: str = ""

    @property
    def sentences(self) -> list[Sentence]:
        return list(chain.from_iterable(self.texts))

    @property
    def words(self) -> tuple[tuple[tuple[str, ...], ...], ...]:
        return tuple(tuple(sentence.words for sentence in text) for text in self.texts)

    def interned(self) -> Self:
        """Intern all strings, which saves most of a data set's memory."""

        def shared(sentence: Sentence) -> Sentence:
            words, tags, relations = (
                tuple(map(intern, column)) for column in (sentence.words, sentence.tags, sentence.relations)
            )
            return replace(sentence, words=words, tags=tags, relations=relations)

        return replace(self, texts=tuple(tuple(map(shared, text)) for text in self.texts))


@dataclass(frozen=True)
class Cloze:
    """A sentence that states a fact, and the answer's position in it."""

    sentence: Sentence
    place: int


@dataclass(frozen=True)
class Question:
    """A question about a fact stated in each of the `clozes`. Questions about the same `relation` share their
    `candidates`. `shared`: the fact is also stated in derived languages."""

    relation: str
    subject: str
    answer: str
    candidates: tuple[str, ...]
    clozes: tuple[Cloze, ...]
    shared: bool


_TEXTS = ("label", "diagnostic", "id")  # the fields written after an example's texts, in order
_COLUMNS = ("words", "tags", "heads", "relations", "spans", "glued")


def write_examples(path: Path, examples: Iterable[Example]) -> int:
    """Write examples as JSON lines; return their number."""
    count = 0
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for example in examples:
            row: dict[str, Any] = {"texts": [[_columns(s) for s in text] for text in example.texts]}
            row |= {name: getattr(example, name) for name in _TEXTS if getattr(example, name)}
            file.write(json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n")
            count += 1
    return count


def read_examples(path: Path) -> Iterator[Example]:
    """Stream the examples in a file written by `write_examples`."""
    with path.open(encoding="utf-8") as file:
        for line in file:
            row = json.loads(line)
            texts = tuple(tuple(map(_sentence, text)) for text in row["texts"])
            yield Example(texts, *(row.get(name, "") for name in _TEXTS))


def _sentence(columns: dict[str, Any]) -> Sentence:
    spans = tuple(Span(*span) for span in columns.pop("spans", ()))
    sources = tuple(map(tuple, columns.pop("sources", ())))
    return Sentence(**{name: tuple(column) for name, column in columns.items()}, spans=spans, sources=sources)


def _columns(sentence: Sentence) -> dict[str, Any]:
    columns = {name: getattr(sentence, name) for name in _COLUMNS}
    columns["spans"] = [[span.start, span.end, span.label] for span in sentence.spans]
    if sentence.sources or sentence.origin != tuple(range(len(sentence))):
        columns |= {"origin": sentence.origin, "sources": sentence.sources}
    return {name: column for name, column in columns.items() if column or name == "words"}

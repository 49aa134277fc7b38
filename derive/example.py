"""One instance of a task: its texts, each a tuple of sentences, and its label where it has one."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from derive.sentence import Sentence, Span


@dataclass(frozen=True)
class Example:
    """A tagged sentence is one text of one sentence, an NLI pair two texts of one or more.

    Labels of words are columns of the sentences; `label` is the whole instance's. `diagnostic` is the phenomenon that
    it tests, by which scores are listed, and `id` the instance's own name; both may be empty. An example without texts
    marks the place of one that its file lacks (`derive.readers.nli`); none is ever written.
    """

    texts: tuple[tuple[Sentence, ...], ...]
    label: str = ""
    diagnostic: str = ""
    id: str = ""

    def sharing(self, known: dict[str, str]) -> Example:
        """The same example with the strings of `known` for equal words and tags; new ones join it.

        A set of examples holds few different words: a string for each place takes five times the memory.
        """

        def interned(column: tuple[str, ...]) -> tuple[str, ...]:
            return tuple(known.setdefault(text, text) for text in column)

        texts = (
            tuple(
                replace(s, words=interned(s.words), tags=interned(s.tags), relations=interned(s.relations))
                for s in text
            )
            for text in self.texts
        )
        return replace(self, texts=tuple(texts))


_TEXTS = ("label", "diagnostic", "id")
"""An example's fields other than its texts, in their order."""


def write_examples(path: Path, examples: Iterable[Example]) -> int:
    """Write JSON lines and return how many."""
    count = 0
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for example in examples:
            file.write(json.dumps(_to_json(example), ensure_ascii=False, separators=(",", ":")) + "\n")
            count += 1
    return count


def read_examples(path: Path) -> Iterator[Example]:
    """The examples that `write_examples` wrote."""
    with path.open(encoding="utf-8") as file:
        for line in file:
            row = json.loads(line)
            texts = tuple(tuple(_sentence(s) for s in text) for text in row["texts"])
            yield Example(texts, *(row.get(name, "") for name in _TEXTS))


def _to_json(example: Example) -> dict[str, Any]:
    row: dict[str, Any] = {"texts": [[_columns(s) for s in text] for text in example.texts]}
    return row | {name: value for name in _TEXTS if (value := getattr(example, name))}


def _columns(sentence: Sentence) -> dict[str, Any]:
    columns = {
        "words": sentence.words,
        "tags": sentence.tags,
        "heads": sentence.heads,
        "relations": sentence.relations,
        "spans": [[span.start, span.end, span.label] for span in sentence.spans],
        "glued": sentence.glued,
    }
    if sentence.origin != tuple(range(len(sentence))):
        columns["origin"] = sentence.origin
    return {name: column for name, column in columns.items() if column or name == "words"}


def _sentence(columns: dict[str, Any]) -> Sentence:
    spans = tuple(Span(*span) for span in columns.pop("spans", ()))
    return Sentence(**{name: tuple(column) for name, column in columns.items()}, spans=spans)

"""The corpora that a paper pretrained on, as its tables list them: gigabytes by language or pair."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from experiments.published import FOLDER


@dataclass(frozen=True)
class Corpora:
    """A table of sizes. `gigabytes` has a number for each language code, or for each pair as `en-fr`, as printed.

    `source` says where the text is from and `licence` on which terms, as far as the paper or the source say so.
    """

    table: int
    name: str
    title: str
    source: str
    licence: str
    note: str
    gigabytes: Mapping[str, float]


def corpora(paper: str) -> dict[str, Corpora]:
    """The tables of a paper that list corpora, by the name of what is listed; none if the paper has no such table."""
    content = json.loads((FOLDER / f"{paper}.json").read_text(encoding="utf-8"))
    return {table["name"]: Corpora(**table) for table in content.get("corpora", [])}

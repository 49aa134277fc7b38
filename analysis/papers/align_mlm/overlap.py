"""The languages of a study that differ from their source in how much they share with it, and how much that is."""

from __future__ import annotations

from dataclasses import dataclass

from analysis.records.record import SHARING
from analysis.report.style import LOOKS
from analysis.results.measured import mean
from analysis.results.results import Results
from analysis.statistics.intervals import Estimate

NEW = "a new script"
KINDS = {
    ("Transliterate", "uniform"): "any types",
    ("Transliterate", "most-frequent"): "frequent types",
    ("Transliterate", "least-frequent"): "rare types",
    ("Transliterate", "function"): "function words",
    ("Transliterate", "names"): "names",
    ("Transliterate", "content"): "content words",
    ("Cognates", "uniform"): "stems",
}
LOOK = dict(zip((NEW, *KINDS.values()), LOOKS, strict=False))
"""Colour and marker of what is shared."""


@dataclass(frozen=True)
class Sharer:
    """A language, what it shares with its source, and the shares of types, of sub-words of its text, and of words."""

    language: str
    kind: str
    types: Estimate
    tokens: Estimate
    words: Estimate


def sharers(results: Results) -> list[Sharer]:
    """The languages that differ in nothing but what is shared, the least first; as far as that was measured."""
    made = []
    for language in results.transforms:
        parts = results.transform(language).parts
        if len(parts) != 1 or parts[0]["kind"] not in {kind for kind, _ in KINDS}:
            continue
        of_objectives = [
            [mean(results.scores(SHARING, objective, language, "", metric)) for metric in ("types", "tokens", "words")]
            for objective in results.objectives
        ]
        types, tokens, words = next((found for found in of_objectives if all(found)), (None, None, None))
        if types and tokens and words:
            kind = KINDS[parts[0]["kind"], parts[0].get("by", "uniform")] if tokens.mean else NEW
            made.append(Sharer(language, kind, types, tokens, words))
    return sorted(made, key=lambda sharer: sharer.tokens.mean)

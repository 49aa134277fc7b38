"""What a run on natural languages would read: text and bitexts of known sizes, in ids, epochs and bytes on the disk.

Ids are bytes by bytes an id of XLM-R's vocabulary, which token_sizes.json has for some languages. Another language has
the mean of the measured ones of its script, or, if there is none, that of the scripts whose letters take as many bytes.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import zip_longest
from pathlib import Path
from statistics import mean
from typing import Literal, NamedTuple

from pretrain.mixture import Mixture

_TABLES = json.loads(Path(__file__).with_name("token_sizes.json").read_text(encoding="utf-8"))
MEASURED: dict[str, float] = _TABLES["bytes"]
"""Bytes an id, by language."""
LETTERS: dict[str, str] = _TABLES["letters"]
"""The languages of each script, by a letter of it."""
NOT_ALPHABETS = "あ한文"
"""Scripts whose signs are not single sounds: they say nothing about others."""
WORDS, LINES = 0.6, 1 / 30
"""Words and lines an id, in the text on which bytes an id were measured."""
PACKED = 4 + 4 * WORDS + 24 * LINES
"""Bytes that an id takes in a packed corpus (`derive.corpus`): its own, four a word, 24 a line."""
_SCRIPTS = {language: letter for letter, languages in LETTERS.items() for language in languages.split()}


class TokenSize(NamedTuple):
    """Bytes an id, and where they are from: the language itself, its script, or scripts with letters as wide."""

    bytes: float
    basis: Literal["measured", "script", "width"]


def token_size(language: str) -> TokenSize:
    """Bytes an id of text in a language, by its code.

    Raises:
        KeyError: the script of the language is not known here.
    """
    if language in MEASURED:
        return TokenSize(MEASURED[language], "measured")
    script = _SCRIPTS[language]
    if own := _measured(script):
        return TokenSize(mean(own), "script")
    others = [letter for letter in LETTERS if len(letter.encode()) == len(script.encode())]
    sizes = [_measured(letter) for letter in others if letter not in NOT_ALPHABETS]
    return TokenSize(mean(mean(size) for size in sizes if size), "width")


def _measured(script: str) -> list[float]:
    return [MEASURED[language] for language in LETTERS[script].split() if language in MEASURED]


@dataclass(frozen=True)
class Reading:
    """A text of `bytes`, estimated at `ids`, of which a run draws `drawn`, the share `share` of all that it draws."""

    name: str
    bytes: float
    ids: float
    share: float
    drawn: float

    @property
    def epochs(self) -> float:
        """How many times the whole text is read; infinite where there is a share, and no text."""
        return self.drawn / self.ids if self.ids else float("inf")


def by_size(sizes: Mapping[str, float], exponent: float) -> dict[str, float]:
    """Weights in proportion to size^exponent (XLM, section 3.1); a text without a byte has none."""
    return {name: size**exponent if size else 0.0 for name, size in sizes.items()}


def readings(
    sizes: Mapping[str, float], ids: Mapping[str, float], weights: Mapping[str, float], drawn: float
) -> list[Reading]:
    """What a run of `drawn` ids reads of texts of `sizes` bytes and `ids`, with shares in proportion to `weights`."""
    total = sum(weights.values())
    shares = {name: weight / total for name, weight in weights.items()}
    return [Reading(name, sizes[name], ids[name], share, drawn * share) for name, share in shares.items()]


@dataclass(frozen=True)
class TextSizes:
    """Bytes of text by language, and of bitexts by pair, both sides together; `source` tells them."""

    texts: Mapping[str, float]
    bitexts: Mapping[tuple[str, str], float]
    source: str

    def of(self, texts: Iterable[str], bitexts: Iterable[tuple[str, str]]) -> TextSizes:
        """The sizes of some languages and pairs, in their order."""
        return TextSizes(
            {name: self.texts[name] for name in texts}, {pair: self.bitexts[pair] for pair in bitexts}, self.source
        )


@dataclass(frozen=True)
class TextPlan:
    """A run that draws `ids` ids of texts and bitexts, as a mixture of as many languages says."""

    sizes: TextSizes
    ids: float
    mixture: Mixture

    @cached_property
    def pairs(self) -> float:
        """The part of them that is of bitexts."""
        if not self.sizes.bitexts:
            return 0.0
        if self.mixture.pairs is not None:
            return self.mixture.pairs
        texts, bitexts = sum(self._ids.values()), sum(self._ids_of_pairs.values())
        return bitexts / (texts + bitexts)

    @cached_property
    def texts(self) -> list[Reading]:
        """What is read of each language, on the average over all steps."""
        return readings(self._visible, self._ids, self._weights, self.ids * (1 - self.pairs))

    @cached_property
    def bitexts(self) -> list[Reading]:
        """What is read of each bitext; its sides are assumed to have the same number of ids."""
        exponent, sizes = self.mixture.bitext_exponent, {"-".join(pair): n for pair, n in self.sizes.bitexts.items()}
        weights = by_size(self._ids_of_pairs, 1.0 if exponent is None else exponent)
        return readings(sizes, self._ids_of_pairs, weights, self.ids * self.pairs)

    @property
    def _visible(self) -> dict[str, float]:
        """Bytes of each language's text that may be read."""
        parts = self.mixture.text or [1.0] * len(self.sizes.texts)
        return {name: size * part for (name, size), part in zip(self.sizes.texts.items(), parts, strict=True)}

    @cached_property
    def _ids(self) -> dict[str, float]:
        return {name: size / token_size(name).bytes for name, size in self._visible.items()}

    @cached_property
    def _ids_of_pairs(self) -> dict[str, float]:
        each = {pair: mean(token_size(name).bytes for name in pair) for pair in self.sizes.bitexts}
        return {"-".join(pair): size / each[pair] for pair, size in self.sizes.bitexts.items()}

    @property
    def _weights(self) -> dict[str, float]:
        """The share of each language in all steps."""
        if self.mixture.phases:
            return dict(zip(self.sizes.texts, self.mixture.averages, strict=True))
        return by_size(self._ids, 1.0 if self.mixture.exponent is None else self.mixture.exponent)

    def packed(self, all_of_it: bool) -> float:
        """Bytes of all corpora on the disk: of all text, or of as much of each language as is drawn once."""
        ids = sum(text.ids if all_of_it else min(text.ids, text.drawn) for text in self.texts)
        return PACKED * (ids + sum(bitext.ids for bitext in self.bitexts))


def describe_text(plan: TextPlan) -> str:
    """The plan as text: sizes, how ids were estimated, what is drawn, a table of languages and one of bitexts."""
    bases, mixture = Counter(token_size(name).basis for name in plan.sizes.texts), plan.mixture
    return f"""\
text ({plan.sizes.source}): {_total(plan.texts)} in {len(plan.texts)} languages; \
{_total(plan.bitexts)} in {len(plan.bitexts)} bitexts
ids are estimated by bytes an id: of {bases["measured"]} languages measured, of {bases["script"]} that of their \
script, of {bases["width"]} that of scripts with letters as wide
drawn: {plan.ids / 1e9:,.1f} G ids, {plan.pairs:.0%} of them of bitexts; shares of languages \
{"as the study says" if mixture.phases else _rule(mixture.exponent)}, of bitexts {_rule(mixture.bitext_exponent)}
disk: {plan.packed(True) / 1e12:,.2f} TB for all of it as ids, {plan.packed(False) / 1e12:,.2f} TB for as much of each \
language as is drawn

{_table(plan.texts)}

{_table(plan.bitexts)}
"""


def _rule(exponent: float | None) -> str:
    return f"by ids to the power {1.0 if exponent is None else exponent:g}"


def _total(texts: list[Reading]) -> str:
    return (
        f"{sum(text.bytes for text in texts) / 1e9:,.1f} GB, about {sum(text.ids for text in texts) / 1e9:,.1f} G ids,"
    )


def _table(texts: list[Reading]) -> str:
    """Texts in three columns, down the first one first: name, GB, millions of ids, share, epochs."""
    head = f"{'':<5} {'GB':>7} {'M ids':>9} {'share':>6} {'epochs':>6}"
    cells = [
        f"{text.name:<5} {text.bytes / 1e9:>7,.2f} {text.ids / 1e6:>9,.1f} {text.share:>6.2%} {text.epochs:>6.2f}"
        for text in texts
    ]
    rows = -(-len(cells) // 3)
    columns = [[head, *cells[i : i + rows]] for i in range(0, len(cells), rows)]
    return "\n".join("   ".join(row).rstrip() for row in zip_longest(*columns, fillvalue=""))

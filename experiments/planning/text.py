"""What a run on natural languages would read: text and bitexts of known sizes, in ids, epochs and bytes on the disk."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import zip_longest
from statistics import mean

from experiments.planning.reading import Reading, by_size, exponent_of, readings
from experiments.planning.token_sizes import token_size
from pretrain.mixture import Mixture

WORDS, LINES = 0.6, 1 / 30
"""Words and lines an id, in the text on which bytes an id were measured."""
PACKED = 4 + 4 * WORDS + 24 * LINES
"""Bytes that an id takes in a packed corpus (`derive.corpus`): its own, four a word, 24 a line."""


@dataclass(frozen=True)
class TextSizes:
    """Bytes of text by language, and of bitexts by pair, both sides together; `source` tells them."""

    texts: Mapping[str, float]
    bitexts: Mapping[tuple[str, str], float]
    source: str

    def of(self, texts: Iterable[str], bitexts: Iterable[tuple[str, str]]) -> TextSizes:
        """Those of some languages and pairs, in their order."""
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
        """What is read of each bitext; its sides are taken to have as many ids."""
        exponent, sizes = self.mixture.bitext_exponent, {"-".join(pair): n for pair, n in self.sizes.bitexts.items()}
        weights = by_size(self._ids_of_pairs, 1.0 if exponent is None else exponent)
        return readings(sizes, self._ids_of_pairs, weights, self.ids * self.pairs)

    @property
    def _visible(self) -> dict[str, float]:
        """Bytes of what may be read of each language."""
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
        if not self.mixture.phases:
            return by_size(self._ids, 1.0 if self.mixture.exponent is None else self.mixture.exponent)
        weights, begin = dict.fromkeys(self.sizes.texts, 0.0), 0.0
        for phase in self.mixture.phases:
            for name, share in zip(weights, phase.shares, strict=True):
                weights[name] += (phase.until - begin) * share / sum(phase.shares)
            begin = phase.until
        return weights

    def packed(self, all_of_it: bool) -> float:
        """Bytes of all corpora on the disk: of all text, or of as much of each language as is drawn once."""
        ids = sum(text.ids if all_of_it else min(text.ids, text.drawn) for text in self.texts)
        return PACKED * (ids + sum(bitext.ids for bitext in self.bitexts))


def describe_text(plan: TextPlan) -> str:
    """The plan as text: sizes, how ids were estimated, what is drawn, a table of languages and one of bitexts."""
    bases = Counter(token_size(name).basis for name in plan.sizes.texts)
    return f"""\
text ({plan.sizes.source}): {_total(plan.texts)} in {len(plan.texts)} languages; \
{_total(plan.bitexts)} in {len(plan.bitexts)} bitexts
ids are estimated by bytes an id: of {bases["measured"]} languages measured, of {bases["script"]} that of their \
script, of {bases["width"]} that of scripts with letters as wide
drawn: {plan.ids / 1e9:,.1f} G ids, {plan.pairs:.0%} of them of bitexts; shares of languages {_drawn(plan.texts)}, of \
bitexts {_drawn(plan.bitexts)}
disk: {plan.packed(True) / 1e12:,.2f} TB for all of it as ids, {plan.packed(False) / 1e12:,.2f} TB for as much of each \
language as is drawn

{_table(plan.texts)}

{_table(plan.bitexts)}
"""


def _drawn(texts: list[Reading]) -> str:
    """By what rule shares were made, where they say it."""
    shares = [text.share for text in texts]
    for unit, sizes in (("bytes", [text.bytes for text in texts]), ("ids", [text.ids for text in texts])):
        if (power := exponent_of(sizes, shares)) is not None:
            return f"by {unit} to the power {round(power, 3):g}"
    return "as the study says"


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

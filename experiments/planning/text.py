"""What a run on natural languages would read: text and bitexts of known sizes, in ids, epochs and bytes on the disk."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import zip_longest
from statistics import mean

from experiments.planning.reading import Reading, readings
from experiments.planning.token_sizes import token_size

WORDS, LINES = 0.6, 1 / 30
"""Words and lines an id, in the text on which bytes an id were measured."""
PACKED = 4 + 4 * WORDS + 24 * LINES
"""Bytes that an id takes in a packed corpus (`derive.corpus`): its own, four a word, 24 a line."""


@dataclass(frozen=True)
class TextSizes:
    """Bytes of text by language, and of bitexts by pair, as `en-fr`, both sides together; `source` says who tells them.

    Each is drawn with a share of its bytes to the power `exponent`.
    """

    texts: Mapping[str, float]
    bitexts: Mapping[str, float]
    source: str
    exponent: float


@dataclass(frozen=True)
class TextPlan:
    """A run that draws `ids` ids, the part `pairs` of them from bitexts."""

    sizes: TextSizes
    ids: float
    pairs: float

    @cached_property
    def texts(self) -> list[Reading]:
        """What is read of each language."""
        bytes_an_id = {name: token_size(name).bytes for name in self.sizes.texts}
        return readings(self.sizes.texts, bytes_an_id, self.sizes.exponent, self.ids * (1 - self.pairs))

    @cached_property
    def bitexts(self) -> list[Reading]:
        """What is read of each bitext; its sides are taken to have as many ids."""
        each = {pair: mean(token_size(name).bytes for name in pair.split("-")) for pair in self.sizes.bitexts}
        return readings(self.sizes.bitexts, each, self.sizes.exponent, self.ids * self.pairs)

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
drawn: {plan.ids / 1e9:,.1f} G ids, {plan.pairs:.0%} of them of bitexts; shares by size to the power \
{plan.sizes.exponent:g}
disk: {plan.packed(True) / 1e12:,.2f} TB for all of it as ids, {plan.packed(False) / 1e12:,.2f} TB for as much of each \
language as is drawn

{_table(plan.texts)}

{_table(plan.bitexts)}
"""


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

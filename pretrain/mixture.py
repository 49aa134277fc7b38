"""Mixtures of languages: each language's share of a model's training data."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, ClassVar

from calque.derive.errors import BadInput
from calque.derive.fingerprint import ADDED, plain
from calque.derive.languages import Languages, all_but_last, disjoint_halves
from calque.pretrain.shuffle import Mixed, Order, Part, Together, share_rows


@dataclass(frozen=True)
class Mixture:
    """How much of each language a model reads. By default, all rows are read in one shuffled order.

    shares: each language's proportion of every step's text rows.
    exponent: without `shares`, languages are read in proportion to their numbers of rows, raised to this
        power (XLM-Align: 0.7).
    held_out: the last fraction of each corpus, which is never read, not even in bitexts.
    bitext_exponent: like `exponent`, but for bitexts; None: all pairs are read in one shuffled order.
    pairs: the fraction of each step's rows that comes from bitexts; None: proportional to their number of
        rows.
    disjoint: whether one half of the distinct sentences, the same for every seed, is read only in the source,
        the other half only in derived languages, and no bitexts are read.
    """

    shares: tuple[float, ...] = field(default=(), metadata=ADDED)
    exponent: float | None = None
    held_out: float = 0.0
    bitext_exponent: float | None = None
    pairs: float | None = field(default=None, metadata=ADDED)
    disjoint: bool = field(default=False, metadata=ADDED)

    former_fields: ClassVar[Mapping[str, Any]] = MappingProxyType(
        {"phases": (), "text": (), "bitexts": None, "dictionaries": None}
    )

    @property
    def name(self) -> str:
        """The name used in folder names: `90-10`, `sizes-0.7-pairs-50`, `together-disjoint`."""
        shares = "together" if self.exponent is None else f"sizes-{self.exponent:g}"
        pairs = "" if self.pairs is None else f"-pairs-{100 * self.pairs:g}"
        return ("-".join(self._percents) or shares) + pairs + ("-disjoint" if self.disjoint else "")

    @property
    def title(self) -> str:
        """The name used in reports: `90/10`."""
        shares = "all in one order" if self.exponent is None else f"by size to the power {self.exponent:g}"
        pairs = "" if self.pairs is None else f", {100 * self.pairs:g} % of the rows pairs"
        return ("/".join(self._percents) or shares) + pairs + (", disjoint halves" if self.disjoint else "")

    @property
    def _percents(self) -> list[str]:
        total = sum(self.shares) or 1
        return [f"{100 * share / total:.4g}" for share in self.shares]

    @property
    def facets(self) -> tuple[dict[str, Any], ...]:
        """The parameters as plain JSON values, for records."""
        return (plain(self),)

    def mistakes(self, languages: int) -> list[str]:
        """Return messages about values that are invalid for this number of languages."""
        wrong = []
        if self.shares and len(self.shares) != languages:
            wrong.append(f"shares for {len(self.shares)} languages in a model of {languages}")
        if not all(math.isfinite(share) and share > 0 for share in self.shares):
            wrong.append(f"shares must be positive, not {', '.join(map(str, self.shares))}")
        if self.shares and self.exponent is not None:
            wrong.append("set shares or exponent, not both")
        for name in ("exponent", "bitext_exponent"):
            value = getattr(self, name)
            if value is not None and not 0 <= value <= 10:
                wrong.append(f"{name} must be between 0 and 10, not {value}")
        if not 0 <= self.held_out < 1:
            wrong.append(f"held_out must be at least 0 and below 1, not {self.held_out}")
        if self.pairs is not None and not 0 < self.pairs < 1:
            wrong.append(f"pairs must be between 0 and 1, not {self.pairs}")
        return wrong

    def of(self, languages: Languages) -> Languages:
        """Return the languages without held-out text."""
        if wrong := self.mistakes(len(languages.languages)):
            raise BadInput(wrong)
        return all_but_last(languages, self.held_out)

    def read(self, languages: Languages) -> Languages:
        """Return the languages restricted to the text that a model reads; measures may use all that `of`
        returns."""
        languages = self.of(languages)
        return disjoint_halves(languages) if self.disjoint else languages

    def order(self, parts: Mapping[Part, int], instances: int, *seed: int) -> Order:
        """Return the reading order of a stream's instances, given each part's number of instances."""
        shares: Sequence[float] = () if of_pairs(parts) else self.shares
        exponent = self.bitext_exponent if of_pairs(parts) else self.exponent
        if exponent is not None:
            shares = [size**exponent for size in parts.values()]
        return Mixed(parts, shares, *seed) if parts and shares else Together(parts, instances, *seed)

    def rows(self, batch: int, sizes: Sequence[int], paired: Sequence[bool]) -> list[int]:
        """Divide a step's `batch` rows among streams by size and, unless the objective reads only pairs, by
        `pairs`; `paired` marks streams of sentence pairs."""
        if self.pairs is None or all(paired):
            return share_rows(batch, sizes)
        setting = f"pairs = {self.pairs:g} of the rows"
        if batch < 2:
            raise BadInput(f"{setting}, but a step has only one row; use a batch of at least two")
        of_bitexts = [size if is_paired else 0 for size, is_paired in zip(sizes, paired, strict=True)]
        of_text = [0 if is_paired else size for size, is_paired in zip(sizes, paired, strict=True)]
        for what, own in (("bitext", of_bitexts), ("text", of_text)):
            if not any(own):
                raise BadInput(f"{setting}, but the objective does not read {what}")
        pairs = min(batch - 1, max(1, round(batch * self.pairs)))
        both = zip(share_rows(pairs, of_bitexts), share_rows(batch - pairs, of_text), strict=True)
        return [max(rows) for rows in both]


ALL_TOGETHER = Mixture()


def of_pairs(parts: Mapping[Part, int]) -> bool:
    """Whether a stream's instances are sentence pairs."""
    return any(len(part) > 1 for part in parts)

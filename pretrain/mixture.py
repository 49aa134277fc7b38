"""Mixtures: the share of each language in a model's training data over time."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from calque.derive.errors import BadInput, shown, unknown
from calque.derive.fingerprint import ADDED, plain
from calque.derive.forms import NUMBER, fraction
from calque.derive.languages import Languages, all_but_last, disjoint_halves
from calque.pretrain.order import Mixed, Order, Part, Together, in_units, share_rows

CHOICE = 0  # the seed for choosing the rows to read, so that runs with different seeds read the same text


@dataclass(frozen=True)
class Phase:
    """Shares of a step's rows, one per language in the order of the model, until the fraction `until` of all steps.
    Only their proportions count: 9 and 1 are 0.9 and 0.1."""

    shares: tuple[float, ...]
    until: float = 1.0


@dataclass(frozen=True)
class Mixture:
    """The amount of each language that a model reads. Default: all rows in one shuffled order.

    phases: the shares of each language in every step, in chronological order.
    exponent: without phases, shares in proportion to a language's rows to this power (XLM-Align: 0.7).
    text: the fraction of each language's rows that is read, the same rows for every seed; empty: all.
    held_out: the fraction of each corpus's sentences, the last ones, that is never read, not even in bitexts.
    bitexts, dictionaries: the pairs of languages with bitexts and dictionaries; None: as in `Languages`.
    bitext_exponent: shares of bitexts in proportion to their rows to this power; None: all in one shuffled order.
    pairs: the fraction of each step's rows that comes from bitexts; None: in proportion to their number of rows.
    disjoint: whether the source is read in one half of the distinct sentences and derived languages in the other, the
        same halves for every seed. There are then no bitexts.
    """

    phases: tuple[Phase, ...] = ()
    exponent: float | None = None
    text: tuple[float, ...] = ()
    held_out: float = 0.0
    bitexts: tuple[tuple[str, str], ...] | None = None
    bitext_exponent: float | None = None
    dictionaries: tuple[tuple[str, str], ...] | None = None
    pairs: float | None = field(default=None, metadata=ADDED)
    disjoint: bool = field(default=False, metadata=ADDED)

    @property
    def name(self) -> str:
        """For folders: `90-10`, `10-90-until-50-then-90-10`, `sizes-0.7`, `90-10-of-100-25`, `together`."""
        shares = self._shares("-", "-until-{:g}", "-then-", "sizes-{:g}") or "together"
        text = f"-of-{'-'.join(f'{100 * part:g}' for part in self.text)}" if self.text else ""
        pairs = "" if self.pairs is None else f"-pairs-{100 * self.pairs:g}"
        return shares + text + pairs + ("-disjoint" if self.disjoint else "")

    @property
    def title(self) -> str:
        """For people: `90/10`."""
        shares = self._shares("/", " until {:g} % of the steps", ", then ", "by size to the power {:g}")
        text = f", of {'/'.join(f'{100 * part:g}' for part in self.text)} % of the text" if self.text else ""
        pairs = "" if self.pairs is None else f", {100 * self.pairs:g} % of the rows pairs"
        return (shares or "all in one order") + text + pairs + (", disjoint halves" if self.disjoint else "")

    def _shares(self, between: str, until: str, then: str, by_size: str) -> str:
        """The shares of each phase in percent and, except for the last, its end in percent of the steps."""
        if self.exponent is not None:
            return by_size.format(self.exponent)
        texts = []
        for phase in self.phases:
            total = sum(phase.shares)
            shares = between.join(f"{total and 100 * share / total:.4g}" for share in phase.shares)
            texts.append(shares + ("" if phase is self.phases[-1] else until.format(100 * phase.until)))
        return then.join(texts)

    @property
    def facets(self) -> tuple[dict[str, Any], ...]:
        return (plain(self),)

    @property
    def languages(self) -> int | None:
        """The number of languages, if the mixture determines it."""
        return next((len(shares) for shares in (*(phase.shares for phase in self.phases), self.text) if shares), None)

    @property
    def averages(self) -> list[float]:
        """Each language's fraction of all rows, by the phases."""
        start, parts = 0.0, []
        for phase in self.phases:
            parts.append([(phase.until - start) * share / sum(phase.shares) for share in phase.shares])
            start = phase.until
        return list(map(sum, zip(*parts, strict=True)))

    def mistakes(self, languages: int) -> list[str]:
        """Messages about all values that are invalid for a model of this number of languages."""
        wrong = []
        for phase in self.phases:
            if len(phase.shares) != languages:
                wrong.append(f"shares of {len(phase.shares)} languages in a model of {languages}")
            if not all(math.isfinite(share) and share >= 0 for share in phase.shares) or not sum(phase.shares):
                wrong.append(f"shares are 0 or more and not all 0, not {', '.join(map(str, phase.shares))}")
        if not wrong and self.phases and not all(map(max, zip(*(phase.shares for phase in self.phases), strict=True))):
            wrong.append("a language with a share of 0 throughout; leave it out of the model")
        ends = [phase.until for phase in self.phases]
        if ends and (ends != sorted(set(ends)) or not ends[0] > 0 or ends[-1] != 1):
            wrong.append(f"phases end at ascending fractions of the steps, the last at 1, not {ends}")
        if self.phases and self.exponent is not None:
            wrong.append("shares come from phases or from exponent, not both")
        for name in ("exponent", "bitext_exponent"):
            value = getattr(self, name)
            if value is not None and not 0 <= value <= 10:
                wrong.append(f"{name} is between 0 and 10, not {value}")
        if self.text and len(self.text) != languages:
            wrong.append(f"text of {len(self.text)} languages in a model of {languages}")
        if not all(0 < part <= 1 for part in self.text):
            wrong.append(f"text holds fractions above 0 and at most 1, not {', '.join(map(str, self.text))}")
        if not 0 <= self.held_out < 1:
            wrong.append(f"held_out is a fraction below 1, not {self.held_out}")
        if self.pairs is not None and not 0 < self.pairs < 1:
            wrong.append(f"pairs is a fraction between 0 and 1, not {self.pairs}")
        for name in ("bitexts", "dictionaries"):
            pairs = getattr(self, name) or ()
            if any(a == b for a, b in pairs) or len({frozenset(pair) for pair in pairs}) < len(pairs):
                wrong.append(f"{name} are between two languages, each pair once")
        return wrong

    def of(self, languages: Languages) -> Languages:
        """The languages as a model reads them: without held-out text, with this mixture's bitexts and dictionaries."""
        if wrong := self.mistakes(len(languages.languages)):
            raise BadInput(wrong)
        names = [language.name for language in languages.languages]
        wanted = {name for pairs in (self.bitexts, self.dictionaries) for pair in pairs or () for name in pair}
        if others := wanted - set(names):
            raise BadInput(f"no language {min(others)} in the model; there are {', '.join(names)}")
        if self.bitexts is not None:
            languages = replace(languages, pairs=self.bitexts)
        if self.dictionaries is not None:
            languages = replace(languages, dictionaries=self.dictionaries)
        return all_but_last(languages, self.held_out)

    def read(self, languages: Languages) -> Languages:
        """The languages with the text that a model reads. Measures may use all text, from `of`."""
        languages = self.of(languages)
        return disjoint_halves(languages) if self.disjoint else languages

    def order(self, parts: Mapping[Part, int], instances: int, steps: int, *seed: int) -> Order:
        """The order of a stream's instances; `parts` has the number of each part, which are numbered consecutively."""
        pairs = of_pairs(parts)
        exponent, phases = (self.bitext_exponent, ()) if pairs else (self.exponent, self.phases)
        text = () if pairs else self.text
        if not parts or (exponent is None and not phases and not text):
            return Together(parts, instances, *seed)
        allowed = _allowed(parts, text or [1.0] * len(parts))
        if phases:
            firsts = [0, *(round(phase.until * steps) for phase in phases[:-1])]
            proportions: list[Sequence[float]] = [phase.shares for phase in phases]
        else:
            power = 1.0 if exponent is None else exponent
            firsts, proportions = [0], [[len(rows) ** power for rows in allowed.values()]]
        return Mixed(allowed, firsts, np.stack(list(map(in_units, proportions))), *seed)

    def rows(self, batch: int, sizes: Sequence[int], paired: Sequence[bool]) -> list[int]:
        """The number of rows of each stream in a step of `batch` rows, by its size and by whether it is `paired`.
        `pairs` has no effect on an objective that reads only pairs."""
        if self.pairs is None or all(paired):
            return share_rows(batch, sizes)
        if batch < 2:
            raise BadInput(f"pairs = {self.pairs:g} of the rows, but a step has one; expected a batch of two or more")
        of_pairs = min(batch - 1, max(1, round(batch * self.pairs)))
        divided = []
        for kind, what, rows in ((True, "bitext", of_pairs), (False, "text", batch - of_pairs)):
            own = [size if pairs is kind else 0 for size, pairs in zip(sizes, paired, strict=True)]
            if not any(own):
                raise BadInput(f"pairs = {self.pairs:g} of the rows, but the objective reads no {what}")
            divided.append(share_rows(rows, own))
        return list(map(sum, zip(*divided, strict=True)))


ALL_TOGETHER = Mixture()
EXAMPLES = (
    "50-50 (half of every step each)",
    "90-10",
    "10-90-until-50-then-90-10 (until half of the steps)",
    "sizes-0.7 (in proportion to size to that power)",
    "90-10-of-100-25 (from all of one language's text and a quarter of the other's)",
    "together (all text in one shuffled order)",
    "sizes-0.7-pairs-50 (half of the rows from bitexts)",
    "together-disjoint (no sentence is read both in the source and in a derived language)",
)
ROUNDED = 0.005  # tolerance for the sum of shares rounded to whole percents
SHARES = rf"{NUMBER}(?:-{NUMBER})*"
NAME = re.compile(
    rf"(?:(?P<shares>{SHARES}(?:-until-{NUMBER}-then-{SHARES})*)|sizes-(?P<exponent>{NUMBER})|together)"
    rf"(?:-of-(?P<text>{SHARES}))?(?:-pairs-(?P<pairs>{NUMBER}))?(?P<disjoint>-disjoint)?"
)


def parse(name: str) -> Mixture:
    """The mixture with a name: shares in percent of each language, the source first, for each phase."""
    if not (matched := NAME.fullmatch(name)):
        raise BadInput(unknown("mixture", name, (example.split()[0] for example in EXAMPLES), EXAMPLES))
    try:
        return Mixture(
            phases=tuple(map(_phase, matched["shares"].split("-then-"))) if matched["shares"] else (),
            exponent=float(matched["exponent"]) if matched["exponent"] else None,
            text=_fractions(matched["text"]) if matched["text"] else (),
            pairs=fraction(matched["pairs"]) if matched["pairs"] else None,
            disjoint=bool(matched["disjoint"]),
        )
    except ValueError as error:
        raise BadInput(f"mixture {shown(name)}: {error}") from error


def _phase(text: str) -> Phase:
    shares, _, until = text.partition("-until-")
    if "-" in shares and abs(sum(_fractions(shares)) - 1) > ROUNDED:
        raise ValueError(f"{shares}: shares in percent sum to 100, not {100 * sum(_fractions(shares)):g}")
    return Phase(_fractions(shares), fraction(until) if until else 1.0)


def _fractions(percents: str) -> tuple[float, ...]:
    return tuple(map(fraction, percents.split("-")))


def of_pairs(parts: Mapping[Part, int]) -> bool:
    """Whether a stream's instances are pairs of sentences."""
    return any(len(part) > 1 for part in parts)


def shares(*parts: float) -> Mixture:
    """The mixture of these shares, one per language, throughout training."""
    return Mixture((Phase(parts),))


def _allowed(parts: Mapping[Part, int], text: Sequence[float]) -> dict[Part, np.ndarray]:
    """The readable instances of each part, ascending."""
    allowed, first = {}, 0
    for (part, size), share in zip(parts.items(), text, strict=True):
        own = np.arange(size)
        if share < 1:
            own = np.sort(np.random.default_rng([CHOICE, size]).permutation(size)[: round(share * size)])
        if not len(own):
            raise BadInput(f"{'-'.join(part)}: {share:g} of {size:,} rows is less than one row")
        allowed[part] = first + own
        first += size
    return allowed

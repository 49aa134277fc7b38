"""What a model of several languages reads of each, and when.

Parts are languages, for text, and pairs of them, for bitexts.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from derive.errors import BadInput
from derive.files import ADDED, plain
from derive.languages import Languages, all_but_last
from pretrain.apportion import Stretch, in_units
from pretrain.order import Mixed, Order, Part, Together, share_rows

CHOICE = 0
"""Which rows may be read does not depend on a run's seed: runs of several seeds read the same text."""


@dataclass(frozen=True)
class Phase:
    """Shares of a step's rows, one a language in the order of the model, until the fraction `until` of all steps.

    Only their proportions count: 9 and 1 are 0.9 and 0.1.
    """

    shares: tuple[float, ...]
    until: float = 1.0


@dataclass(frozen=True)
class Mixture:
    """How much of each language a model reads. The default: the rows of all in one shuffled order.

    phases: the shares of each language in every step, in the order in which they follow one another.
    exponent: without phases, shares in proportion to a language's rows to this power (XLM-Align: 0.7). 1 is what the
        default has on the average; 0 gives each language as much.
    text: the fraction of its rows that may be read of each language; the same rows whatever the seed, and a smaller
        fraction's are among a larger one's. Empty: all of all.
    held_out: the fraction of each corpus's sentences, the last ones, that is not read at all, not in bitexts either.
    bitexts, dictionaries: between which languages; None: as `Languages` has them.
    bitext_exponent: shares of bitexts in proportion to their rows to this power; None: all in one shuffled order.
    pairs: the fraction of each step's rows that is of bitexts, the rest being of text; None: in proportion to how many
        rows there are of each, which leaves next to none to small bitexts beside large texts.
    """

    phases: tuple[Phase, ...] = ()
    exponent: float | None = None
    text: tuple[float, ...] = ()
    held_out: float = 0.0
    bitexts: tuple[tuple[str, str], ...] | None = None
    bitext_exponent: float | None = None
    dictionaries: tuple[tuple[str, str], ...] | None = None
    pairs: float | None = field(default=None, metadata=ADDED)

    @property
    def name(self) -> str:
        """For folders: `90-10`, `10-90-until-50-then-90-10`, `sizes-0.7`, `90-10-of-100-25`, `together`."""
        said = "-then-".join(
            _percents(phase.shares) + (f"-until-{100 * phase.until:g}" if phase is not self.phases[-1] else "")
            for phase in self.phases
        )
        if self.exponent is not None:
            said = f"sizes-{self.exponent:g}"
        of = f"-of-{'-'.join(f'{100 * part:g}' for part in self.text)}" if self.text else ""
        return (said or "together") + of + ("" if self.pairs is None else f"-pairs-{100 * self.pairs:g}")

    @property
    def title(self) -> str:
        """For people: `90/10`."""
        said = ", then ".join(
            _percents(phase.shares).replace("-", "/")
            + (f" until {100 * phase.until:g} % of the steps" if phase is not self.phases[-1] else "")
            for phase in self.phases
        )
        if self.exponent is not None:
            said = f"by size to the power {self.exponent:g}"
        of = f", of {'/'.join(f'{100 * part:g}' for part in self.text)} % of the text" if self.text else ""
        pairs = "" if self.pairs is None else f", {100 * self.pairs:g} % of the rows pairs"
        return (said or "all in one order") + of + pairs

    @property
    def facets(self) -> tuple[dict[str, Any], ...]:
        """What it is made of, as records keep it."""
        return (plain(self),)

    @property
    def languages(self) -> int | None:
        """How many languages it is of, as far as it says so."""
        return next((len(shares) for shares in (*(phase.shares for phase in self.phases), self.text) if shares), None)

    @property
    def least(self) -> float:
        """The fraction of all rows that the language with the fewest has, where phases say it; else 1."""
        begun, parts = 0.0, []
        for phase in self.phases:
            parts.append([(phase.until - begun) * share / sum(phase.shares) for share in phase.shares])
            begun = phase.until
        return min(map(sum, zip(*parts, strict=True)), default=1.0)

    def mistakes(self, languages: int) -> list[str]:
        """Everything that is wrong with these values for a model of so many languages, in words."""
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
            wrong.append("shares are given or follow from sizes: phases or exponent, not both")
        for name in ("exponent", "bitext_exponent"):
            value = getattr(self, name)
            if value is not None and not 0 <= value <= 10:
                wrong.append(f"{name} is from 0 to 10, not {value}")
        if self.text and len(self.text) != languages:
            wrong.append(f"text of {len(self.text)} languages in a model of {languages}")
        if not all(0 < part <= 1 for part in self.text):
            wrong.append(f"text are fractions above 0 and up to 1, not {', '.join(map(str, self.text))}")
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
        """What a model is shown of the languages: no held-out text, and the bitexts and dictionaries that it is told.

        Raises:
            BadInput: these values do not fit so many languages, or name others.
        """
        if wrong := self.mistakes(len(languages.languages)):
            raise BadInput("; ".join(wrong))
        names = [language.name for language in languages.languages]
        unknown = {name for pairs in (self.bitexts, self.dictionaries) for pair in pairs or () for name in pair}
        if unknown := unknown - set(names):
            raise BadInput(f"no language {min(unknown)} in the model; there are {', '.join(names)}")
        if self.bitexts is not None:
            languages = replace(languages, pairs=self.bitexts)
        if self.dictionaries is not None:
            languages = replace(languages, dictionaries=self.dictionaries)
        return all_but_last(languages, self.held_out)

    def order(self, parts: Mapping[Part, int], instances: int, steps: int, *seed: int) -> Order:
        """The order of a stream's instances, `parts` having so many each, numbered one part after the other.

        Raises:
            BadInput: of a language no row may be read.
        """
        pairs = of_pairs(parts)
        exponent, phases = (self.bitext_exponent, ()) if pairs else (self.exponent, self.phases)
        text = () if pairs else self.text
        if not parts or (exponent is None and not phases and not text):
            return Together(parts, instances, *seed)
        allowed = _allowed(parts, text or [1.0] * len(parts))
        if phases:
            firsts = [0, *(round(phase.until * steps) for phase in phases[:-1])]
            each = [Stretch(first, in_units(phase.shares)) for first, phase in zip(firsts, phases, strict=True)]
        else:
            power = 1.0 if exponent is None else exponent
            each = [Stretch(0, in_units([len(rows) ** power for rows in allowed.values()]))]
        return Mixed(allowed, each, *seed)

    def rows(self, batch: int, sizes: Sequence[int], paired: Sequence[bool]) -> list[int]:
        """The rows of a step of `batch` that each stream has, by its size and by whether it is of pairs.

        An objective that reads pairs alone has no others, whatever the part of pairs is for those that read text too.

        Raises:
            BadInput: a part of the rows is to be of pairs, and no stream is; or there is one row.
        """
        if self.pairs is None or all(paired):
            return share_rows(batch, sizes)
        if batch < 2:
            raise BadInput(f"pairs = {self.pairs:g} of the rows, and a step has one; expected a batch of two or more")
        made = [0] * len(sizes)
        of = {True: min(batch - 1, max(1, round(batch * self.pairs)))}
        of[False] = batch - of[True]
        for kind, rows in of.items():
            streams = [i for i, (size, pairs) in enumerate(zip(sizes, paired, strict=True)) if size and pairs is kind]
            if not streams:
                raise BadInput(
                    f"pairs = {self.pairs:g} of the rows, and the objective reads no {'bitext' if kind else 'text'}"
                )
            for i, share in zip(streams, share_rows(rows, [sizes[i] for i in streams]), strict=True):
                made[i] = share
        return made


ALL_TOGETHER = Mixture()


def of_pairs(parts: Mapping[Part, int]) -> bool:
    """Whether a stream's instances are of pairs of languages."""
    return any(len(part) > 1 for part in parts)


def shares(*parts: float) -> Mixture:
    """The same shares at every step."""
    return Mixture((Phase(parts),))


def _allowed(parts: Mapping[Part, int], text: Sequence[float]) -> dict[Part, np.ndarray]:
    """The instances of each part that may be shown, ascending."""
    allowed, first = {}, 0
    for (part, size), fraction in zip(parts.items(), text, strict=True):
        own = np.arange(size)
        if fraction < 1:
            own = np.sort(np.random.default_rng([CHOICE, size]).permutation(size)[: round(fraction * size)])
        if not len(own):
            raise BadInput(f"{'-'.join(part)}: {fraction:g} of {size:,} rows is no row")
        allowed[part] = first + own
        first += size
    return allowed


def _percents(parts: Sequence[float]) -> str:
    total = sum(parts) or 1.0
    return "-".join(f"{100 * part / total:.4g}" for part in parts)

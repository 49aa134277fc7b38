"""Settings of models and training, mixtures of languages, and the order of training instances."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, ClassVar, Literal

import numpy as np

from calque.derive.errors import BadInput
from calque.derive.fingerprint import ADDED, plain
from calque.derive.languages import Languages, disjoint_halves

WATCHED = ("log_every", "probe_every", "save_every", "kind")  # no settings of the trained model
Part = tuple[str, ...]  # the language or language pair that instances belong to
UNIT = 10**9  # shares are multiples of 1 / UNIT, so that sums are exact


def out_of_range(
    config: Any,
    positive: Sequence[str] = (),
    shares: Sequence[str] = (),
    fractions: Sequence[str] = (),
    **least: float,
) -> list[str]:
    """Return messages about numbers in a config that are not finite or out of range: `positive` fields must
    be above 0, `shares` in [0, 1), `fractions` in (0, 1], and others at least as given in `least`."""
    wrong = []
    for name, value in vars(config).items():
        numbers = [n for n in (value if isinstance(value, tuple) else [value]) if isinstance(n, int | float)]
        low, high, rule = min(numbers, default=0.5), max(numbers, default=0.5), ""
        if not all(map(math.isfinite, numbers)):
            rule = "finite"
        elif name in positive and low <= 0:
            rule = "positive"
        elif name in shares and not 0 <= low <= high < 1:
            rule = "at least 0 and below 1"
        elif name in fractions and not 0 < low <= high <= 1:
            rule = "above 0 and at most 1"
        elif name in least and low < least[name]:
            rule = f"at least {least[name]}"
        if rule and numbers:
            wrong.append(f"{name} must be {rule}, not {', '.join(map(str, numbers))}")
    return wrong


@dataclass(frozen=True)
class ModelConfig:
    """The shape of a RoBERTa model (ALIGN-MLM, table 10); rows have `length` ids."""

    layers: int = 8
    heads: int = 8
    hidden: int = 512
    ffn: int = 2048
    length: int = 512
    dropout: float = 0.1
    attention_dropout: float = 0.0
    initializer_range: float = 0.02

    def mistakes(self) -> list[str]:
        least = {"layers": 1, "heads": 1, "hidden": 1, "ffn": 1, "length": 8}
        wrong = out_of_range(self, ["initializer_range"], ["dropout", "attention_dropout"], (), **least)
        if self.hidden % max(1, self.heads):
            wrong.append(f"hidden ({self.hidden}) must be a multiple of heads ({self.heads})")
        return wrong


@dataclass(frozen=True)
class TrainConfig:
    """AdamW with linear warm-up and decay to zero (ALIGN-MLM, table 10).

    batch: rows per step, over all processes and micro-batches.
    grad_accumulation: micro-batches per process.
    decayed: the parameters with weight decay; `matrices` excludes biases and normalisation weights.
    betas, epsilon: AdamW's.
    head_rate: the relative learning rate of the prediction head and the objective's own modules.
    log_every, probe_every, save_every: intervals in steps (0: never).
    """

    steps: int = 500_000
    batch: int = 128
    grad_accumulation: int = 1
    learning_rate: float = 1e-4
    warmup: int = 10_000
    weight_decay: float = 0.0
    clip: float = 1.0
    betas: tuple[float, float] = field(default=(0.9, 0.999), metadata=ADDED)
    epsilon: float = field(default=1e-8, metadata=ADDED)
    decayed: Literal["all", "matrices"] = field(default="all", metadata=ADDED)
    head_rate: float = field(default=1.0, metadata=ADDED)
    log_every: int = 100
    probe_every: int = 10_000
    save_every: int = 5_000

    @property
    def recipe(self) -> dict[str, Any]:
        """The settings that determine weights."""
        return {name: value for name, value in plain(self).items() if name not in WATCHED}

    def mistakes(self) -> list[str]:
        least = {"steps": 1, "batch": 1, "grad_accumulation": 1, "log_every": 1}
        least |= dict.fromkeys(["weight_decay", "probe_every", "save_every"], 0)
        wrong = out_of_range(self, ["learning_rate", "head_rate", "clip", "epsilon"], ["betas"], (), **least)
        for name, most in {"steps": 1_000_000_000, "batch": 1_000_000}.items():
            if (value := getattr(self, name)) > most:
                wrong.append(f"{name} must be at most {most:,}, not {value:,}")
        if self.grad_accumulation > max(1, self.batch):
            rule = f"at most batch ({self.batch:,})"
            wrong.append(f"grad_accumulation must be {rule}, not {self.grad_accumulation:,}")
        if not 0 <= self.warmup < self.steps:
            rule = f"at least 0 and below steps ({self.steps})"
            wrong.append(f"warmup must be {rule}, not {self.warmup}; set both")
        if len(self.betas) != 2:
            wrong.append("betas must be two numbers")
        if self.save_every % max(1, self.log_every):  # a resumed run would write different rows
            wrong.append(f"save_every ({self.save_every}) must be a multiple of log_every ({self.log_every})")
        return wrong


@dataclass(frozen=True)
class Mixture:
    """How much of each language a model reads; by default, all rows in one shuffled order.

    shares: each language's share of every step's text rows.
    exponent: without `shares`, languages are read in proportion to their numbers of rows to this power.
    bitext_exponent: like `exponent`, for bitexts.
    pairs: bitexts' fraction of each step's rows; None: in proportion to their rows.
    disjoint: whether half of the distinct sentences is read only in the source and the others only in derived
        languages, without bitexts.
    """

    shares: tuple[float, ...] = field(default=(), metadata=ADDED)
    exponent: float | None = None
    bitext_exponent: float | None = None
    pairs: float | None = field(default=None, metadata=ADDED)
    disjoint: bool = field(default=False, metadata=ADDED)

    former_fields: ClassVar[Mapping[str, Any]] = MappingProxyType(
        {"held_out": 0.0, "phases": (), "text": (), "bitexts": None, "dictionaries": None}
    )

    @property
    def name(self) -> str:
        """The name in records: `90-10`, `sizes-0.7-pairs-50`, `together-disjoint`."""
        return self._described("-", "together", "sizes-{:g}", "-pairs-{:g}", "-disjoint")

    @property
    def title(self) -> str:
        """The name in reports: `90/10`."""
        by_size, pairs = "by size to the power {:g}", ", {:g} % of the rows pairs"
        return self._described("/", "all in one order", by_size, pairs, ", disjoint halves")

    def _described(self, separator: str, together: str, by_size: str, pairs: str, disjoint: str) -> str:
        shares = separator.join(f"{100 * share / sum(self.shares):.4g}" for share in self.shares)
        sizes = together if self.exponent is None else by_size.format(self.exponent)
        fraction = "" if self.pairs is None else pairs.format(100 * self.pairs)
        return (shares or sizes) + fraction + (disjoint if self.disjoint else "")

    @property
    def facets(self) -> tuple[dict[str, Any], ...]:
        return (plain(self),)

    def mistakes(self, languages: int) -> list[str]:
        wrong = out_of_range(self, ["shares"])
        if self.shares and len(self.shares) != languages:
            wrong.append(f"shares must be {languages} numbers, one per language, not {len(self.shares)}")
        if self.shares and self.exponent is not None:
            wrong.append("shares cannot be combined with an exponent")
        for name in ("exponent", "bitext_exponent"):
            if not 0 <= (getattr(self, name) or 0) <= 10:
                wrong.append(f"{name} must be between 0 and 10, not {getattr(self, name)}")
        if self.pairs is not None and not 0 < self.pairs < 1:
            wrong.append(f"pairs must be between 0 and 1, not {self.pairs}")
        return wrong

    def read(self, languages: Languages) -> Languages:
        """Return the languages, restricted to the text that a model reads."""
        if wrong := self.mistakes(len(languages.languages)):
            raise BadInput(wrong)
        return disjoint_halves(languages) if self.disjoint else languages

    def order(self, parts: Mapping[Part, int], instances: int, rows: int, *seed: int) -> "Order":
        shares: Sequence[float] = () if of_pairs(parts) else self.shares
        exponent = self.bitext_exponent if of_pairs(parts) else self.exponent
        if exponent is not None:
            shares = [size**exponent for size in parts.values()]
        return Order(parts, instances, rows, shares, *seed)

    def rows(self, batch: int, sizes: Sequence[int], paired: Sequence[bool]) -> list[int]:
        """Divide a step's rows among streams by their sizes and `pairs`, given which are of pairs."""
        if self.pairs is None or all(paired):
            return share_rows(batch, sizes)
        if batch < 2:
            raise BadInput(f"pairs = {self.pairs:g} requires a batch of at least two rows, not {batch}")
        pairs, rows = min(batch - 1, max(1, round(batch * self.pairs))), np.zeros(len(sizes), int)
        for of_bitexts, count in ((True, pairs), (False, batch - pairs)):
            group = [size if pair == of_bitexts else 0 for size, pair in zip(sizes, paired, strict=True)]
            if not any(group):
                raise BadInput("pairs is set, but the objective does not read both text and bitexts")
            rows += share_rows(count, group)
        return rows.tolist()


ALL_TOGETHER = Mixture()


def of_pairs(parts: Mapping[Part, int]) -> bool:
    """Whether instances are sentence pairs."""
    return any(len(part) > 1 for part in parts)


def share_rows(batch: int, instances: Sequence[int]) -> list[int]:
    """Divide `batch` rows in proportion to `instances`, with at least one for each that has any."""
    total = sum(instances)
    rows = [max(1, round(batch * n / total)) if n else 0 for n in instances]
    largest = max(range(len(rows)), key=lambda i: instances[i])
    rows[largest] = max(1, rows[largest] + batch - sum(rows))
    return rows


class Shuffled:
    """An endless sequence of indices below `size`, reshuffled every epoch."""

    def __init__(self, size: int, *seed: int) -> None:
        self.size, self.seed = size, seed
        self._epoch, self._order = -1, np.empty(0, np.int64)

    def take(self, start: int, count: int) -> np.ndarray:
        """Return `count` consecutive indices from position `start`."""
        pieces = [np.empty(0, np.int64)]
        while count:
            epoch, offset = divmod(start, self.size)
            if epoch != self._epoch:
                self._epoch = epoch
                self._order = np.random.default_rng([*self.seed, epoch]).permutation(self.size)
            piece = self._order[offset : offset + count]
            pieces.append(piece)
            start, count = start + len(piece), count - len(piece)
        return np.concatenate(pieces)


class Order:
    """The instances that a stream reads, `rows` per step, in one shuffled order or one per share."""

    def __init__(
        self, parts: Mapping[Part, int], instances: int, rows: int, shares: Sequence[float], *seed: int
    ) -> None:
        self.rows = rows
        if parts and shares:
            self.orders = [Shuffled(size, *seed, number) for number, size in enumerate(parts.values())]
        else:
            self.orders = [Shuffled(instances, *seed)]
        self.units = in_units(shares if len(self.orders) > 1 else [1.0])
        self._steps, self._counts = 0, np.zeros_like(self.units)

    def at(self, step: int) -> np.ndarray:
        before, after = self.upto(step), self.upto(step + 1)
        first, instances = 0, []
        for order, start, stop in zip(self.orders, before.tolist(), after.tolist(), strict=True):
            instances.append(first + order.take(start, stop - start))
            first += order.size
        return np.concatenate(instances)

    def upto(self, steps: int) -> np.ndarray:
        """Return the number of rows from each of K orders in the first `steps` steps, (K,) int64: exact
        shares, rounded up or down, which rounding up the earliest deadlines first achieves (Tijdeman 1980).
        There must be fewer than 9e9 rows."""
        if len(self.orders) == 1:
            return np.array([self.rows * steps])
        if steps < self._steps:
            self._steps, self._counts = 0, np.zeros_like(self.units)
        while self._steps < steps:
            self._steps += 1
            self._counts = self._next(self.rows * self._steps)
        return self._counts

    def _next(self, rows: int) -> np.ndarray:
        """Divide the first `rows` rows, given the previous step's division."""
        exact = rows * self.units
        counts = np.maximum(exact // UNIT, self._counts)
        remainder = rows - int(counts.sum())
        if remainder:
            candidates = np.flatnonzero(counts * UNIT < exact)  # not yet rounded up
            # The step at which an order's exact share reaches the next integer.
            deadline = -(-(counts[candidates] + 1) * UNIT // (self.rows * self.units[candidates]))
            counts[candidates[np.argsort(deadline, kind="stable")[:remainder]]] += 1
        return counts


def in_units(shares: Sequence[float]) -> np.ndarray:
    """Convert shares to integers that sum to `UNIT`, (K,) int64, by the largest remainder method."""
    exact = np.asarray(shares, float) / np.sum(shares, dtype=float) * UNIT
    units = np.floor(exact + 1e-6).astype(np.int64)  # tolerates floating-point errors, as in 0.29 * UNIT
    remainder = UNIT - int(units.sum())
    largest = np.argsort(units - exact, kind="stable")[: max(0, remainder)]
    units[largest] += 1
    units[int(units.argmax())] += UNIT - int(units.sum())  # the largest share absorbs any surplus
    return units

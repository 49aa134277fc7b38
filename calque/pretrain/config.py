"""Model and training configurations; the defaults are ALIGN-MLM's settings."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from calque.derive.fingerprint import ADDED, plain

WATCHED = ("log_every", "probe_every", "save_every")
"""Settings that do not affect the model."""
FIRST_SNAPSHOT, MOST_SNAPSHOTS = 8, 16
"""The step of the first snapshot after step 0, and the maximum number of snapshots for each doubling of the
number of steps."""
MOST_STEPS = 1_000_000_000


def out_of_range(
    config: Any,
    positive: Sequence[str] = (),
    shares: Sequence[str] = (),
    fractions: Sequence[str] = (),
    **least: float,
) -> list[str]:
    """Return messages about numbers in a config that are not finite or out of range: `positive` fields must
    be above 0, `shares` in [0, 1), `fractions` in (0, 1], and fields in `least` at least the given number."""
    wrong = []
    for name, value in vars(config).items():
        numbers = [n for n in (value if isinstance(value, tuple) else [value]) if isinstance(n, int | float)]
        rules = {"finite": all(map(math.isfinite, numbers))}
        if name in positive:
            rules["positive"] = all(number > 0 for number in numbers)
        if name in shares:
            rules["at least 0 and below 1"] = all(0 <= number < 1 for number in numbers)
        if name in fractions:
            rules["above 0 and at most 1"] = all(0 < number <= 1 for number in numbers)
        if name in least:
            rules[f"at least {least[name]}"] = all(number >= least[name] for number in numbers)
        broken = [rule for rule, holds in rules.items() if not holds]
        wrong += [f"{name} must be {rule}, not {', '.join(map(str, numbers))}" for rule in broken[:1]]
    return wrong


@dataclass(frozen=True)
class ModelConfig:
    """The shape of a RoBERTa model (ALIGN-MLM, table 10), apart from the vocabulary; `length` counts all ids
    in a row. Attention dropout would rule out fast attention kernels (docs/fidelity.md)."""

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

    batch: the number of rows per step, summed over processes and micro-batches.
    grad_accumulation: the number of micro-batches per process.
    decayed: the parameters to which weight decay applies; `matrices` excludes biases and normalisation
        weights.
    betas, epsilon: AdamW's hyperparameters (XLM-Align uses 0.9, 0.98 and 1e-6; table 11).
    head_rate: the learning rate of the prediction head and the objective's own modules, relative to the
        encoder's.
    snapshots: the number of copies of the weights to keep for each doubling of the number of steps.
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
    snapshots: int = field(default=0, metadata=ADDED)
    log_every: int = 100
    probe_every: int = 10_000
    save_every: int = 5_000

    def rate(self, step: int) -> float:
        """Return the learning rate at a 0-based step."""
        if step < self.warmup:
            return self.learning_rate * (step + 1) / self.warmup
        return self.learning_rate * (self.steps - step) / (self.steps - self.warmup)

    @property
    def kept(self) -> tuple[int, ...]:
        """The steps after which snapshots are kept; only the last one depends on the number of steps."""
        if not self.snapshots:
            return ()
        steps, place = {0, self.steps}, round(math.log2(FIRST_SNAPSHOT) * self.snapshots)
        while (step := round(2 ** (place / self.snapshots))) < self.steps:
            steps.add(step)
            place += 1
        return tuple(sorted(steps))

    @property
    def recipe(self) -> dict[str, Any]:
        """The settings that determine the weights and the snapshots."""
        return {name: value for name, value in plain(self).items() if name not in (*WATCHED, "kind")}

    def mistakes(self) -> list[str]:
        least = {"steps": 1, "batch": 1, "grad_accumulation": 1, "log_every": 1}
        least |= dict.fromkeys(["weight_decay", "probe_every", "save_every", "snapshots"], 0)
        wrong = out_of_range(self, ["learning_rate", "head_rate", "clip", "epsilon"], ["betas"], (), **least)
        if self.steps > MOST_STEPS:
            wrong.append(f"steps must be at most {MOST_STEPS:,}, not {self.steps:,}")
        if self.grad_accumulation > max(1, self.batch):
            limit = f"at most batch ({self.batch:,})"
            wrong.append(f"grad_accumulation must be {limit}, not {self.grad_accumulation:,}")
        if not 0 <= self.warmup < self.steps:
            limits = f"at least 0 and below steps ({self.steps})"
            wrong.append(f"warmup must be {limits}, not {self.warmup}; set both")
        if len(self.betas) != 2:
            wrong.append(f"betas must be two numbers, not {len(self.betas)}")
        if self.snapshots > MOST_SNAPSHOTS:
            limit = f"at most {MOST_SNAPSHOTS} per doubling of the steps"
            wrong.append(f"snapshots must be {limit}, not {self.snapshots}")
        if self.save_every % max(1, self.log_every):  # otherwise, a resumed run would write different rows
            wrong.append(f"save_every ({self.save_every}) must be a multiple of log_every ({self.log_every})")
        return wrong

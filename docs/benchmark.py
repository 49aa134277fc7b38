"""Compare Calque's pretraining speed with that of transformers' Trainer, measured in turns: `make bench`."""

import json
import math
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from transformers import PreTrainedModel

from calque.analysis.statistics import estimate
from calque.derive.corpus import Corpus, Ragged
from calque.derive.languages import SOURCE, Language, Languages
from calque.derive.vocabulary import OURS, SPECIALS
from calque.pretrain.config import ModelConfig, TrainConfig

TYPES, LENGTH = 8192, 128
MODEL = ModelConfig(layers=4, heads=4, hidden=256, ffn=1024, length=LENGTH)
TRAIN = TrainConfig(steps=6, batch=32, warmup=1)
WARM = 2  # untimed steps at the start of each measurement


@dataclass(frozen=True)
class Comparison:
    """The rates of Calque (`ours`) and of an alternative (`theirs`), in `unit`, one per round. `against` is
    the alternative's name."""

    bench: str
    what: str
    against: str
    unit: str
    ours: Sequence[float]
    theirs: Sequence[float]

    @property
    def cells(self) -> tuple[str, str, str, str]:
        """The operation, the alternative, our median rate, and the geometric mean, across rounds, of our rate
        divided by the alternative's, with its 95 % t interval."""
        rate = float(f"{statistics.median(self.ours):.3g}")
        logs = estimate([math.log(a / b) for a, b in zip(self.ours, self.theirs, strict=True)])
        mean, *bounds = (f"{math.exp(n):.3g}" for n in (logs.mean, logs.low, logs.high) if n is not None)
        ratio = f"{mean} [{', '.join(bounds)}]" if bounds else mean
        return self.what, self.against, f"{rate:,g} {self.unit}", ratio


def read(path: Path) -> tuple[dict[str, Any], list[Comparison]]:
    """Read committed measurements, and the description of where and how they were made."""
    about = json.loads(path.read_text(encoding="utf-8"))
    return about, [Comparison(**row) for row in about.pop("rows")]


def in_turns(sides: Sequence[Callable[[], float]], rounds: int) -> list[tuple[float, ...]]:
    """Measure each of `sides` (functions that return a speed) `rounds` times, after one warm-up. They take
    turns, so that other work on the machine slows them equally."""
    speeds = [[float(f"{side():.6g}") for side in sides] for _ in range(1 + rounds)]
    return list(zip(*speeds[1:], strict=True))


def step(rounds: int) -> list[Comparison]:
    """Compare the training speed of a model of 4 layers and width 256 with transformers' Trainer."""
    from calque.pretrain.model import build
    from calque.pretrain.objectives.mlm import PackedLines

    languages, with_attention_dropout = made_languages(), replace(MODEL, attention_dropout=0.1)
    packed = [PackedLines(language, languages.specials, LENGTH) for language in languages.languages]
    rows = np.stack([lines.row(i) for lines in packed for i in range(len(lines))])
    recipes = {
        "a step of 4 layers of width 256, the Trainer's recipe": with_attention_dropout,
        "the same without attention dropout (Calque's recipe)": MODEL,
    }
    sides = [partial(_our_speed, build(config, TYPES), languages) for config in recipes.values()]
    sides.append(partial(_trainers_speed, build(with_attention_dropout, TYPES), examples(rows, languages)))
    *ours, theirs = in_turns(sides, rounds)
    return [
        Comparison("step", what, "HF Trainer", "tokens/CPU s", speeds, theirs)
        for what, speeds in zip(recipes, ours, strict=True)
    ]


def _our_speed(model: PreTrainedModel, languages: Languages) -> float:
    from calque.pretrain.distributed import World
    from calque.pretrain.lazy import torch
    from calque.pretrain.modules import Learner
    from calque.pretrain.objectives.mlm import MLM
    from calque.pretrain.train import Draws, make_optimizer, train

    learner, draws = Learner(model, {}), Draws(MLM().streams(languages, LENGTH, 0), TRAIN.batch, 0)
    steps = train(learner, make_optimizer(learner, TRAIN), draws, TRAIN, World(0, 1, torch.device("cpu")))
    return _speed([time.process_time() for _ in steps])


def _trainers_speed(model: PreTrainedModel, data: Any) -> float:
    from transformers import Trainer, TrainerCallback, TrainingArguments

    ends: list[float] = []

    class Clock(TrainerCallback):
        def on_step_end(self, *_: Any, **__: Any) -> None:
            ends.append(time.process_time())

    with tempfile.TemporaryDirectory() as folder:
        arguments = TrainingArguments(
            output_dir=folder,
            max_steps=TRAIN.steps,
            warmup_steps=TRAIN.warmup,
            per_device_train_batch_size=TRAIN.batch,
            learning_rate=TRAIN.learning_rate,
            weight_decay=TRAIN.weight_decay,
            max_grad_norm=TRAIN.clip,
            logging_strategy="no",
            save_strategy="no",
            report_to="none",
            use_cpu=True,
            disable_tqdm=True,
        )
        Trainer(model, arguments, collator(), data, callbacks=[Clock()]).train()
    return _speed(ends)


def _speed(ends: Sequence[float]) -> float:
    return TRAIN.batch * LENGTH / float(np.median(np.diff(ends[WARM - 1 :])))


def made_languages() -> Languages:
    """Make a Zipfian corpus of 200,000 single-token words, and its transliteration."""
    size, words = TYPES // 2, 200_000
    ordinary = OURS.ordinary(size)
    shares = 1 / np.arange(1, len(ordinary) + 1)
    tokens = np.random.default_rng(0).choice(ordinary, words, p=shares / shares.sum()).astype(np.uint16)
    lines = np.append(np.arange(0, words, 20), words)
    pieces = Ragged(np.ones(words, np.uint16), lines)
    image = np.arange(size) + size
    image[list(OURS.ids)] -= size
    source, derived = (
        Corpus(Ragged(ids, lines), pieces, pieces, np.arange(len(lines) - 1))
        for ids in (tokens, image[tokens])
    )
    languages = Language(SOURCE, 0, source, np.arange(size)), Language("trans", 1, derived, image)
    return Languages(Path(), languages, pairs={(SOURCE, "trans"): "trans"})


def examples(rows: np.ndarray, languages: Languages) -> list[dict[str, list[int]]]:
    """Return rows as a tokenized data set, with special-token masks, which speed up the collator."""
    special = (~languages.specials.is_ordinary(rows)).astype(int)
    return [
        {"input_ids": row.tolist(), "special_tokens_mask": mark.tolist()}
        for row, mark in zip(rows, special, strict=True)
    ]


def collator() -> Any:
    """Return transformers' MLM collator for a vocabulary of whole words."""
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from transformers import DataCollatorForLanguageModeling, PreTrainedTokenizerFast

    vocabulary = {word: i for i, word in enumerate(SPECIALS)}
    vocabulary |= {f"w{i}": i for i in OURS.ordinary(TYPES).tolist()}
    names = ("bos_token", "pad_token", "eos_token", "unk_token", "mask_token")
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer(WordLevel(vocabulary, unk_token=SPECIALS[3])),
        **dict(zip(names, SPECIALS, strict=True)),
    )
    return DataCollatorForLanguageModeling(tokenizer, mlm_probability=0.15)


if __name__ == "__main__":
    for comparison in step(rounds=5):
        print("; ".join(comparison.cells))

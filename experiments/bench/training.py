"""Pretraining and masking compared with transformers' Trainer and collator, in CPU seconds."""

import statistics
import tempfile
import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from torch import Tensor
from transformers import (
    DataCollatorForLanguageModeling,
    PreTrainedModel,
    PreTrainedTokenizerFast,
    Trainer,
    TrainerCallback,
    TrainingArguments,
)

from calque.derive.corpus import Corpus
from calque.derive.language import SOURCE, Language
from calque.derive.languages import Languages
from calque.derive.ragged import Ragged
from calque.derive.types import OURS, SPECIALS
from calque.experiments.bench.harness import Comparison, cpu_seconds, interleaved
from calque.pretrain.config import ModelConfig, TrainConfig
from calque.pretrain.distributed import one_process
from calque.pretrain.mask import Masking
from calque.pretrain.model import build
from calque.pretrain.modules import Learner, use_onednn
from calque.pretrain.objective import Stream
from calque.pretrain.objectives.mlm import MLM, PackedLines
from calque.pretrain.train import make_optimizer, train

TYPES, LENGTH = 8192, 128
MODEL = ModelConfig(layers=4, heads=4, hidden=256, ffn=1024, length=LENGTH)
TRAIN = TrainConfig(steps=6, batch=32, warmup=1)
WARM = 2  # untimed steps at the start of each turn
CLOSE = 1e-4  # maximum relative difference in loss and gradients


def step(rounds: int) -> list[Comparison]:
    """Compare the speed of pretraining a model of 4 layers and width 256."""
    languages, same = made_languages(TYPES // 2, 200_000), replace(MODEL, attention_dropout=0.1)
    recipes = {
        "a step of 4 layers of width 256, the Trainer's recipe": build(same, TYPES),
        "the same without attention dropout (Calque's recipe)": build(MODEL, TYPES),
    }
    gap = check_close(build(replace(MODEL, dropout=0.0), TYPES), MLM().streams(languages, LENGTH, 0)[0])
    packed = [PackedLines(language, languages.specials, LENGTH) for language in languages.languages]
    data = examples(np.stack([lines.row(i) for lines in packed for i in range(len(lines))]), languages)
    reference = build(same, TYPES)

    def speed(ends: list[float]) -> float:
        steps = [after - before for before, after in zip(ends[WARM - 1 :], ends[WARM:], strict=False)]
        return TRAIN.batch * LENGTH / statistics.median(steps)

    def ours(model: PreTrainedModel) -> float:
        learner, streams, ends = Learner(model, {}), MLM().streams(languages, LENGTH, 0), list[float]()
        use_onednn(learner, LENGTH)
        end = lambda *_: ends.append(time.process_time())  # noqa: E731
        train(learner, make_optimizer(learner, TRAIN), streams, TRAIN, 0, one_process(), after=end)
        return speed(ends)

    def theirs() -> float:
        options = {"max_steps": TRAIN.steps, "warmup_steps": TRAIN.warmup}
        return speed(trainer_ends(reference, data, made_collator(TYPES), TRAIN, **options))

    *speeds, other = interleaved([*(partial(ours, model) for model in recipes.values()), theirs], rounds)
    return [
        Comparison(
            f"{what}; loss and gradients equal to {gap:.0e}", "HF Trainer", "tokens/CPU s", mine, other
        )
        for what, mine in zip(recipes, speeds, strict=True)
    ]


def check_close(model: PreTrainedModel, stream: Stream) -> float:
    """Return the relative difference from transformers' loss and gradients on a few rows; exit if it is
    large. Our prediction head is computed only at labelled positions."""
    batch, counts = stream.draw(range(4), np.random.default_rng(0))
    rows = batch.to(torch.device("cpu"))

    def gradients(loss: Tensor) -> tuple[float, Tensor]:
        model.zero_grad()
        loss.backward()
        return float(loss.detach()), torch.cat(
            [p.grad.flatten() for p in model.parameters() if p.grad is not None]
        )

    theirs, their_gradients = gradients(model(input_ids=rows.ids, labels=rows.labels).loss)
    learner = Learner(model, {})
    use_onednn(learner, rows.ids.shape[1])
    ours, our_gradients = gradients(stream.losses(learner, rows)["mlm"] / counts["mlm"])
    distance = float((our_gradients - their_gradients).norm() / their_gradients.norm())
    gap = max(abs(ours - theirs) / theirs, distance)
    if not gap <= CLOSE:
        raise SystemExit(f"nothing to compare: loss and gradients differ by {gap:.1e}")
    return gap


def mask(rounds: int) -> list[Comparison]:
    """Compare the masking of a batch of prepared rows with transformers' collator."""
    languages, comparisons = made_languages(TYPES // 2, 200_000), []
    for batch, length in ((32, 128), (128, 512)):
        packed = PackedLines(languages.languages[0], languages.specials, length)
        rows = np.stack([packed.row(i) for i in range(batch)])
        ours = partial(Masking.of(languages), rows, np.zeros_like(rows), np.random.default_rng(0))
        theirs = partial(made_collator(TYPES), examples(rows, languages))
        sides = interleaved([partial(cpu_seconds, work) for work in (ours, theirs)], rounds)
        rates = (tuple(batch / seconds for seconds in side) for side in sides)
        what, against = f"masking {batch} rows of {length}", "DataCollatorForLanguageModeling"
        comparisons.append(Comparison(what, against, "rows/CPU s", *rates))
    return comparisons


def made_languages(size: int, words: int) -> Languages:
    """Make a Zipfian corpus of `words` single-token words from `size` types, and its transliteration."""
    ordinary = OURS.ordinary(size)
    shares = 1 / np.arange(1, len(ordinary) + 1)
    tokens = np.random.default_rng(0).choice(ordinary, words, p=shares / shares.sum())
    tokens = tokens.astype(np.min_scalar_type(size))
    lines, pieces = np.append(np.arange(0, words, 20), words), np.ones(words, np.uint16)
    image = np.arange(size) + size
    image[list(OURS.ids)] -= size
    source, derived = (
        Corpus(Ragged(ids, lines), Ragged(pieces, lines), Ragged(pieces, lines), np.arange(len(lines) - 1))
        for ids in (tokens, image[tokens])
    )
    languages = Language(SOURCE, 0, source, np.arange(size)), Language("trans", 1, derived, image)
    return Languages(Path(), languages, pairs={(SOURCE, "trans"): "trans"})


def examples(rows: np.ndarray, languages: Languages) -> list[dict[str, list[int]]]:
    """Return rows as in a tokenized data set, with masks of special tokens, which speed up the collator."""
    special = ~languages.specials.is_ordinary(rows)
    return [
        {"input_ids": row.tolist(), "special_tokens_mask": mark.astype(int).tolist()}
        for row, mark in zip(rows, special, strict=True)
    ]


def made_collator(types: int) -> DataCollatorForLanguageModeling:
    """Return transformers' MLM collator for a vocabulary of whole words."""
    vocabulary = {word: i for i, word in enumerate(SPECIALS)}
    vocabulary |= {f"w{i}": i for i in OURS.ordinary(types).tolist()}
    names = ("bos_token", "pad_token", "eos_token", "unk_token", "mask_token")
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer(WordLevel(vocabulary, unk_token=SPECIALS[3])),
        **dict(zip(names, SPECIALS, strict=True)),
    )
    return DataCollatorForLanguageModeling(tokenizer, mlm_probability=0.15)


class Clock(TrainerCallback):
    """Records the CPU time at the end of each step."""

    def __init__(self) -> None:
        self.ends: list[float] = []

    def on_step_end(self, *_: Any, **__: Any) -> None:
        self.ends.append(time.process_time())


def trainer_ends(model: PreTrainedModel, data: Any, collate: Any, config: Any, **options: Any) -> list[float]:
    """Train with transformers' Trainer, the recipe in `config` and further `options`, and return the CPU time
    at the end of each step."""
    clock, optimizer = Clock(), options.pop("optimizer", None)
    recipe: dict[str, Any] = {
        "per_device_train_batch_size": config.batch,
        "learning_rate": config.learning_rate,
        "weight_decay": config.weight_decay,
        "max_grad_norm": config.clip,
        "logging_strategy": "no",
        "use_cpu": True,
        "report_to": "none",
        "save_strategy": "no",
        "disable_tqdm": True,
    }
    with tempfile.TemporaryDirectory() as folder:
        arguments = TrainingArguments(output_dir=str(Path(folder) / "out"), **(recipe | options))
        Trainer(model, arguments, collate, data, callbacks=[clock], optimizers=(optimizer, None)).train()
    return clock.ends

"""The other side of some benchmarks: transformers' own way to train, on the same rows."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from transformers import (
    DataCollatorForLanguageModeling,
    DataCollatorWithPadding,
    PreTrainedModel,
    PreTrainedTokenizerFast,
    Trainer,
    TrainerCallback,
    TrainingArguments,
)

from derive.corpus import Corpus
from derive.language import SOURCE, Language
from derive.languages import Languages
from derive.types import OURS, SPECIALS, Specials
from pretrain.config import TrainConfig


def made_languages(size: int, words: int, seed: int = 0) -> Languages:
    """A corpus of `words` one-piece words from a vocabulary of `size` types, Zipf-like, and its transliteration."""
    random = np.random.default_rng(seed)
    ordinary = OURS.ordinary(size)
    shares = 1 / np.arange(1, len(ordinary) + 1)
    tokens = random.choice(ordinary, words, p=shares / shares.sum()).astype(np.uint16)
    lines = np.append(np.arange(0, words, 20), words)
    ones = np.ones(words, np.uint16)
    image = np.arange(size) + size
    image[list(OURS.ids)] -= size
    corpora = [Corpus(ids, lines, lines, ones, ones, np.arange(len(lines) - 1)) for ids in (tokens, image[tokens])]
    source, derived = Language(SOURCE, 0, corpora[0], np.arange(size)), Language("trans", 1, corpora[1], image)
    return Languages(Path(), (source, derived), pairs=((SOURCE, "trans"),))


def examples(rows: np.ndarray, specials: Specials = OURS) -> list[dict[str, list[int]]]:
    """Rows as a tokenized data set holds them; with the mask of specials there, the collator is at its fastest."""
    marks = [(~specials.is_ordinary(row)).astype(int).tolist() for row in rows]
    return [{"input_ids": row.tolist(), "special_tokens_mask": mark} for row, mark in zip(rows, marks, strict=True)]


def collator(types: int) -> DataCollatorForLanguageModeling:
    """transformers' masking, over a tokenizer of `types` types."""
    vocabulary = {**{word: i for i, word in enumerate(SPECIALS)}, **{f"w{i}": i for i in OURS.ordinary(types).tolist()}}
    names = ("bos_token", "pad_token", "eos_token", "unk_token", "mask_token")
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer(WordLevel(vocabulary, unk_token=SPECIALS[3])),
        **dict(zip(names, SPECIALS, strict=True)),
    )
    return DataCollatorForLanguageModeling(tokenizer, mlm_probability=0.15)


class Clock(TrainerCallback):
    """When each step ended, in CPU seconds of this process."""

    def __init__(self) -> None:
        self.ends: list[float] = []

    def on_step_end(self, *_: Any, **__: Any) -> None:
        self.ends.append(time.process_time())


def trainer_steps(
    model: PreTrainedModel,
    data: Sequence[Mapping[str, list[int] | int]],
    collate: DataCollatorForLanguageModeling | DataCollatorWithPadding,
    c: TrainConfig,
    seed: int = 42,
) -> list[float]:
    """Train with transformers' Trainer as `c` says, rows shuffled with `seed`; when each step ended."""
    clock = Clock()
    with tempfile.TemporaryDirectory() as folder:
        options = TrainingArguments(
            output_dir=str(Path(folder) / "out"),
            per_device_train_batch_size=c.batch,
            max_steps=c.steps,
            learning_rate=c.learning_rate,
            warmup_steps=c.warmup,
            weight_decay=c.weight_decay,
            max_grad_norm=c.clip,
            seed=seed,
            use_cpu=True,
            report_to="none",
            save_strategy="no",
            logging_strategy="no",
            disable_tqdm=True,
        )
        Trainer(model=model, args=options, train_dataset=data, data_collator=collate, callbacks=[clock]).train()
    return clock.ends

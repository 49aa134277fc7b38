"""`calque bench`: Calque's training speed compared with that of transformers."""

import math
import statistics
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from transformers import PreTrainedModel

from calque.analysis.statistics import estimate
from calque.derive.build import derive_languages
from calque.derive.dictionary import DictionaryConfig
from calque.derive.languages import Languages
from calque.derive.script import Transliterate
from calque.derive.sources.pocket import PocketEnglish
from calque.derive.types import OURS, SPECIALS
from calque.pretrain.config import ModelConfig, TrainConfig

TYPES, LENGTH = 8192, 128
MODEL = ModelConfig(layers=4, heads=4, hidden=256, ffn=1024, length=LENGTH)
TRAIN = TrainConfig(steps=6, batch=32, warmup=1)
WARM = 2  # untimed steps at the start of each measurement


@dataclass(frozen=True)
class Comparison:
    """The training speeds of Calque (`ours`) and of transformers' Trainer (`theirs`), in tokens per CPU
    second, one per round."""

    what: str
    ours: Sequence[float]
    theirs: Sequence[float]

    def __str__(self) -> str:
        """Our median speed, and the geometric mean over rounds of our speed divided by the Trainer's, with
        its 95 % t interval."""
        rate = float(f"{statistics.median(self.ours):.3g}")
        logs = estimate([math.log(a / b) for a, b in zip(self.ours, self.theirs, strict=True)])
        mean, *bounds = (f"{math.exp(n):.3g}" for n in (logs.mean, logs.low, logs.high) if n is not None)
        ratio = f"{mean} [{', '.join(bounds)}]" if bounds else mean
        return f"{self.what}\n  {rate:,g} tokens/CPU s, {ratio} times as fast as HF Trainer"


def compare(rounds: int) -> list[Comparison]:
    """Compare the training speed of a model with 4 layers and width 256 with that of transformers' Trainer,
    on Pocket English and its transliteration. After one warm-up, the libraries take turns, so that other work
    on the machine slows them equally."""
    from calque.pretrain.model import build
    from calque.pretrain.objectives.mlm import PackedLines

    same = replace(MODEL, attention_dropout=0.1)
    recipes = {
        "a step of 4 layers of width 256, the Trainer's recipe": build(same, TYPES),
        "the same without attention dropout (Calque's recipe)": build(MODEL, TYPES),
    }
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        derive_languages(
            PocketEnglish(size=5_000), [Transliterate()], 500, DictionaryConfig(), place / "a", place / "b"
        )
        languages = Languages.open(place / "a", ["trans"])
        packed = [PackedLines(language, languages.specials, LENGTH) for language in languages.languages]
        rows = np.stack([lines.row(i) for lines in packed for i in range(len(lines))])
        sides = [partial(_our_speed, model, languages) for model in recipes.values()]
        sides.append(partial(_trainers_speed, build(same, TYPES), examples(rows, languages)))
        measured = [[float(f"{side():.6g}") for side in sides] for _ in range(rounds + 1)]
    *ours, theirs = zip(*measured[1:], strict=True)
    return [Comparison(what, speeds, theirs) for what, speeds in zip(recipes, ours, strict=True)]


def _our_speed(model: PreTrainedModel, languages: Languages) -> float:
    from calque.pretrain.distributed import one_process
    from calque.pretrain.modules import Learner, use_onednn
    from calque.pretrain.objectives.mlm import MLM
    from calque.pretrain.train import Draws, make_optimizer, train

    learner, draws = Learner(model, {}), Draws(MLM().streams(languages, LENGTH, 0), TRAIN.batch, 0)
    use_onednn(learner, LENGTH)
    steps = train(learner, make_optimizer(learner, TRAIN), draws, TRAIN, one_process())
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


def examples(rows: np.ndarray, languages: Languages) -> list[dict[str, list[int]]]:
    """Return rows in the format of a tokenized data set. They include special-token masks, which speed up the
    collator."""
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

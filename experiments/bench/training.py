"""Pretraining and masking against transformers' Trainer and collator: the same model, rows and recipe.

Times are CPU seconds, which other work on the machine hardly changes.
"""

import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from torch import Tensor
from transformers import (
    AutoModelForMaskedLM,
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
from calque.derive.natural.build import derive_natural
from calque.derive.natural.files import TextFiles
from calque.derive.types import OURS, SPECIALS
from calque.derive.vocabulary import GivenVocabulary
from calque.experiments.bench.harness import Comparison, cpu_seconds, folder_of, interleaved, step_seconds
from calque.pretrain.config import ModelConfig, TrainConfig
from calque.pretrain.distributed import one_process
from calque.pretrain.mask import Masking
from calque.pretrain.model import build
from calque.pretrain.modules import Learner
from calque.pretrain.objective import Stream
from calque.pretrain.objectives.mlm import MLM, PackedLines
from calque.pretrain.onednn import use_onednn
from calque.pretrain.saved_model import load_model, load_tokenizer, read_config
from calque.pretrain.start import InitialModel
from calque.pretrain.train import make_optimizer, train

TYPES, LENGTH = 8192, 128
CPU = torch.device("cpu")
MODEL = ModelConfig(layers=4, heads=4, hidden=256, ffn=1024, length=LENGTH)
TRAIN = TrainConfig(steps=6, batch=32, warmup=1)
CONTINUED = replace(TRAIN, steps=4, batch=16)
WARM = 2  # steps of a turn that are not counted
CLOSE = 1e-4  # the largest relative difference of loss and gradients between sides that do the same


def step(rounds: int) -> list[Comparison]:
    """Pretraining a model of 4 layers of width 256."""
    languages, same = made_languages(TYPES // 2, 200_000), replace(MODEL, attention_dropout=0.1)
    recipes = {
        "a step of 4 layers of width 256, the Trainer's recipe": (build(same, TYPES), languages),
        "the same without attention dropout (Calque's recipe)": (build(MODEL, TYPES), languages),
    }
    exact = build(replace(MODEL, dropout=0.0), TYPES)
    return against_trainer(recipes, exact, build(same, TYPES), made_collator(TYPES), TRAIN, rounds)


def continued(rounds: int) -> list[Comparison]:
    """Pretraining from a real encoder, with rows for all types or for those that the text uses."""
    data, encoder = folder_of("CALQUE_DATA"), folder_of("CALQUE_ENCODER")
    texts = {"en": TextFiles((data / "wikipedia" / "wikipedia-1.txt",), megabytes=4)}
    texts |= {name: TextFiles((data / "parallel" / "multi30k" / f"train.{name}",)) for name in ("fr", "de")}
    saved = read_config(encoder)
    shape = (saved.num_hidden_layers, saved.num_attention_heads, saved.hidden_size, saved.intermediate_size, LENGTH)

    def start(languages: Languages, dropout: float, attention_dropout: float) -> PreTrainedModel:
        config = ModelConfig(*shape, dropout=dropout, attention_dropout=attention_dropout)
        return InitialModel(encoder, config, languages, False, 0).load()[0]

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        derive_natural(texts, {}, GivenVocabulary(encoder), folder / "all", rows="all")
        derive_natural(texts, {}, GivenVocabulary(encoder), folder / "used", rows="used")
        whole, used = (Languages.open(folder / rows, list(texts)) for rows in ("all", "used"))
        step = "a step of a real encoder"
        recipes = {
            f"{step}, all {whole.rows:,} rows, the Trainer's recipe": (start(whole, 0.1, 0.1), whole),
            f"{step}, all {whole.rows:,} rows, without attention dropout": (start(whole, 0.1, 0.0), whole),
            f"{step}, {used.rows:,} used rows, without attention dropout": (start(used, 0.1, 0.0), used),
        }
        collate = DataCollatorForLanguageModeling(load_tokenizer(encoder), mlm_probability=0.15)
        reference, _ = load_model(encoder, AutoModelForMaskedLM)
        return against_trainer(recipes, start(whole, 0.0, 0.0), reference, collate, CONTINUED, rounds)


def against_trainer(
    recipes: Mapping[str, tuple[PreTrainedModel, Languages]],
    exact: PreTrainedModel,
    reference: PreTrainedModel,
    collate: DataCollatorForLanguageModeling,
    config: TrainConfig,
    rounds: int,
) -> list[Comparison]:
    """The tokens per second of each recipe, a model and the languages that it learns, and the Trainer's with the model
    `reference`; `exact` has no dropout."""
    _, languages = next(iter(recipes.values()))
    gap = check_close(exact, MLM().streams(languages, LENGTH, 0)[0])
    packed = [PackedLines(language, languages.specials, LENGTH) for language in languages.languages]
    data = examples(np.stack([lines.row(i) for lines in packed for i in range(len(lines))]), languages)

    def speed(ends: list[float]) -> float:
        return config.batch * LENGTH / step_seconds(ends, WARM)

    def ours(model: PreTrainedModel, languages: Languages) -> Callable[[], float]:
        learner, streams = Learner(model, {}), MLM().streams(languages, LENGTH, 0)
        use_onednn(learner, LENGTH)

        def turn() -> float:
            ends: list[float] = []
            optimizer = make_optimizer(learner, config)
            train(
                learner, optimizer, streams, config, 0, one_process(), after=lambda *_: ends.append(time.process_time())
            )
            return speed(ends)

        return turn

    sides = [ours(*recipe) for recipe in recipes.values()]
    options = trainers(config)
    *speeds, theirs = interleaved([*sides, lambda: speed(trainer_ends(reference, data, collate, **options))], rounds)
    pairs = zip(recipes, speeds, strict=True)
    return [
        Comparison(f"{what}; loss and gradients equal to {gap:.0e}", "HF Trainer", "tokens/CPU s", mine, theirs)
        for what, mine in pairs
    ]


def trainers(config: TrainConfig) -> dict[str, Any]:
    """A recipe as arguments of transformers' Trainer."""
    return {
        "per_device_train_batch_size": config.batch,
        "max_steps": config.steps,
        "learning_rate": config.learning_rate,
        "warmup_steps": config.warmup,
        "weight_decay": config.weight_decay,
        "max_grad_norm": config.clip,
    }


def check_close(model: PreTrainedModel, stream: Stream, device: torch.device = CPU) -> float:
    """The relative difference of our loss and its gradients from transformers' on a few rows; exits if it is not small.
    Ours computes the head at the labelled positions only."""
    batch, counts = stream.draw(range(4), np.random.default_rng(0))
    rows = batch.to(device)

    def gradients(loss: Tensor) -> tuple[float, Tensor]:
        model.zero_grad()
        loss.backward()
        return float(loss.detach()), torch.cat([p.grad.flatten() for p in model.parameters() if p.grad is not None])

    theirs, theirs_down = gradients(model(input_ids=rows.ids, labels=rows.labels).loss)
    learner = Learner(model, {})
    use_onednn(learner, rows.ids.shape[1])
    ours, down = gradients(stream.losses(learner, rows)["mlm"] / counts["mlm"])
    gap = max(abs(ours - theirs) / theirs, float((down - theirs_down).norm() / theirs_down.norm()))
    if not gap <= CLOSE:
        raise SystemExit(f"no comparison: loss and gradients differ by {gap:.1e}")
    return gap


def mask(rounds: int) -> list[Comparison]:
    """Masking a batch of ready rows, against transformers' collator."""
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
    """A corpus of `words` one-piece words from a vocabulary of `size` types, Zipf-like, and its transliteration."""
    ordinary = OURS.ordinary(size)
    shares = 1 / np.arange(1, len(ordinary) + 1)
    tokens = np.random.default_rng(0).choice(ordinary, words, p=shares / shares.sum()).astype(np.min_scalar_type(size))
    lines, pieces = np.append(np.arange(0, words, 20), words), np.ones(words, np.uint16)
    image = np.arange(size) + size
    image[list(OURS.ids)] -= size
    corpora = [Corpus(ids, lines, lines, pieces, pieces, np.arange(len(lines) - 1)) for ids in (tokens, image[tokens])]
    source, derived = Language(SOURCE, 0, corpora[0], np.arange(size)), Language("trans", 1, corpora[1], image)
    return Languages(Path(), (source, derived), pairs=((SOURCE, "trans"),))


def examples(rows: np.ndarray, languages: Languages) -> list[dict[str, list[int]]]:
    """Rows as in a tokenized data set; with the mask of specials, the collator is fastest."""
    special = ~languages.specials.is_ordinary(rows)
    return [
        {"input_ids": row.tolist(), "special_tokens_mask": mark.astype(int).tolist()}
        for row, mark in zip(rows, special, strict=True)
    ]


def made_collator(types: int) -> DataCollatorForLanguageModeling:
    """transformers' masking collator with a vocabulary of `types` types."""
    vocabulary = {**{word: i for i, word in enumerate(SPECIALS)}, **{f"w{i}": i for i in OURS.ordinary(types).tolist()}}
    names = ("bos_token", "pad_token", "eos_token", "unk_token", "mask_token")
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer(WordLevel(vocabulary, unk_token=SPECIALS[3])),
        **dict(zip(names, SPECIALS, strict=True)),
    )
    return DataCollatorForLanguageModeling(tokenizer, mlm_probability=0.15)


@dataclass
class Clock(TrainerCallback):
    """The ends of steps, as the times that `now` tells."""

    ends: list[float]
    now: Callable[[], float]

    def on_step_end(self, *_: Any, **__: Any) -> None:
        self.ends.append(self.now())


def trainer_ends(
    model: PreTrainedModel,
    data: Sequence[Mapping[str, list[int]]],
    collate: Callable[..., Any],
    optimizer: torch.optim.Optimizer | None = None,
    now: Callable[[], float] = time.process_time,
    **options: Any,
) -> list[float]:
    """Train with transformers' Trainer and the `options` of its arguments; returns the ends of steps."""
    clock = Clock([], now)
    usual: dict[str, Any] = {"use_cpu": True, "report_to": "none", "save_strategy": "no", "logging_strategy": "no"}
    with tempfile.TemporaryDirectory() as folder:
        arguments = TrainingArguments(output_dir=str(Path(folder) / "out"), disable_tqdm=True, **(usual | options))
        trainer = Trainer(model, arguments, collate, data, callbacks=[clock], optimizers=(optimizer, None))
        trainer.train()
    return clock.ends

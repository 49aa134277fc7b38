"""Continued pretraining's tokens/s against transformers' Trainer: `python -m experiments.bench.continued`.

Both go on from the encoder of CALQUE_ENCODER with MLM, on the same rows of CALQUE_DATA's English, French and German,
in CPU seconds of one thread. Calque has rows of all types, or of those that the text uses.
"""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from transformers import AutoModelForMaskedLM, DataCollatorForLanguageModeling

from derive.errors import BadInput
from derive.languages import Languages
from derive.natural.build import Rows, derive_natural
from derive.natural.text import TextFiles
from derive.vocabulary import GivenVocabulary
from experiments.bench.hugging_face import examples, trainer_steps
from experiments.bench.timing import Comparison, arguments, interleaved, report
from pretrain.config import ModelConfig, TrainConfig
from pretrain.distributed import ALONE
from pretrain.hub import model_folder
from pretrain.model import Learner
from pretrain.objective import Stream
from pretrain.objectives.mlm import MLM, PackedLines
from pretrain.saved_model import load_model, load_tokenizer, read_config
from pretrain.start import InitialModel
from pretrain.train import make_optimizer, train

CLOSE = 1e-4
"""How far loss and gradients may be from transformers': sums in another order."""
WARM = 2
"""Steps of a turn that are not counted."""
LENGTH = 128
TRAIN = TrainConfig(steps=4, batch=16, warmup=1)
RECIPES: Mapping[str, tuple[Rows, float]] = {
    "rows of all types, the very same recipe": ("all", 0.1),
    "rows of all types, attention dropout 0": ("all", 0.0),
    "rows of the types that the text uses, attention dropout 0": ("used", 0.0),
}
"""Which rows a model has, and its attention dropout; the Trainer's model has that of its config, 0.1."""


def texts(data: Path) -> dict[str, TextFiles]:
    """English of Wikipedia, and the captions of Multi30k."""
    captions = data / "parallel" / "multi30k"
    return {
        "en": TextFiles((data / "wikipedia" / "wikipedia-1.txt",), megabytes=4),
        "fr": TextFiles((captions / "train.fr",)),
        "de": TextFiles((captions / "train.de",)),
    }


def beginning(encoder: Path, languages: Languages, attention_dropout: float, dropout: float = 0.1) -> InitialModel:
    """What a run from the encoder begins with."""
    saved = read_config(encoder)
    config = ModelConfig(
        layers=saved.num_hidden_layers,
        heads=saved.num_attention_heads,
        hidden=saved.hidden_size,
        ffn=saved.intermediate_size,
        length=LENGTH,
        dropout=dropout,
        attention_dropout=attention_dropout,
    )
    return InitialModel(encoder, config, languages, False, 0)


def difference(encoder: Path, languages: Languages, stream: Stream) -> float:
    """How far our loss and its gradients are from transformers' own on a few rows, as a fraction of theirs."""
    model, _ = beginning(encoder, languages, 0.0, 0.0).load()
    rows, counts = stream.draw(range(4), np.random.default_rng(0))

    def gradients(loss: Tensor) -> tuple[float, Tensor]:
        model.zero_grad()
        loss.backward()
        return float(loss.detach()), torch.cat([p.grad.flatten() for p in model.parameters() if p.grad is not None])

    ours, down = gradients(stream.losses(Learner(model, {}), rows)["mlm"] / counts["mlm"])
    theirs, theirs_down = gradients(model(input_ids=rows.ids, labels=rows.labels).loss)
    return max(abs(ours - theirs) / theirs, float((down - theirs_down).norm() / theirs_down.norm()))


def main() -> None:
    """Measure and report."""
    options = arguments("continued pretraining against transformers' Trainer", rounds=3, threads=1)
    if not (data := os.environ.get("CALQUE_DATA")) or not (encoder := os.environ.get("CALQUE_ENCODER")):
        raise BadInput("this benchmark reads real text with a real encoder: set CALQUE_DATA and CALQUE_ENCODER")
    torch.set_num_threads(options.threads)
    with tempfile.TemporaryDirectory() as folder:
        measure(Path(folder), texts(Path(data)), model_folder(encoder), options.rounds, options.out)


def measure(folder: Path, text: dict[str, TextFiles], encoder: Path, rounds: int, out: Path | None) -> None:
    """Derive the text, let all sides take turns, and print how they compare."""
    opened: dict[Rows, Languages] = {}
    for rows in ("all", "used"):
        derive_natural(text, {}, GivenVocabulary(encoder), folder / rows, rows=rows)
        opened[rows] = Languages.open(folder / rows, list(text))
    streams = {rows: MLM().streams(languages, LENGTH, 0) for rows, languages in opened.items()}
    if (apart := difference(encoder, opened["all"], streams["all"][0])) > CLOSE:
        raise SystemExit(f"no comparison: loss or gradients differ by {apart:.1e}")

    def ours(rows: Rows, attention_dropout: float) -> Callable[[], float]:
        model, _ = beginning(encoder, opened[rows], attention_dropout).load()
        learner = Learner(model, {})

        def turn() -> float:
            ends: list[float] = []
            optimizer = make_optimizer(learner, TRAIN)
            train(learner, optimizer, streams[rows], TRAIN, 0, ALONE, after=lambda *_: ends.append(time.process_time()))
            return _speed(ends)

        return turn

    whole = opened["all"]
    packed = [PackedLines(language, whole.specials, LENGTH) for language in whole.languages]
    data = examples(np.stack([lines.row(i) for lines in packed for i in range(len(lines))]), whole.specials)
    collate = DataCollatorForLanguageModeling(load_tokenizer(encoder), mlm_probability=0.15)
    reference, _ = load_model(encoder, AutoModelForMaskedLM)

    def theirs() -> float:
        return _speed(trainer_steps(reference, data, collate, TRAIN))

    *speeds, speed = interleaved([*(ours(*recipe) for recipe in RECIPES.values()), theirs], rounds)
    comparisons = [
        Comparison("continued", f"{what} ({opened[rows].rows:,})", mine, speed, "tokens/CPU s", mine / speed)
        for (what, (rows, _)), mine in zip(RECIPES.items(), speeds, strict=True)
    ]
    print(f"loss and gradients of all rows equal to {apart:.0e}")
    report(comparisons, ["torch", "transformers", "accelerate"], out)


def _speed(ends: list[float]) -> float:
    steps = [after - before for before, after in zip(ends[WARM - 1 :], ends[WARM:], strict=False)]
    return TRAIN.batch * LENGTH / statistics.median(steps)


if __name__ == "__main__":
    main()

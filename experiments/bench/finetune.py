"""Fine-tuning on pairs of texts, rows/s against transformers' Trainer: `python -m experiments.bench.finetune`.

In CPU seconds of one thread, the same model, rows, batch size and optimizer on both sides.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from transformers import AutoModelForSequenceClassification, DataCollatorWithPadding, PreTrainedTokenizerFast, logging

from analysis.tasks.finetune import FinetuneConfig, finetune
from analysis.tasks.head import TextHead
from analysis.tasks.rows import Row
from analysis.tasks.split import Encoded
from derive.types import OURS
from experiments.bench.hugging_face import trainer_steps
from experiments.bench.timing import Comparison, arguments, interleaved, report
from pretrain.config import ModelConfig, TrainConfig
from pretrain.model import build

TYPES, LABELS, STEPS, WARM = 1_600, 3, 16, 4
"""Rows of the table, labels, steps of a turn, and those of them that are not counted."""
CLOSE = 1e-5
MODELS = {
    "2 layers of width 64": ModelConfig(layers=2, heads=4, hidden=64, ffn=256, length=64),
    "4 layers of width 256": ModelConfig(layers=4, heads=4, hidden=256, ffn=1024, length=64),
}
CONFIG = FinetuneConfig(learning_rate=5e-4, epochs=1, batch=64, dropout=0.0)


def made_rows(count: int, seed: int = 0) -> Encoded:
    """Rows of 12 to 40 ids, as pairs of short sentences have, with labels at random."""
    random = np.random.default_rng(seed)
    lengths = random.integers(12, 41, count)
    ids = [np.array([OURS.start, *random.choice(OURS.ordinary(TYPES), n - 2), OURS.end], np.int32) for n in lengths]
    rows = tuple(Row(row, random.integers(0, LABELS, 1).astype(np.int32)) for row in ids)
    return Encoded(rows, np.ones(count, int), 0)


def difference(folder: Path, data: Encoded) -> float:
    """The largest difference of a logit from transformers' own, on a batch with padding."""
    head = TextHead()
    model = AutoModelForSequenceClassification.from_pretrained(folder, num_labels=LABELS).eval()
    longest = max(len(row.ids) for row in data.rows)
    ids = torch.full((len(data.rows), longest), OURS.pad)
    for i, row in enumerate(data.rows):
        ids[i, : len(row.ids)] = torch.from_numpy(row.ids)
    types, real = torch.zeros_like(ids), ids != OURS.pad
    with torch.inference_mode():
        ours, theirs = head.output(model, ids, types, real), model(input_ids=ids, attention_mask=real.long()).logits
    return float((ours - theirs).abs().max())


def main() -> None:
    """Measure and report."""
    options = arguments("fine-tuning against transformers' Trainer", rounds=5, threads=1)
    torch.set_num_threads(options.threads)
    logging.set_verbosity_error()  # what Trainer's model lacks and has too much of, each time
    data = made_rows(STEPS * CONFIG.batch)
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=Tokenizer(WordLevel({"[PAD]": OURS.pad})), pad_token="[PAD]")
    collate = DataCollatorWithPadding(tokenizer)
    columns = [{"input_ids": row.ids.tolist(), "labels": int(row.targets[0])} for row in data.rows]
    recipe = TrainConfig(steps=STEPS, batch=CONFIG.batch, learning_rate=CONFIG.learning_rate, warmup=1)

    def ours(folder: Path) -> Callable[[], float]:
        def turn() -> float:
            ends: list[float] = []
            device, tell = torch.device("cpu"), lambda *_: ends.append(time.process_time())
            finetune(folder, data, TextHead(), LABELS, CONFIG, 0, device, tell)
            return _speed(ends)

        return turn

    def theirs(folder: Path) -> Callable[[], float]:
        def turn() -> float:
            model = AutoModelForSequenceClassification.from_pretrained(folder, num_labels=LABELS)
            return _speed(trainer_steps(model, columns, collate, recipe))

        return turn

    made = []
    for what, config in MODELS.items():
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            build(config, TYPES).save_pretrained(folder)
            if (apart := difference(folder, made_rows(CONFIG.batch, 1))) > CLOSE:
                raise SystemExit(f"no comparison: logits differ by {apart:.1e}")
            mine, other = interleaved([ours(folder), theirs(folder)], options.rounds)
        said = f"pairs of 12 to 40 ids, {what}; logits equal to {apart:.0e}"
        made.append(Comparison("finetune", said, mine, other, "rows/CPU s", mine / other))
    report(made, ["torch", "transformers", "accelerate"], options.out)


def _speed(ends: list[float]) -> float:
    steps = [after - before for before, after in zip(ends[WARM - 1 :], ends[WARM:], strict=False)]
    return CONFIG.batch / statistics.fmean(steps)


if __name__ == "__main__":
    main()

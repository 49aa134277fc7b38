"""Fine-tuning on pairs of texts, rows/s against transformers' Trainer: `python -m experiments.bench.finetune`.

In CPU seconds of one thread, the same model, rows, batch size and optimizer on both sides. Where CALQUE_ENCODER and
CALQUE_DATA are set, also a real encoder on inference pairs.
"""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from transformers import AutoModelForSequenceClassification, DataCollatorWithPadding, PreTrainedTokenizerFast, logging

from analysis.tasks.finetune import FinetuneConfig, finetune
from analysis.tasks.head import TextHead
from analysis.tasks.nli import NLI
from analysis.tasks.rows import Row
from analysis.tasks.split import Encoded
from analysis.tasks.zero_shot import reader_of
from derive.sources.files import WRITTEN
from derive.types import OURS
from experiments.bench.hugging_face import trainer_steps
from experiments.bench.timing import Comparison, arguments, interleaved, report
from pretrain.config import ModelConfig, TrainConfig
from pretrain.model import build

TYPES, LABELS, STEPS, WARM = 1_600, 3, 16, 4
"""Rows of the table, labels, steps of a turn, and those of them that are not counted."""
CLOSE = 1e-4
"""What rounding may make of a logit in twelve layers of float32."""
MODELS = {
    "2 layers of width 64": ModelConfig(layers=2, heads=4, hidden=64, ffn=256, length=64),
    "4 layers of width 256": ModelConfig(layers=4, heads=4, hidden=256, ffn=1024, length=64),
}
CONFIG = FinetuneConfig(learning_rate=5e-4, epochs=1, batch=64, dropout=0.0)
REAL = FinetuneConfig(learning_rate=1e-4, epochs=1, batch=32, dropout=0.0, freeze_table=True)
"""Of a real encoder, as the studies of natural languages have it."""


def made_rows(count: int, seed: int = 0) -> Encoded:
    """Rows of 12 to 40 ids, as pairs of short sentences have, with labels at random."""
    random = np.random.default_rng(seed)
    lengths = random.integers(12, 41, count)
    ids = [np.array([OURS.start, *random.choice(OURS.ordinary(TYPES), n - 2), OURS.end], np.int32) for n in lengths]
    rows = tuple(Row(row, random.integers(0, LABELS, 1).astype(np.int32)) for row in ids)
    return Encoded(rows, np.ones(count, int), 0)


@dataclass(frozen=True)
class Case:
    """A model in a folder, rows to learn, and how; a turn shows each once, and its first `warm` steps do not count."""

    what: str
    folder: Path
    data: Encoded
    config: FinetuneConfig
    pad: int
    warm: int

    @property
    def steps(self) -> int:
        return len(self.data) // self.config.batch

    def ours(self) -> float:
        """Rows a CPU second by `finetune`."""
        ends: list[float] = []
        device, tell = torch.device("cpu"), lambda *_: ends.append(time.process_time())
        finetune(self.folder, self.data, TextHead(), LABELS, self.config, 0, device, tell)
        return self._speed(ends)

    def theirs(self) -> float:
        """Rows a CPU second by Trainer, with the same rows frozen and no dropout but attention's."""
        options = {"hidden_dropout_prob": 0.0, "classifier_dropout": 0.0, "dtype": torch.float32}
        model = AutoModelForSequenceClassification.from_pretrained(self.folder, num_labels=LABELS, **options)
        if self.config.freeze_table:
            model.get_input_embeddings().weight.requires_grad_(False)
        vocabulary = Tokenizer(WordLevel({"[PAD]": self.pad}))
        collate = DataCollatorWithPadding(PreTrainedTokenizerFast(tokenizer_object=vocabulary, pad_token="[PAD]"))
        columns = [{"input_ids": row.ids.tolist(), "labels": int(row.targets[0])} for row in self.data.rows]
        rate = self.config.learning_rate
        recipe = TrainConfig(steps=self.steps, batch=self.config.batch, learning_rate=rate, warmup=1)
        return self._speed(trainer_steps(model, columns, collate, recipe))

    def difference(self) -> float:
        """The largest difference of a logit from transformers' own, on a batch with padding."""
        head, rows = TextHead(), self.data.rows[: self.config.batch]
        options = {"num_labels": LABELS, "dtype": torch.float32}  # weights of 16 bits would stay so
        model = AutoModelForSequenceClassification.from_pretrained(self.folder, **options).eval()
        ids = torch.full((len(rows), max(len(row.ids) for row in rows)), self.pad)
        for i, row in enumerate(rows):
            ids[i, : len(row.ids)] = torch.from_numpy(row.ids)
        types, real = torch.zeros_like(ids), ids != self.pad
        with torch.inference_mode():
            ours, theirs = head.output(model, ids, types, real), model(input_ids=ids, attention_mask=real.long()).logits
        return float((ours - theirs).abs().max())

    def _speed(self, ends: list[float]) -> float:
        steps = [after - before for before, after in zip(ends[self.warm - 1 :], ends[self.warm :], strict=False)]
        return self.config.batch / statistics.fmean(steps)


def real_pairs(encoder: Path, path: Path, count: int) -> Encoded:
    """The first inference pairs of a file as rows of a real tokenizer."""
    reader, labels = reader_of(encoder), ("contradiction", "entailment", "neutral")
    examples = islice(WRITTEN["nli"](path, Counter()), count)
    rows = [NLI().rows(one, (one.label,), labels, reader, 128)[0][0] for one in examples]
    return Encoded(tuple(rows), np.ones(len(rows), int), 0)


def main() -> None:
    """Measure and report."""
    options = arguments("fine-tuning against transformers' Trainer", rounds=5, threads=1)
    torch.set_num_threads(options.threads)
    logging.set_verbosity_error()  # what Trainer's model lacks and has too much of, each time
    with tempfile.TemporaryDirectory() as name:
        cases = []
        for what, config in MODELS.items():
            folder = Path(name) / what.replace(" ", "-")
            build(config, TYPES).save_pretrained(folder)
            said = f"pairs of 12 to 40 ids, {what}"
            cases.append(Case(said, folder, made_rows(STEPS * CONFIG.batch), CONFIG, OURS.pad, WARM))
        if (encoder := os.environ.get("CALQUE_ENCODER")) and (data := os.environ.get("CALQUE_DATA")):
            rows = real_pairs(Path(encoder), Path(data) / "nli" / "xnli" / "dev-en.tsv", 5 * REAL.batch)
            padding = reader_of(Path(encoder)).specials.pad
            what = "pairs of XNLI, a real encoder, its table at rest"
            cases.append(Case(what, Path(encoder), rows, REAL, padding, 1))
        made = []
        for case in cases:
            if (apart := case.difference()) > CLOSE:
                raise SystemExit(f"no comparison: logits differ by {apart:.1e}")
            mine, other = interleaved([case.ours, case.theirs], options.rounds)
            said = f"{case.what}; logits equal to {apart:.0e}"
            made.append(Comparison("finetune", said, mine, other, "rows/CPU s", mine / other))
    report(made, ["torch", "transformers", "accelerate"], options.out)


if __name__ == "__main__":
    main()

"""Fine-tuning on pairs of texts, rows/s against transformers' Trainer: `python -m experiments.bench.finetune`.

In CPU seconds of one thread, the same model, rows, batch size and optimizer on both sides. Where CALQUE_ENCODER and
CALQUE_DATA are set, also a real encoder on inference pairs. First both sides learn rows that can be learnt, with
several seeds, and are tested on others: what is faster has to score as well.
"""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from transformers import (
    AutoModelForSequenceClassification,
    DataCollatorWithPadding,
    PreTrainedModel,
    PreTrainedTokenizerFast,
    logging,
)

from analysis.statistics.intervals import estimate
from analysis.tasks.classification import NLI
from analysis.tasks.finetune import FinetuneConfig, Finetuned, finetune
from analysis.tasks.head import TextHead
from analysis.tasks.rows import Reader, TaskRow
from analysis.tasks.split import EncodedSet
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
LEARNT, TESTED, SEEDS = 4_096, 2_000, 5
"""Rows to learn from and to test on, and how often, to see whether both sides score alike."""
LEARNING = FinetuneConfig(learning_rate=1e-3, epochs=12, batch=64, dropout=0.0, weight_decay=0.0)
REAL = FinetuneConfig(learning_rate=1e-4, epochs=1, batch=32, dropout=0.0, freeze_table=True)
"""Of a real encoder, as the studies of natural languages have it."""


def made_rows(count: int, seed: int = 0) -> EncodedSet:
    """Rows of 12 to 40 ids, as pairs of short sentences have, with labels at random."""
    random = np.random.default_rng(seed)
    lengths = random.integers(12, 41, count)
    ids = [np.array([OURS.start, *random.choice(OURS.ordinary(TYPES), n - 2), OURS.end], np.int32) for n in lengths]
    rows = tuple(TaskRow(row, random.integers(0, LABELS, 1).astype(np.int32)) for row in ids)
    return EncodedSet(rows, np.ones(count, int), 0)


@dataclass(frozen=True)
class Case:
    """A model in a folder, rows to learn, and how; a turn shows each once, and its first `warm` steps do not count."""

    what: str
    folder: Path
    data: EncodedSet
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
        model = _theirs(self.folder)
        if self.config.freeze_table:
            model.get_input_embeddings().weight.requires_grad_(False)
        rate = self.config.learning_rate
        recipe = TrainConfig(steps=self.steps, batch=self.config.batch, learning_rate=rate, warmup=1)
        return self._speed(trainer_steps(model, _columns(self.data), _collator(self.pad), recipe))

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


def learnable_rows(count: int, seed: int) -> EncodedSet:
    """Rows whose label is the third of the types that most of their ids are of, the first of equals."""
    made = made_rows(count, seed)
    span = TYPES // LABELS + 1
    rows = []
    for row in made.rows:
        most = np.bincount(row.ids[1:-1] // span, minlength=LABELS).argmax()
        rows.append(TaskRow(row.ids, np.array([most], np.int32)))
    return EncodedSet(tuple(rows), made.counts, made.cut)


def accuracies(folder: Path, seed: int) -> tuple[float, float]:
    """The share of test rows that ours and Trainer's model get right, each fine-tuned on the same rows with a seed.

    Heads begin with other random weights, and rows come in another order: as two seeds of one of them do.
    """
    train, test = learnable_rows(LEARNT, 1), learnable_rows(TESTED, 2)
    truth = np.array([row.targets[0] for row in test.rows])
    steps = LEARNT // LEARNING.batch * LEARNING.epochs
    recipe = TrainConfig(
        steps=steps,
        batch=LEARNING.batch,
        learning_rate=LEARNING.learning_rate,
        warmup=round(LEARNING.warmup * steps),
        weight_decay=0.0,
        clip=LEARNING.clip,
    )
    ours = finetune(folder, train, TextHead(), LABELS, LEARNING, seed, torch.device("cpu"))
    torch.manual_seed(seed)
    model = _theirs(folder)
    trainer_steps(model, _columns(train), _collator(OURS.pad), recipe, seed)
    theirs = Finetuned(model, TextHead(), torch.device("cpu"))  # asked alike: only what was learnt differs
    first, second = (
        float((np.array([said[0] for said in one.answers(test)]) == truth).mean()) for one in (ours, theirs)
    )
    return first, second


def _theirs(folder: Path) -> PreTrainedModel:
    options = {"hidden_dropout_prob": 0.0, "classifier_dropout": 0.0, "dtype": torch.float32}
    made: PreTrainedModel = AutoModelForSequenceClassification.from_pretrained(folder, num_labels=LABELS, **options)
    return made


def _columns(data: EncodedSet) -> list[dict[str, list[int] | int]]:
    return [{"input_ids": row.ids.tolist(), "labels": int(row.targets[0])} for row in data.rows]


def _collator(pad: int) -> DataCollatorWithPadding:
    vocabulary = Tokenizer(WordLevel({"[PAD]": pad}))
    return DataCollatorWithPadding(PreTrainedTokenizerFast(tokenizer_object=vocabulary, pad_token="[PAD]"))


def real_pairs(encoder: Path, path: Path, count: int) -> EncodedSet:
    """The first inference pairs of a file as rows of a real tokenizer."""
    reader, labels = Reader.of_checkpoint(encoder), ("contradiction", "entailment", "neutral")
    examples = islice(WRITTEN["nli"](path, Counter()), count)
    rows = [NLI().rows(one, (one.label,), labels, reader, 128)[0][0] for one in examples]
    return EncodedSet(tuple(rows), np.ones(len(rows), int), 0)


def _say_scores(pairs: Sequence[tuple[float, float]]) -> None:
    """Print what both sides scored, and their difference over seeds."""
    (ours, theirs), apart = zip(*pairs, strict=True), estimate([mine - other for mine, other in pairs])
    assert apart.half is not None
    print(
        f"accuracy over {len(pairs)} seeds: {100 * statistics.fmean(ours):.1f} % (ours, {100 * min(ours):.1f} to "
        f"{100 * max(ours):.1f}), {100 * statistics.fmean(theirs):.1f} % (Trainer, {100 * min(theirs):.1f} to "
        f"{100 * max(theirs):.1f}); difference {100 * apart.mean:+.2f} ± {100 * apart.half:.2f} points (95 %)",
        flush=True,
    )


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
            padding = Reader.of_checkpoint(Path(encoder)).specials.pad
            what = "pairs of XNLI, a real encoder, its table at rest"
            cases.append(Case(what, Path(encoder), rows, REAL, padding, 1))
        pairs = [accuracies(cases[0].folder, seed) for seed in range(SEEDS)]
        _say_scores(pairs)
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

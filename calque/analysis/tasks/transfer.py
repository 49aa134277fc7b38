"""Fine-tune a checkpoint with a new head in one language, and test it in others, derived or natural.

Shapes: B rows, L ids in the longest row, K targets per row, C choices."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from calque.analysis.records.record import DELTA, ENTRY, NO_ENTRY, MeasuredModel, Measurement, Record
from calque.analysis.tasks.catalogue import Tagging
from calque.analysis.tasks.score import Answer, Score, words_of
from calque.analysis.tasks.task import EncodedSet, Head, Reader, Split, Task, TaskRow, check
from calque.derive.fingerprint import ADDED
from calque.derive.languages import SOURCE, Languages
from calque.derive.readers.conllu import WORDS, Units
from calque.derive.source import SPLITS
from calque.derive.task_data import TaskFolder
from calque.derive.vocabulary import open_vocabulary
from calque.pretrain.batch import UNLABELLED
from calque.pretrain.config import out_of_range
from calque.pretrain.lazy import F, Tensor, inference_mode, nn, torch
from calque.pretrain.model import TEXT_TYPES, autocast, has_languages, row_length
from calque.pretrain.saved_model import load_model, read_config
from calque.pretrain.train import NonFinite, learning_rate

Progress = Callable[[str, int, int], None]  # a title such as "pos source", the step, the number of steps
READ_IDS = 8_192  # ids per batch for prediction
MOST_EPOCHS = 100_000
PIECE = 1 << 22  # PIECE / squared model width is the overhead, in ids, of each piece of a batch on a CPU


@dataclass(frozen=True)
class FinetuneConfig:
    """Settings for fine-tuning by AdamW, with linear warm-up over a fraction of the steps, and decay to zero.
    The new head's learning rate is `head_rate` times the encoder's, and `max_length` is in ids. `dropout`
    applies to hidden states and the head. `attention_dropout` defaults to the checkpoint's; any value above 0
    makes attention three times slower on a CPU."""

    learning_rate: float = 2e-5
    head_rate: float = 1.0
    epochs: int = 10
    batch: int = 32
    max_length: int = 128
    warmup: float = 0.06
    weight_decay: float = 0.0
    clip: float = 1.0
    dropout: float = 0.1
    freeze_table: bool = field(default=False, metadata=ADDED)
    attention_dropout: float | None = field(default=None, metadata=ADDED)

    def mistakes(self) -> list[str]:
        positive, shares = ("learning_rate", "head_rate", "clip"), ("warmup", "dropout", "attention_dropout")
        wrong = out_of_range(self, positive, shares, epochs=1, batch=1, max_length=8, weight_decay=0)
        if self.epochs > MOST_EPOCHS:
            wrong.append(f"epochs must be at most {MOST_EPOCHS:,}, not {self.epochs:,}")
        return wrong


@dataclass(frozen=True)
class Finetuned:
    """A fine-tuned encoder with a head."""

    model: Any
    head: Head

    def logits(self, rows: Sequence[TaskRow]) -> Tensor:
        """Return the head's logits, (B, K, C)."""
        config = self.model.config
        ids = self.table([row.ids for row in rows], config.pad_token_id)
        types = torch.zeros_like(ids)
        if config.type_vocab_size == TEXT_TYPES:
            types = self.table([np.broadcast_to(row.types, len(row.ids)) for row in rows], 0)
        elif has_languages(config.type_vocab_size):
            numbers = [np.full(len(row.ids), row.language) for row in rows]
            types = self.table(numbers, config.type_vocab_size - 1)  # the last type is for padding
        with autocast(self.model.device):
            return self.head.logits(self.model, ids, types, ids != config.pad_token_id)

    @inference_mode
    def answers(self, rows: Sequence[TaskRow]) -> list[np.ndarray]:
        """Return the head's answers for each row, with arbitrary values at padding."""
        answers = dict[int, np.ndarray]()
        order = sorted(range(len(rows)), key=lambda i: -len(rows[i].ids))
        self.model.eval()
        while len(answers) < len(rows):
            start = len(answers)
            batch = order[start : start + max(1, READ_IDS // len(rows[order[start]].ids))]
            outputs = self.head.answers(self.logits([rows[i] for i in batch])).cpu().numpy()
            answers |= zip(batch, outputs, strict=True)
        return [answers[i] for i in range(len(rows))]

    def table(self, columns: Sequence[np.ndarray], filler: int) -> Tensor:
        """Return padded columns of rows, (B, L)."""
        tensors = [torch.tensor(column, dtype=torch.int64) for column in columns]
        return nn.utils.rnn.pad_sequence(tensors, True, filler).to(self.model.device)


def finetune(
    model: MeasuredModel,
    rows: Sequence[TaskRow],
    head: Head,
    labels: int,
    config: FinetuneConfig,
    progress: Callable[[int, int], None] = lambda step, steps: None,
) -> Finetuned:
    """Train a saved model's encoder and a new head on `rows`. Raises NonFinite for weights or losses."""
    import transformers

    settings = read_config(model.checkpoint)
    if labels:
        settings.num_labels = labels
    settings.hidden_dropout_prob = config.dropout
    if config.attention_dropout is not None:
        settings.attention_probs_dropout_prob = config.attention_dropout
    with torch.random.fork_rng(devices=[model.device] if model.device.startswith("cuda") else []):
        saved, missing = load_model(model.checkpoint)
        torch.manual_seed(model.seed)
        kind = getattr(transformers, head.auto)
        network = kind.from_config(settings, attn_implementation="sdpa", dtype=torch.float32)
        encoder, weights = network.base_model, saved.state_dict()
        known = weights.keys() - missing
        loaded = {name: weights[name] for name in encoder.state_dict() if name in known}
        encoder.load_state_dict(loaded, strict=False)
        if config.freeze_table:
            network.get_input_embeddings().weight.requires_grad_(False)
        old = [weight for name, weight in encoder.named_parameters() if name in loaded]
        pretrained = set(map(id, old))
        new = [weight for weight in network.parameters() if id(weight) not in pretrained]
        tuned, groups = Finetuned(network.to(model.device), head), [{"params": old}, {"params": new}]
        optimizer = torch.optim.AdamW(groups, weight_decay=config.weight_decay, fused=True)
        _train(tuned, rows, optimizer, config, model.seed, progress)
    return tuned


def _train(
    tuned: Finetuned,
    rows: Sequence[TaskRow],
    optimizer: Any,
    config: FinetuneConfig,
    seed: int,
    progress: Callable[[int, int], None],
) -> None:
    model, batches = tuned.model.train(), list[np.ndarray]()
    for epoch in range(config.epochs):
        order = np.random.default_rng([seed, epoch]).permutation(len(rows))
        batches += [order[start : start + config.batch] for start in range(0, len(rows), config.batch)]
    steps = len(batches)
    for step, batch in enumerate(batches):
        loss = _backward(tuned, [rows[i] for i in batch])
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), config.clip)
        if not torch.isfinite(loss + norm):
            raise NonFinite(f"step {step + 1}: loss {loss.item():g}, gradient norm {norm.item():g}")
        rate = learning_rate(config.learning_rate, step, round(config.warmup * steps), steps)
        for group, times in zip(optimizer.param_groups, (1.0, config.head_rate), strict=True):
            group["lr"] = times * rate
        optimizer.step()
        optimizer.zero_grad()
        progress(step + 1, steps)
    if not all(torch.isfinite(weight).all() for weight in model.parameters()):
        raise NonFinite(f"step {steps}: a weight is not finite after this step")


def _backward(tuned: Finetuned, rows: Sequence[TaskRow]) -> Tensor:
    model, targets = tuned.model, sum(int((row.targets != UNLABELLED).sum()) for row in rows)
    # On a GPU, splitting a batch into pieces saves no time and adds latency.
    overhead = math.inf if model.device.type == "cuda" else PIECE / model.config.hidden_size**2
    loss = torch.zeros((), device=model.device)
    for piece in pieces(rows, overhead):
        logits, gold = tuned.logits(piece), tuned.table([row.targets for row in piece], UNLABELLED)
        part = F.cross_entropy(logits.flatten(0, 1).float(), gold.flatten(), reduction="sum") / targets
        part.backward()
        loss += part.detach()
    return loss


def pieces(rows: Sequence[TaskRow], overhead: float) -> list[list[TaskRow]]:
    """Split a batch by length at the lowest cost: each piece's ids, with padding, plus `overhead`."""
    ordered = sorted(rows, key=lambda row: len(row.ids))
    lengths = [len(row.ids) for row in ordered]
    # For the n shortest rows, the minimum cost, and the row at which the last piece starts
    best = [(0.0, 0)]
    if len(rows) * lengths[-1] - sum(lengths) > overhead:
        for end, longest in enumerate(lengths, start=1):
            costs = (best[start][0] + (end - start) * longest + overhead for start in range(end))
            best.append(min(zip(costs, range(end), strict=True)))
    if not best[-1][1]:
        return [list(rows)]
    cut, end = list[list[TaskRow]](), len(rows)
    while end:
        start = best[end][1]
        cut.append(ordered[start:end])
        end = start
    return cut


class TaskModel:
    """A model fine-tuned on the set `train`. `exclusions` counts the examples that do not fit into one row,
    by the `title` of their set. Raises BadInput if the checkpoint and the data do not match."""

    def __init__(
        self,
        model: MeasuredModel,
        train: Split,
        labels: Sequence[str],
        config: FinetuneConfig,
        progress: Callable[[int, int], None],
        title: str = "",
    ) -> None:
        self.model, self.labels, self.config = read_config(model.checkpoint), labels, config
        self.exclusions = Counter[str]()
        rows = self._encode(train, title).rows
        self.finetuned = finetune(model, rows, train.task.head, len(labels), config, progress)

    def _encode(self, split: Split, title: str) -> EncodedSet:
        encoded = split.encode(self.labels, min(self.config.max_length, row_length(self.model)))
        highest, types = max((int(row.ids.max()) for row in encoded.rows), default=0), self.model.vocab_size
        if highest >= types:
            raise split.fault(f"the data contain id {highest:,}, but the model has only {types:,} types")
        self.exclusions[f"{title} that do not fit into one row"] = encoded.cut
        return encoded

    def test(
        self,
        test: Split,
        title: str = "",
        answers_of: Callable[[Sequence[TaskRow]], Sequence[np.ndarray]] | None = None,
    ) -> tuple[dict[str, Score], list[Answer]]:
        """Return a set's scores and predictions; `answers_of` (default: the model) answers rows."""
        encoded = self._encode(test, title)
        outputs = (answers_of or self.finetuned.answers)(encoded.rows)
        answers = test.decode(encoded, outputs, self.labels)
        return test.task.scores(test.gold, answers), answers


def by_entry(
    split: Split, answers: Sequence[Answer], languages: Languages, language: str
) -> dict[str, Score]:
    """The accuracy over a tagged set's words with and without a dictionary entry, excluding words with
    several sub-words and words that are the same as in the source."""
    if (SOURCE, language) not in languages.dictionaries:
        return {}
    images, entries = languages[language].images, {*languages.dictionary(SOURCE, language)[:, 1].tolist()}

    def group(word: str) -> str:
        first, *others = languages.vocabulary.encode(word)
        image = int(images[first])
        if others or image in (-1, first):
            return ""
        return ENTRY if image in entries else NO_ENTRY

    correct: dict[str, list[list[bool]]] = {ENTRY: [], NO_ENTRY: []}  # of each example's words
    for (example, gold), predicted in zip(split, answers, strict=True):
        words = [(group(word), *pair) for word, *pair in zip(words_of(example), gold, predicted, strict=True)]
        for name, column in correct.items():
            column.append([tag == answer for kind, tag, answer in words if kind == name])
    columns = {name: column for name, column in correct.items() if any(column)}
    return {name: Score.over(map(sum, column), map(len, column)) for name, column in columns.items()}


@dataclass(frozen=True)
class DerivedTask:
    """A task, its `examples` in a model's `languages`, and the settings for fine-tuning."""

    task: Task
    languages: Languages
    examples: TaskFolder
    config: FinetuneConfig

    def split(self, name: str, language: str) -> Split:
        reader = Reader.of(self.languages, language)
        return Split(self.examples.path(name, language), self.task, reader=reader)


def transfer(model: MeasuredModel, data: DerivedTask, progress: Progress = lambda *_: None) -> Measurement:
    """Measure every metric of a task. One model is fine-tuned on the source and scored on the source's test
    set (SRC), the derived test set (ZS) and the source's dev set (DEV). Another is fine-tuned and scored on
    the derived language (SUP). DELTA is SUP - ZS."""
    task, derived = data.task, model.language
    places = [*((split, SOURCE) for split in SPLITS), ("train", derived), ("test", derived)]
    sets = {place: data.split(*place) for place in places}
    labels = check(sets["train", SOURCE], sets.values())
    of_source = {"SRC": ("test", SOURCE), "ZS": ("test", derived), "DEV": ("dev", SOURCE)}
    records, exclusions = list[Record](), Counter[str]()
    for learnt, tests in ((SOURCE, of_source), (derived, {"SUP": ("test", derived)})):
        report = partial(progress, f"{task.name} {learnt}")
        train = sets["train", learnt]
        tuned = TaskModel(model, train, labels, data.config, report, f"train examples in {learnt}")
        for measure, place in tests.items():
            scores, answers = tuned.test(sets[place], " examples in ".join(place))
            compared = measure in ("ZS", "SUP")
            if compared and isinstance(task, Tagging):
                scores |= by_entry(sets[place], answers, data.languages, derived)
            for metric, score in scores.items():
                about = {"task": task.name, "items": score.items if compared else None}
                records.append(model.record(measure, metric, score.value, score.count, **about))
        exclusions = Counter({**exclusions, **tuned.exclusions})  # both models may be tested on the same set
        del tuned  # free the memory
    zero_shot = {record.metric: record.value for record in records if record.measure == "ZS"}
    for sup in [r for r in records if r.measure == "SUP" and r.metric in zero_shot]:
        records.append(replace(sup, measure=DELTA, value=sup.value - zero_shot[sup.metric], items=None))
    return Measurement(tuple(records), exclusions)


def zero_shot(
    model: MeasuredModel,
    task: Task,
    examples: TaskFolder,
    languages: Sequence[str],
    config: FinetuneConfig,
    progress: Callable[[int, int], None] = lambda step, steps: None,
    units: Units = WORDS,
) -> Measurement:
    """Fine-tune a checkpoint, with its own tokenizer, on a task in the first of the `languages`, and measure
    every metric on all test sets. `units` says whether words or XTREME's units are tagged."""
    source, reader = languages[0], Reader.of_given(open_vocabulary(model.checkpoint))
    train, tests = Split(examples.path("train"), task, reader=reader), dict[str, Split]()
    for name in languages:
        path = examples.path("test", SOURCE if name == source else name)
        tests[name] = Split(path, task.in_language(name), reader=reader)
    labels, records = check(train, tests.values()), list[Record]()
    tuned = TaskModel(model, train, labels, config, progress, "training examples")
    for language, test in tests.items():
        scores, _ = tuned.test(test, f"examples of {language}")
        measure = "SRC" if language == source else "ZS"
        for metric, score in scores.items():
            about = {"language": language, "task": task.name, "units": units, "items": score.items}
            records.append(model.record(measure, metric, score.value, score.count, **about))
    return Measurement(tuple(records), tuned.exclusions)

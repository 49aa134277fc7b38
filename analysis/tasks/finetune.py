"""Fine-tuning a checkpoint with a new head. Shapes: B rows of a batch, L ids of its longest row, R rows, C labels."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file
from torch import Tensor
from torch.nn import functional as F
from transformers import RobertaConfig, RobertaForSequenceClassification, RobertaForTokenClassification

from analysis.tasks.rows import Encoded
from derive.errors import BadInput
from derive.types import PAD
from pretrain.batch import UNLABELLED
from pretrain.data import PADDING
from pretrain.train import NonFinite

Classifier = RobertaForTokenClassification | RobertaForSequenceClassification


@dataclass(frozen=True)
class FinetuneConfig:
    """AdamW with linear warm-up and decay to zero; the model of the last epoch is the one that is scored.

    The head is new and learns `head_rate` times as fast as the encoder: a small model, fine-tuned as a whole at
    the rate that its head needs, loses what it knew of the other language. `max_length` counts ids of a row,
    specials included; a model that is shorter sets the limit. `warmup` is a share of the steps. `dropout` is that
    of hidden states and head; attention's stays the checkpoint's.
    """

    learning_rate: float = 2e-5
    head_rate: float = 1.0
    epochs: int = 10
    batch: int = 32
    max_length: int = 128
    warmup: float = 0.06
    weight_decay: float = 0.0
    clip: float = 1.0
    dropout: float = 0.1

    def mistakes(self) -> list[str]:
        """Everything that is wrong with these values, in words."""
        wrong = [
            f"{name} is at least 1, not {getattr(self, name)}"
            for name in ("epochs", "batch")
            if getattr(self, name) < 1
        ]
        if self.max_length < 8:
            wrong.append(f"max_length is at least 8 ids, not {self.max_length}")
        wrong += [
            f"{name} is a share below 1, not {getattr(self, name)}"
            for name in ("warmup", "dropout")
            if not 0 <= getattr(self, name) < 1
        ]
        if min(self.learning_rate, self.head_rate, self.clip) <= 0:
            wrong.append("learning_rate, head_rate and clip are above 0")
        if self.weight_decay < 0:
            wrong.append(f"weight_decay is 0 or more, not {self.weight_decay}")
        return wrong

    def rate(self, step: int, steps: int) -> float:
        """The learning rate of update `step` of `steps`, counted from 0."""
        rising = round(self.warmup * steps)
        if step < rising:
            return self.learning_rate * (step + 1) / rising
        return self.learning_rate * (steps - step) / (steps - rising)


TABLE_11 = {"pos": FinetuneConfig(epochs=10), "ner": FinetuneConfig(epochs=10), "nli": FinetuneConfig(epochs=5)}
"""The ALIGN-MLM paper's own values, where Table 11 gives one."""


def longest_row(checkpoint: Path, config: FinetuneConfig) -> int:
    """How many ids a row may have: the config's limit or the model's own."""
    positions: int = _settings(checkpoint).max_position_embeddings
    return min(config.max_length, positions - PAD - 1)  # positions count from PAD + 1


def check_types(checkpoint: Path, highest: int) -> None:
    """Refuse ids up to `highest` where the checkpoint's table of word embeddings has no such row.

    Raises:
        BadInput: with the number of rows that it has.
    """
    types: int = _settings(checkpoint).vocab_size
    if highest >= types:
        raise BadInput(f"the model has {types:,} types, and the data an id {highest:,}", checkpoint)


def finetune(
    checkpoint: Path,
    data: Encoded,
    labels: int,
    config: FinetuneConfig,
    seed: int,
    device: torch.device,
    progress: Callable[[int, int], None] = lambda step, steps: None,
) -> Classifier:
    """A classifier of `labels` labels trained on `data`; on a CPU the same arguments and threads give the same bits.

    The loss is the mean cross-entropy over the labels of a batch.

    Raises:
        BadInput: the checkpoint is no RoBERTa's, or has fewer rows than the languages have types.
        NonFinite: before an update with a loss or a gradient that is not a number.
    """
    devices = [device] if device.type == "cuda" else []
    with torch.random.fork_rng(devices=devices):
        torch.manual_seed(seed)
        model = _load(checkpoint, data, labels, config)
        torch.nn.Module.to(model, device)
        encoder, head = list(model.roberta.parameters()), list(model.classifier.parameters())
        optimizer = torch.optim.AdamW(
            [{"params": encoder}, {"params": head}], weight_decay=config.weight_decay, fused=True
        )
        rows = _Rows(data, model, device)
        steps = config.epochs * math.ceil(len(data) / config.batch)
        model.train()
        for step, chosen in enumerate(_epochs(data.lengths, config, seed)):
            logits, targets = rows.logits(chosen), rows.targets(chosen)
            loss = F.cross_entropy(logits.flatten(0, -2).float(), targets.flatten(), ignore_index=UNLABELLED)
            loss.backward()
            norm = torch.nn.utils.clip_grad_norm_(model.parameters(), config.clip)
            if not torch.isfinite(loss + norm):
                raise NonFinite(f"step {step + 1}: loss {loss.item():g}, gradient norm {norm.item():g}")
            for group, times in zip(optimizer.param_groups, (1.0, config.head_rate), strict=True):
                group["lr"] = times * config.rate(step, steps)
            optimizer.step()
            optimizer.zero_grad()
            progress(step + 1, steps)
    return model


def predict(model: Classifier, data: Encoded, ids_a_batch: int = 8192) -> list[np.ndarray]:
    """The most likely label of everything that has one, example by example: N arrays of label numbers."""
    rows = _Rows(data, model, model.device)
    best = np.zeros(data.labels.shape, np.int64)
    model.eval()
    order = np.argsort(-data.lengths, kind="stable")
    with torch.inference_mode():
        start = 0
        while start < len(order):
            # Rows come longest first: the first one says how wide the batch is.
            rows_a_batch = max(1, ids_a_batch // int(data.lengths[order[start]]))
            chosen = order[start : start + rows_a_batch]
            answer = rows.logits(chosen).argmax(-1).cpu().numpy()
            if data.per_word:
                best[chosen, : answer.shape[1]] = answer
            else:
                best[chosen] = answer
            start += len(chosen)
    return np.split(best[data.labels != UNLABELLED], np.cumsum(data.sizes)[:-1])


class _Rows:
    """Encoded rows on a device, and what a model says about some of them."""

    def __init__(self, data: Encoded, model: Classifier, device: torch.device) -> None:
        self.model, self.device = model, device
        self.lengths, self.language, self.per_word = data.lengths, data.language, data.per_word
        self.ids = torch.from_numpy(data.ids).to(device)
        self.labels = torch.from_numpy(data.labels).to(device)

    def logits(self, chosen: np.ndarray) -> Tensor:
        """(B, L, C), or (B, C) where a row has one label."""
        ids = self._take(self.ids, chosen, cut=True)
        words = ids != PAD
        types = torch.zeros_like(ids)
        if self.model.config.type_vocab_size > 1:
            types = torch.where(words, self.language, PADDING)
        with torch.autocast("cuda", torch.bfloat16, enabled=self.device.type == "cuda"):
            logits: Tensor = self.model(input_ids=ids, attention_mask=words.long(), token_type_ids=types).logits
        return logits

    def targets(self, chosen: np.ndarray) -> Tensor:
        """(B, L), or (B,) where a row has one label."""
        return self._take(self.labels, chosen, cut=self.per_word)

    def _take(self, table: Tensor, chosen: np.ndarray, cut: bool) -> Tensor:
        taken = table[torch.from_numpy(chosen).to(self.device)]
        return (taken[:, : int(self.lengths[chosen].max())] if cut else taken).long()


def _epochs(lengths: np.ndarray, config: FinetuneConfig, seed: int) -> Iterator[np.ndarray]:
    """Row numbers of every batch of every epoch; rows of a batch have like lengths.

    Each epoch is shuffled, sorted within stretches of 50 batches, and its batches are shuffled again.
    """
    for epoch in range(config.epochs):
        random = np.random.default_rng([seed, epoch])
        order = random.permutation(len(lengths))
        stretch = 50 * config.batch
        for start in range(0, len(order), stretch):
            part = order[start : start + stretch]
            order[start : start + stretch] = part[np.argsort(lengths[part], kind="stable")]
        batches = [order[start : start + config.batch] for start in range(0, len(order), config.batch)]
        for i in random.permutation(len(batches)):
            yield batches[i]


def _settings(checkpoint: Path) -> RobertaConfig:
    if not (checkpoint / "config.json").is_file():
        raise BadInput("no checkpoint: expected a folder with config.json and model.safetensors", checkpoint)
    return RobertaConfig.from_pretrained(checkpoint)


def _load(checkpoint: Path, data: Encoded, labels: int, config: FinetuneConfig) -> Classifier:
    """The checkpoint's encoder under a new head. Only the head may be missing, only the old head is left out."""
    settings = _settings(checkpoint)
    settings.num_labels = labels
    settings.hidden_dropout_prob = config.dropout
    settings._attn_implementation = "sdpa"
    check_types(checkpoint, int(data.ids.max()))
    head = RobertaForTokenClassification if data.per_word else RobertaForSequenceClassification
    model = head(settings)
    weights = load_file(checkpoint / "model.safetensors")
    encoder = {name: weight for name, weight in weights.items() if name.startswith("roberta.")}
    missing, unexpected = model.load_state_dict(encoder, strict=False)
    if wrong := [name for name in missing if not name.startswith("classifier.")] + unexpected:
        raise BadInput(f"weights missing or not expected: {', '.join(wrong)}", checkpoint / "model.safetensors")
    return model

"""Fine-tune a checkpoint with a new head. Shapes: B rows, L ids in the longest row, K targets per row, C
choices."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from calque.analysis.records.record import MeasuredModel
from calque.analysis.tasks.finetune_config import FinetuneConfig
from calque.analysis.tasks.rows import UNLABELLED, TaskRow
from calque.analysis.tasks.task import Head
from calque.derive.errors import BadInput
from calque.pretrain.lazy import F, Optimizer, Tensor, inference_mode, nn, torch
from calque.pretrain.model import TEXT_TYPES, has_languages, row_length
from calque.pretrain.saved_model import load_model, read_config
from calque.pretrain.train import NonFinite

READ_IDS = 8_192  # ids per batch for prediction
PIECE = 1 << 22  # PIECE / squared model width is the overhead, in ids, of each piece of a batch on a CPU


def longest_row(checkpoint: Path, config: FinetuneConfig) -> int:
    """The maximum number of ids in a row."""
    return min(config.max_length, row_length(read_config(checkpoint)))


def check_types(checkpoint: Path, highest: int) -> None:
    """Raise BadInput if the checkpoint has no word embedding for the id `highest`."""
    types: int = read_config(checkpoint).vocab_size
    if highest >= types:
        raise BadInput(f"the data contain id {highest:,}, but the model has only {types:,} types", checkpoint)


@dataclass(frozen=True)
class Finetuned:
    """A fine-tuned encoder with a head."""

    model: Any
    head: Head

    @property
    def device(self) -> Any:
        return self.model.device

    def logits(self, rows: Sequence[TaskRow]) -> Tensor:
        """Return the head's logits, (B, K, C)."""
        config = self.model.config
        ids = self._table([row.ids for row in rows], config.pad_token_id)
        types = torch.zeros_like(ids)
        if config.type_vocab_size == TEXT_TYPES:
            types = self._table([np.broadcast_to(row.types, len(row.ids)) for row in rows], 0)
        elif has_languages(config.type_vocab_size):
            numbers = [np.full(len(row.ids), row.language) for row in rows]
            types = self._table(numbers, config.type_vocab_size - 1)  # the last type is for padding
        with torch.autocast("cuda", torch.bfloat16, enabled=self.device.type == "cuda"):
            return self.head.logits(self.model, ids, types, ids != config.pad_token_id)

    def targets(self, rows: Sequence[TaskRow]) -> Tensor:
        return self._table([row.targets for row in rows], UNLABELLED)

    @inference_mode
    def answers(self, rows: Sequence[TaskRow]) -> list[np.ndarray]:
        answers = dict[int, np.ndarray]()
        order = sorted(range(len(rows)), key=lambda i: -len(rows[i].ids))
        self.model.eval()
        while len(answers) < len(rows):
            start = len(answers)
            batch = order[start : start + max(1, READ_IDS // len(rows[order[start]].ids))]
            outputs = self.head.answers(self.logits([rows[i] for i in batch])).cpu().numpy()
            answers |= zip(batch, outputs, strict=True)
        return [answers[i] for i in range(len(rows))]

    def _table(self, rows: Sequence[np.ndarray], filler: int) -> Tensor:
        tensors = [torch.tensor(row, dtype=torch.int64) for row in rows]
        return nn.utils.rnn.pad_sequence(tensors, batch_first=True, padding_value=filler).to(self.device)


def finetune(
    model: MeasuredModel,
    rows: Sequence[TaskRow],
    head: Head,
    labels: int,
    config: FinetuneConfig,
    progress: Callable[[int, int], None] = lambda step, steps: None,
    prepare: Callable[[Any], object] = lambda network: None,
) -> Finetuned:
    """Train a saved model's encoder and a new head for `labels` labels on `rows`, after `prepare` has
    changed the model. Raises BadInput if the checkpoint and the data do not match, and NonFinite if a loss, a
    gradient or a weight is not finite."""
    check_types(model.checkpoint, max(int(row.ids.max()) for row in rows))
    with torch.random.fork_rng(devices=[model.device] if model.device.startswith("cuda") else []):
        saved, missing = load_model(model.checkpoint)
        encoder = {name: weight for name, weight in saved.state_dict().items() if name not in missing}
        torch.manual_seed(model.seed)
        network, old, new = _with_head(model.checkpoint, encoder, head, labels, config)
        prepare(network)
        if config.freeze_table:
            network.get_input_embeddings().weight.requires_grad_(False)
        tuned = Finetuned(network.to(model.device), head)
        groups = [{"params": old}, {"params": new}]
        optimizer = torch.optim.AdamW(groups, weight_decay=config.weight_decay, fused=True)
        _train(tuned, rows, optimizer, config, model.seed, progress)
    return tuned


def _with_head(
    checkpoint: Path, encoder: dict[str, Tensor], head: Head, labels: int, config: FinetuneConfig
) -> tuple[Any, list[Tensor], list[Tensor]]:
    """Return the encoder with a new head, and lists of its pretrained and its new weights."""
    settings = read_config(checkpoint)
    if labels:
        settings.num_labels = labels
    settings.hidden_dropout_prob = config.dropout
    if config.attention_dropout is not None:
        settings.attention_probs_dropout_prob = config.attention_dropout
    model = head.kind.from_config(settings, attn_implementation="sdpa", dtype=torch.float32)
    loaded = {name: encoder[name] for name in model.base_model.state_dict() if name in encoder}
    model.base_model.load_state_dict(loaded, strict=False)
    pretrained = {id(weight) for name, weight in model.base_model.named_parameters() if name in loaded}
    old, new = list[Tensor](), list[Tensor]()
    for weight in model.parameters():
        (old if id(weight) in pretrained else new).append(weight)
    return model, old, new


def _train(
    tuned: Finetuned,
    rows: Sequence[TaskRow],
    optimizer: Optimizer,
    config: FinetuneConfig,
    seed: int,
    progress: Callable[[int, int], None],
) -> None:
    model, batches = tuned.model.train(), list[np.ndarray]()
    for epoch in range(config.epochs):
        batches += batches_of(len(rows), config.batch, [seed, epoch])
    steps = len(batches)
    # On a GPU, splitting a batch into pieces saves no time and adds latency.
    overhead = math.inf if tuned.device.type == "cuda" else PIECE / model.config.hidden_size**2
    for step, batch in enumerate(batches):
        loss = _backward(tuned, [rows[i] for i in batch], overhead)
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), config.clip)
        if not torch.isfinite(loss + norm):
            raise NonFinite(f"step {step + 1}: loss {loss.item():g}, gradient norm {norm.item():g}")
        for group, times in zip(optimizer.param_groups, (1.0, config.head_rate), strict=True):
            group["lr"] = times * config.rate(step, steps)
        optimizer.step()
        optimizer.zero_grad()
        progress(step + 1, steps)
    if not all(torch.isfinite(weight).all() for weight in model.parameters()):
        raise NonFinite(f"step {steps}: a weight is not finite after this step")


def batches_of(rows: int, batch: int, seed: Sequence[int]) -> list[np.ndarray]:
    """An epoch's batches of row indices, in random order."""
    order = np.random.default_rng(seed).permutation(rows)
    return [order[start : start + batch] for start in range(0, rows, batch)]


def _backward(tuned: Finetuned, rows: Sequence[TaskRow], overhead: float) -> Tensor:
    targets = sum(int((row.targets != UNLABELLED).sum()) for row in rows)
    loss = torch.zeros((), device=tuned.device)
    for piece in pieces(rows, overhead):
        logits, gold = tuned.logits(piece).flatten(0, 1).float(), tuned.targets(piece).flatten()
        part = F.cross_entropy(logits, gold, ignore_index=UNLABELLED, reduction="sum") / targets
        part.backward()
        loss += part.detach()
    return loss


def pieces(rows: Sequence[TaskRow], overhead: float) -> list[list[TaskRow]]:
    """Split a batch into pieces of similar length at the lowest cost: each piece costs its number of ids,
    including padding, plus `overhead`."""
    ordered = sorted(rows, key=lambda row: len(row.ids))
    lengths = [len(row.ids) for row in ordered]
    # For the n shortest rows, the minimum cost, and the row at which the last piece starts
    cheapest, starts = [0.0], [0]
    if len(rows) * lengths[-1] - sum(lengths) > overhead:
        for end in range(1, len(lengths) + 1):
            costs = [cheapest[start] + (end - start) * lengths[end - 1] + overhead for start in range(end)]
            starts.append(min(range(end), key=costs.__getitem__))
            cheapest.append(costs[starts[-1]])
    if not starts[-1]:
        return [list(rows)]
    cut, end = list[list[TaskRow]](), len(rows)
    while end:
        cut.append(ordered[starts[end] : end])
        end = starts[end]
    return cut

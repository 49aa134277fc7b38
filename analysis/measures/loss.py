"""The loss on masked ids: of text that no model has read, by language, and with the ids shuffled among their places.

Shapes: N masked ids, S shuffles, V types.
"""

from typing import Any

import numpy as np
import torch

from analysis.records.record import HELD_OUT, MeasuredModel, Measurement, Record
from derive.languages import Languages, only_last
from pretrain.architecture import architecture_of
from pretrain.batch import UNLABELLED, Rows
from pretrain.mask import MASK_RATE
from pretrain.model import autocast, encode, prediction_loss
from pretrain.objectives.mlm import Monolingual
from pretrain.saved_model import load_model, read_config

ROWS = 256  # rows of a batch: the number changes only the last digits
MOST = 2048  # masked ids that are used; the first ones, where there are more


def held_out_loss(model: MeasuredModel, languages: Languages, share: float, seed: int = 0) -> Measurement:
    """The loss in nats per masked id, for every language of a model, on the last `share` of its sentences. Rows are
    packed as in pretraining and masked as in BERT, 15 % of the ids of each; the masks depend on `seed` alone, so that
    models predict the same ids. So do clones of a language, whose lines have the same lengths."""
    spelt = architecture_of(settings := read_config(model.checkpoint))
    network: Any = load_model(model.checkpoint, spelt.masked_model)[0]
    network.to(model.device).eval()
    stream = Monolingual(only_last(languages.whole, share), spelt.length(settings), MASK_RATE)
    device, records, first = torch.device(model.device), list[Record](), 0
    for (language,), rows in stream.parts.items():
        random, total, count = np.random.default_rng(seed), 0.0, 0
        for start in range(first, first + rows, ROWS):
            batch, counts = stream.draw(range(start, min(start + ROWS, first + rows)), random)
            with torch.inference_mode(), autocast(device):
                total += float(prediction_loss(network, batch.to(device)))
            count += counts["mlm"]
        records.append(model.record(HELD_OUT, "nats", total / count, count, language=language))
        first += rows
    return Measurement(tuple(records))


def masked_only(rows: Rows, mask: int) -> Rows:
    """The rows with labels only where the input is the mask, a special id. One in five labelled ids of pretraining is
    visible, mostly as it is: copying those lowers the loss without context."""
    labels = rows.labels.masked_fill(rows.ids != mask, UNLABELLED)
    return Rows(rows.ids, labels, rows.languages, rows.padded, rows.places)


@torch.inference_mode()
def masked_loss(model: Any, rows: Rows, shuffles: int, seed: int) -> tuple[float, int, np.ndarray]:
    """The mean loss in nats of N masked ids, N, and the means after the ids were shuffled among their places, (S,). A
    model that knows how frequent words are, and no more, has the same loss after a shuffle: any gain was read from the
    context, if every labelled id is behind a mask (`masked_only`). The model is used as it is: in evaluation mode
    without dropout."""
    spelt, at = architecture_of(model.config), rows.positions.at[:MOST]
    if not len(at):
        raise ValueError("no id is masked")
    labels = rows.labels.flatten()[at]
    top = encode(model, rows, len(spelt.layers(model))).flatten(0, 1)[at]
    losses = torch.cat([-spelt.logits(model, part).float().log_softmax(1)[:, labels] for part in top.split(256)])
    table = losses.double().cpu().numpy()  # (N, N): at each place, of each id
    here, random = np.arange(len(at)), np.random.default_rng(seed)
    shuffled = [table[here, random.permutation(here)].mean() for _ in range(shuffles)]
    return float(table.diagonal().mean()), len(at), np.array(shuffled)


def unigram_loss(labels: np.ndarray, counts: np.ndarray) -> float:
    """The mean loss in nats of predicting types, (N,), by how often each occurs, `counts` (V,), plus one: chance."""
    return float(-np.log((counts[labels] + 1) / (counts.sum() + len(counts))).mean())

"""How well a model predicts masked ids of text that no model has read, language by language.

Shapes: N masked ids.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch

from analysis.records.record import HELD_OUT, Record
from derive.languages import Languages, only_last
from pretrain.architecture import architecture_of
from pretrain.mask import MASK_RATE
from pretrain.model import autocast, prediction_loss
from pretrain.objectives.mlm import Monolingual
from pretrain.saved_model import load_model, read_config

ROWS = 256
"""Rows of a batch: how many decides nothing but the last digits."""


def held_out_records(
    checkpoint: Path, languages: Languages, share: float, run: str, step: int, device: torch.device, seed: int = 0
) -> list[Record]:
    """The loss in nats a masked id, of every language of a model, on the last `share` of its sentences.

    Rows are packed as in pretraining and masked as in BERT, 15 % of the ids of each; which ones and by what depends on
    `seed` alone, so that models are asked for the same ids. Clones of a language, which have equally long lines, are
    asked for the same ids too. `run` and `step` are those of the checkpoint.

    Raises:
        BadInput: the checkpoint is damaged, or the text held out of a language does not fill a row.
    """
    spelt = architecture_of(settings := read_config(checkpoint))
    model, _ = load_model(checkpoint, spelt.masked_model)
    torch.nn.Module.to(model, device).eval()
    held = only_last(languages.whole, share)
    records, first = [], 0
    stream = Monolingual(held, spelt.length(settings), MASK_RATE)
    for (language,), rows in stream.parts.items():
        total, count = _loss(model, stream, range(first, first + rows), seed, device)
        records.append(Record(run, HELD_OUT, "nats", total / count, count, language=language, step=step))
        first += rows
    return records


@torch.inference_mode()
def _loss(model: object, stream: Monolingual, instances: range, seed: int, device: torch.device) -> tuple[float, int]:
    """The sum of the losses of N masked ids, and N."""
    random, total, count = np.random.default_rng(seed), 0.0, 0
    for start in range(0, len(instances), ROWS):
        rows, counts = stream.draw(instances[start : start + ROWS], random)
        with autocast(device):
            total += float(prediction_loss(model, rows.to(device)))
        count += counts["mlm"]
    return total, count

"""Precision and recall of XLM-Align's self-made labels during training, where the gold alignment is known."""

from __future__ import annotations

from pathlib import Path

from analysis.records.record import LABELS, Record
from pretrain.metrics import read_metrics

METRICS = {"label precision": "precision", "label recall": "recall", "labelled": "share"}
"""What metrics.jsonl calls them, and what records do."""


def label_records(metrics: Path, run: str, language: str, before: int = 0) -> list[Record]:
    """Precision and recall of the labels, and the share of ids that have one, as a run's metrics.jsonl has them.

    Each is a mean over the steps since the row before; there are none for an objective that labels nothing. `before`
    are the steps of the model that the run began with.

    Raises:
        BadInput: a row cannot be read.
    """
    records, last = [], 0
    for row in read_metrics(metrics):
        if "loss" not in row:
            continue
        at, steps, last = before + row["step"], row["step"] - last, row["step"]
        records += [
            Record(run, LABELS, METRICS[name], value, steps, language=language, step=at)
            for name, value in row.get("reported", {}).items()
            if name in METRICS
        ]
    return records

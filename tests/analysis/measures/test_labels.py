"""The quality of self-made labels, read from a run's metrics."""

from __future__ import annotations

import json
from pathlib import Path

from analysis.measures.contextual import self_labels
from analysis.records.record import LABELS


def test_rows_become_records_over_their_steps(tmp_path: Path) -> None:
    reported = {"label precision": 0.5, "label recall": 0.25, "labelled": 0.75, "something else": 1.0}
    rows = [
        {"step": 100, "loss": {"mlm": 3.0}, "reported": reported},
        {"step": 100, "probe": {"all": 0.1}},
        {"step": 150, "loss": {"mlm": 2.0}, "reported": reported | {"label precision": 0.6}},
    ]
    path = tmp_path / "metrics.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = self_labels(path, "run", "trans", before=1000)
    assert {(record.measure, record.run, record.language) for record in found} == {(LABELS, "run", "trans")}
    assert [(r.metric, r.value, r.count, r.step) for r in found] == [
        ("precision", 0.5, 100, 1100),
        ("recall", 0.25, 100, 1100),
        ("share", 0.75, 100, 1100),
        ("precision", 0.6, 50, 1150),
        ("recall", 0.25, 50, 1150),
        ("share", 0.75, 50, 1150),
    ]


def test_an_objective_that_labels_nothing_has_none(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    path.write_text(json.dumps({"step": 1, "loss": {"mlm": 3.0}}) + "\n")
    assert self_labels(path, "run", "trans") == []

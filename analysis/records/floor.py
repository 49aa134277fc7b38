"""Floors: what a baseline without a model scores on a test set, one JSON row each."""

from __future__ import annotations

from dataclasses import dataclass

from analysis.records.items import Items

FLOORS = "floors.jsonl"
"""The file of a folder that holds its floors."""


@dataclass(frozen=True)
class Floor:
    """One number of a baseline, which has no seed and is of no run.

    `baseline` was learnt from the training examples of the language `learnt` and scored on the test examples of
    `language`: those that models of the study are fine-tuned and scored on. `title` is its name for people. A
    `surface` one looks at how texts are alike, whatever words they have. The rest is as in
    `analysis.records.record.Record`.
    """

    baseline: str
    title: str
    task: str
    metric: str
    value: float
    count: int
    language: str
    learnt: str
    surface: bool = False
    items: Items | None = None

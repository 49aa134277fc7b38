"""Figures of self-made labels and of AER by layer."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from analysis.papers.xlm_align.contextual_figure import contextual_figure
from analysis.papers.xlm_align.label_figure import label_figure
from analysis.records.record import AER, LABELS
from analysis.records.results import Results
from analysis.report.style import OTHERS
from tests.analysis.aligned import STARTS, aligned_records
from tests.analysis.saved import saved


@pytest.mark.parametrize(("draw", "measure"), [(label_figure, LABELS), (contextual_figure, AER)])
@pytest.mark.parametrize("seeds", [1, 3])
def test_the_same_records_give_the_same_bytes(draw: object, measure: str, seeds: int, tmp_path: Path) -> None:
    assert callable(draw)
    records = aligned_records(STARTS, ("trans", "trans.inv"), seeds)
    first, again = (saved(draw(Results(records), "toy"), tmp_path / name) for name in "ab")
    for kind in ("png", "svg", "records"):
        assert getattr(first, kind).read_bytes() == getattr(again, kind).read_bytes()
    rows = [json.loads(line) for line in first.records.read_text().splitlines()]
    assert {row["measure"] for row in rows} == {measure}
    assert ("seeds" in first.caption) == (seeds > 1)


def test_the_legend_has_only_what_labels_itself(tmp_path: Path) -> None:
    drawing = saved(label_figure(Results(aligned_records(STARTS)), "toy"), tmp_path)
    text = drawing.svg.read_text(encoding="utf-8")
    assert "XLM-Align after ALIGN-MLM" in text and "no DWA" not in text


@pytest.mark.parametrize("draw", [label_figure, contextual_figure])
def test_nothing_measured_or_too_many_objectives_are_no_figure(draw: object) -> None:
    assert callable(draw)
    assert draw(Results([]), "toy") is None
    many = tuple(f"XLM-ALIGN-label{n}" for n in range(len(OTHERS) + 1))
    assert draw(Results(aligned_records(many, seeds=1)), "toy") is None

"""Figures: what they show is written beside them, and the same records give the same bytes."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from analysis.papers.align_mlm.correlation_figure import correlation_figure
from analysis.papers.align_mlm.delta_figure import delta_figure
from analysis.papers.align_mlm.growth_figure import growth_figure
from analysis.records.record import ALIGNMENT, Record
from analysis.records.results import Results
from analysis.report.plot import Drawing
from analysis.report.style import LOOKS, MOST, OTHERS, fills, looks
from tests.analysis.saved import saved
from tests.analysis.toy import STEPS, toy_published, toy_records

FIGURES = (delta_figure, correlation_figure, growth_figure)


def rows(drawing: Drawing) -> list[dict[str, object]]:
    return [json.loads(line) for line in drawing.records.read_text().splitlines()]


@pytest.mark.parametrize("seeds", [1, 3])
@pytest.mark.parametrize("draw", FIGURES)
def test_the_same_records_give_the_same_bytes_and_real_files(draw: object, seeds: int, tmp_path: Path) -> None:
    assert callable(draw)
    first, again = (saved(draw(Results(toy_records(seeds), toy_published()), "toy"), tmp_path / name) for name in "ab")
    for kind in ("png", "svg", "records"):
        assert getattr(first, kind).read_bytes() == getattr(again, kind).read_bytes()
    assert first.png.read_bytes().startswith(b"\x89PNG")
    assert ElementTree.parse(first.svg).getroot().tag.endswith("svg")
    assert "toy" in first.title and len(first.runs) == 8 * seeds
    assert sorted(path.suffix for path in (tmp_path / "a").iterdir()) == [".jsonl", ".png", ".svg"]


@pytest.mark.parametrize("draw", FIGURES)
def test_nothing_measured_is_no_figure(draw: object) -> None:
    assert callable(draw)
    assert draw(Results([]), "toy") is None


def test_figure_2_shows_published_values_of_the_same_metric_only(tmp_path: Path) -> None:
    drawing = saved(delta_figure(Results(toy_records(1), toy_published()), "toy"), tmp_path)

    shown = {(row["task"], row["metric"], row["value"]) for row in rows(drawing) if "paper" in row}
    assert shown == {("pos", "f1_bare_tags", 0.385), ("nli", "accuracy", -0.002)}
    assert {row["measure"] for row in rows(drawing) if "run" in row} == {"SUP", "ZS"}
    assert "paper" in drawing.caption
    alone = saved(delta_figure(Results(toy_records(1)), "toy"), tmp_path)
    assert "paper" not in alone.caption


def test_intervals_say_what_they_cover() -> None:
    one, three = (delta_figure(Results(toy_records(seeds)), "toy") for seeds in (1, 3))
    assert one is not None and "say nothing of other seeds" in one.caption
    assert three is not None and "intervals over seeds" in three.caption


def test_figure_3_says_rho_its_sign_and_each_transform(tmp_path: Path) -> None:
    drawing = saved(correlation_figure(Results(toy_records(3)), "toy"), tmp_path)

    details = " ".join(drawing.details)
    assert "between alignment and −Δ: positive when better alignment goes with better transfer" in details
    assert "NLI within each transform: Trans ρ = " in details and "Trans + Inv ρ = " in details
    assert {row["metric"] for row in rows(drawing) if row["measure"] == ALIGNMENT} == {"all"}


def test_growth_shows_every_step_of_all_and_held_out(tmp_path: Path) -> None:
    drawing = saved(growth_figure(Results(toy_records(2)), "toy"), tmp_path)

    assert {(row["metric"], row["step"]) for row in rows(drawing)} == {
        (metric, step) for metric in ("all", "held-out") for step in STEPS
    }


def test_one_step_is_no_growth() -> None:
    last = [record for record in toy_records(1) if record.step == STEPS[-1]]
    assert growth_figure(Results(last), "toy") is None


def many_records() -> list[Record]:
    """A study of more transforms than a figure has fills."""
    return [
        replace(record, transform=f"{record.transform}.inv-{percent}", run=f"{record.run}-{percent}")
        for percent in (10, 20, 30, 40)
        for record in toy_records(1)
    ]


def test_many_transforms_are_left_to_the_tables_and_to_points_that_look_alike(tmp_path: Path) -> None:
    results = Results(many_records())
    assert len(results.transforms) == 8 > MOST
    assert delta_figure(results, "toy") is growth_figure(results, "toy") is None
    drawing = saved(correlation_figure(results, "toy"), tmp_path)

    assert len(drawing.runs) == 4 * 8
    assert "within each transform" not in " ".join(drawing.details)


def test_more_than_three_panels_of_bars_stand_in_rows(tmp_path: Path) -> None:
    some = [record for record in many_records() if not record.run.endswith(("-30", "-40"))]
    three, four = (
        saved(
            delta_figure(Results([r for r in some if r.transform in transforms]), "toy"),
            tmp_path / str(len(transforms)),
        )
        for transforms in (Results(some).transforms[:3], Results(some).transforms)
    )
    (wide, low), (as_wide, high) = (
        map(float, ElementTree.parse(svg).getroot().attrib["viewBox"].split()[2:]) for svg in (three.svg, four.svg)
    )
    assert wide == as_wide
    assert high > 1.5 * low


def test_no_two_objectives_or_transforms_look_the_same() -> None:
    many = [*LOOKS, "XLM-10", "ALIGN-MLM-100"]
    found = looks(many)
    assert list(found) == many
    assert len({colour for colour, _ in found.values()}) == len({marker for _, marker in found.values()}) == len(many)
    with pytest.raises(ValueError, match="can tell 6 apart"):
        looks([f"other-{i}" for i in range(len(OTHERS) + 1)])
    with pytest.raises(ValueError, match="7 transforms"):
        fills([f"t{i}" for i in range(7)])

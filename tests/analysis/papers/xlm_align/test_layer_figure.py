"""Word alignment by layer: each encoder's mean over gold sets, and lines across for what has no layers."""

from __future__ import annotations

import pytest

from analysis.papers.xlm_align.layer_figure import layer_figure
from analysis.papers.xlm_align.link_findings import link_findings
from analysis.records.link_scores import APART, DIAGONAL, FAST_ALIGN, JOINT, LinkScore, LinkScores
from analysis.report.style import FULL, INK, LOOKS
from tests.analysis.drawn import coordinates, panels, points

SETS = ("de-en", "en-fr")
HITS = {0: 20, 1: 40, 2: 30}
"""Right links of 100 predicted and 100 to be found, by layer."""


def row(gold: str, aligner: str, learnt: str, way: str, layer: int, layers: int, right: int) -> LinkScore:
    run, main = f"{gold}-{aligner}-{learnt}", layer == 1 or not layers
    return LinkScore("toy", run, gold, aligner, learnt, way, layer, layers, main, 0, 10, 100, 100, right, right)


@pytest.fixture(scope="module")
def scores() -> LinkScores:
    """MLM's AER is .8, .6 and .7 by layer on German and .1 less on French; joint rows are worse by .1."""
    rows = [
        row(gold, "ot", "MLM", way, layer, 2, right + 10 * (gold == "en-fr") - 10 * (way == JOINT))
        for gold in SETS
        for way in (APART, JOINT)
        for layer, right in HITS.items()
    ]
    rows += [row(gold, DIAGONAL, "", "", 0, 0, 35) for gold in SETS]
    rows += [row(gold, FAST_ALIGN, "own", "grow-diag-final-and", 0, 0, 80) for gold in SETS]
    return LinkScores([*rows, row("ro-en", DIAGONAL, "", "", 0, 0, 10)], [*SETS, "ro-en"])


def test_lines_are_means_over_the_sets_of_the_encoder(scores: LinkScores) -> None:
    drawn = panels(layer_figure(scores, "toy"))
    assert list(drawn) == ["each side encoded alone", "both sides in one row"]
    colour, marker = LOOKS["MLM"]
    expected = [(layer, 100 - right - 5) for layer, right in HITS.items()]
    apart, joint = (points(panel, marker, colour) for panel in drawn.values())
    assert apart == [pytest.approx(point) for point in expected]
    assert joint == [pytest.approx((layer, rate + 10)) for layer, rate in expected]
    lines = [line for line in drawn["each side encoded alone"].lines if line.get_color() == INK]
    across = {line.get_linestyle(): coordinates(line)[1][0] for line in lines}
    assert across == {"-.": pytest.approx(65), "--": pytest.approx(20)}  # over two sets, though there are three


def test_it_fits_a_page_and_shows_its_records(scores: LinkScores) -> None:
    plot = layer_figure(scores, "toy")
    assert plot and plot.figure.get_figwidth() == FULL
    assert {record.run for record in plot.records} == {one.run for one in scores.rows}


def test_findings_name_the_best_with_and_without_an_encoder(scores: LinkScores) -> None:
    assert list(link_findings(scores)) == [
        "Of aligners without an encoder, fast_align (own) has the lowest mean AER over en-de and en-fr: 20.0 %.",
        "Of encoders, MLM by ot has the lowest: 55.0 %; linking each word to the one in the same place has 65.0 %.",
    ]


def test_without_an_encoder_there_is_no_figure(scores: LinkScores) -> None:
    without = [one for one in scores.rows if not one.layers]
    assert layer_figure(LinkScores(without, SETS), "toy") is None
    assert list(link_findings(LinkScores([], SETS))) == []

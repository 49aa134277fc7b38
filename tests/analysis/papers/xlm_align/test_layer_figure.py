"""Word alignment by layer: each encoder's mean over gold sets, and lines across for what has no layers."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from calque.analysis.papers.xlm_align.links import DIAGONAL, FAST_ALIGN, Systems, layer_figure, link_findings
from calque.analysis.records.record import AER, Items, LinkCounts, Record
from calque.analysis.records.run import Described, Run
from calque.analysis.report.drawing import HALF, INK
from calque.analysis.results.results import Results
from calque.pretrain.objectives import parse as objective
from tests.analysis.drawn import MANY, OBJECTIVES, coordinates, laid_out, legend, legible, looked, panels, points

SETS = ("de-en", "en-fr")
HITS = {0: 20, 1: 40, 2: 30}
"""Right links of 100 predicted and 100 to be found, by layer."""


def row(gold: str, aligner: str, learnt: str, right: int, **facets: Any) -> Record:
    links = LinkCounts(10, 100, 100, right, right)
    assert links.aer is not None
    name = f"{gold} {aligner} {learnt}"
    return Record(name, AER, "aer", links.aer, 100, gold_set=gold, aligner=aligner, links=links, **facets)


def run(record: Record) -> Run:
    gold, aligner, learnt = record.run.split(" ")
    layers, main = (2, 1) if aligner == "ot" else (0, 0)
    pair = tuple(Described(name, name) for name in gold.split("-"))
    named = learnt in OBJECTIVES
    by = Described.of(objective(learnt)) if named else Described(learnt, learnt) if learnt else None
    return Run(record.run, "toy", 0, pair, by, layers=layers, main_layer=main)


def made(records: list[Record], sets: Sequence[str]) -> Systems:
    return Systems(Results({one.id: one for one in map(run, records)}.values(), records), sets)


@pytest.fixture(scope="module")
def scores() -> Systems:
    """MLM's AER is .8, .6 and .7 by layer on German and .1 less on French; joint rows are worse by .1."""
    rows = [
        row(gold, "ot", "MLM", right + 10 * (gold == "en-fr") - 10 * joint, layer=layer, joint=joint)
        for gold in SETS
        for joint in (False, True)
        for layer, right in HITS.items()
    ]
    rows += [row(gold, DIAGONAL, "", 35) for gold in SETS]
    rows += [row(gold, FAST_ALIGN, "own", 80, symmetrisation="grow-diag-final-and") for gold in SETS]
    return made([*rows, row("ro-en", DIAGONAL, "", 10)], [*SETS, "ro-en"])


def test_lines_are_means_over_the_sets_of_the_encoder(scores: Systems) -> None:
    drawn = panels(layer_figure(scores, "toy", "ot"))
    assert list(drawn) == ["each side encoded alone", "both sides in one row"]
    colour, marker = OBJECTIVES["MLM"]
    expected = [(layer, 100 - right - 5) for layer, right in HITS.items()]
    apart, joint = (points(panel, marker, colour) for panel in drawn.values())
    assert apart == [pytest.approx(point) for point in expected]
    assert joint == [pytest.approx((layer, rate + 10)) for layer, rate in expected]
    lines = [line for line in drawn["each side encoded alone"].lines if line.get_color() == INK]
    across = {line.get_linestyle(): coordinates(line)[1][0] for line in lines}
    assert across == {"-.": pytest.approx(65), "--": pytest.approx(20)}  # over two sets, though there are three


def test_published_encoders_of_as_many_layers_stand_beside_joint_rows(scores: Systems) -> None:
    theirs = {
        "XLM-R": {"de-en": [0.9, 0.5, 0.4], "en-fr": [0.7, 0.3, 0.4]},
        "deeper": {"de-en": [0.9] * 4, "en-fr": [0.7] * 4},
        "of one set": {"de-en": [0.9, 0.5, 0.4]},
    }
    plot = layer_figure(scores, "toy", "ot", theirs)
    apart, joint = panels(plot).values()
    lines = [[line for line in panel.lines if line.get_marker() == "D"] for panel in (apart, joint)]
    assert [len(drawn) for drawn in lines] == [0, 1]
    places, rates = coordinates(lines[1][0])
    assert places.tolist() == [0, 1, 2] and rates.tolist() == pytest.approx([80, 40, 40])
    assert plot and "XLM-R, published" in legend(plot.figure)


def test_it_fits_a_page_and_shows_its_records(scores: Systems) -> None:
    plot = layer_figure(scores, "toy", "ot")
    assert plot and plot.figure.get_figwidth() == HALF
    assert {record.run for record in plot.records} == set(scores.results.runs)


def test_findings_have_the_rates_of_the_only_aligner_and_encoder(scores: Systems) -> None:
    learnt, read = link_findings(scores.results)
    assert "over en-de and en-fr: fast_align (own) 20.0 %, the only one" in learnt
    assert "MLM by ot 55.0 %, the only one" in read and "65.0 %" in read


@pytest.mark.parametrize(("other", "leads"), [(50, True), (79, False), (80, False)])
def test_an_aligner_leads_beyond_the_draw_of_sentences_alone(other: int, leads: bool) -> None:
    def kept(learnt: str, right: int) -> Record:
        made = row("de-en", FAST_ALIGN, learnt, right, symmetrisation="grow-diag-final-and")
        return replace(made, items=Items.over([2] * right + [0] * (100 - right), [2] * 100))

    systems = made([kept("own", 80), kept("more", other)], ("de-en",))
    (said,) = link_findings(systems.results)
    assert ("the lowest" in said) == leads and ("no lead" in said) != leads


def test_without_an_encoder_or_with_too_many_there_is_no_figure(scores: Systems) -> None:
    without = [record for record in scores.results.records if record.layer is None]
    assert layer_figure(made(without, SETS), "toy", "ot") is None
    many = [row("de-en", "ot", f"encoder-{n}", 40, layer=1) for n in range(MANY + 1)]
    assert layer_figure(made(many, SETS), "toy", "ot") is None
    assert layer_figure(made(many[1:], SETS), "toy", "ot")
    assert list(link_findings(made([], SETS).results)) == []


def test_encoders_of_other_depth_have_panels_of_their_own_as_high() -> None:
    """Layers are in their order, whatever that of the records; what is missing on a set of a row is not across it."""
    deep = [row("de-en", "ot", "XLM", 10 * layer, layer=layer) for layer in (3, 1, 0, 2)]
    flat = [row(gold, "ot", "MLM", right, layer=layer) for gold in SETS for layer, right in reversed(HITS.items())]
    rest = [row("de-en", DIAGONAL, "", 35)]
    rows = [*deep, *flat, *rest]
    runs = {r.run: replace(run(r), layers=3) if " XLM" in r.run else run(r) for r in rows}
    many = layer_figure(Systems(Results(runs.values(), rows), SETS), "toy", "ot")
    few = layer_figure(made([*flat, *rest], SETS), "toy", "ot")
    assert many and few
    for plot in (many, few):
        legible(plot.figure)
    heights = [*laid_out(few.figure), *laid_out(many.figure)]
    assert heights == pytest.approx([heights[0]] * 6, rel=0.3)
    first, _, second, _ = many.figure.axes
    assert points(first, *reversed(OBJECTIVES["MLM"])) == []
    (line,) = (line for line in first.lines if line.get_marker() == OBJECTIVES["XLM"][1])
    assert [values.tolist() for values in coordinates(line)] == [[0, 1, 2, 3], pytest.approx([100, 90, 80, 70])]
    (line,) = (line for line in second.lines if line.get_marker() == OBJECTIVES["MLM"][1])
    assert coordinates(line)[0].tolist() == [0, 1, 2]
    assert [[*map(int, panel.get_xticks())] for panel in many.figure.axes] == [[0, 1, 2, 3]] * 2 + [[0, 1, 2]] * 2
    assert {panel.get_xlabel() for panel in many.figure.axes} == {"layer"}
    assert [panel.get_ylabel() for panel in many.figure.axes] == [
        "mean AER, %\nen-de",
        "",
        "mean AER, %\nen-de, en-fr",
        "",
    ]
    titles = [
        f"{layers} layers, {way}" for layers in (3, 2) for way in ("each side encoded alone", "both sides in one row")
    ]
    assert [panel.get_title().replace("\n", " ") for panel in many.figure.axes] == titles
    assert [len([line for line in panel.lines if line.get_color() == INK]) for panel in (first, second)] == [1, 0]
    assert first.get_ylim() == many.figure.axes[1].get_ylim()


def test_the_legend_names_encoders_and_what_lies_across(scores: Systems) -> None:
    plot = layer_figure(scores, "toy", "ot")
    assert plot
    legible(plot.figure)
    assert {name: looked(entry) for name, entry in legend(plot.figure).items()} == {
        "MLM": (*OBJECTIVES["MLM"], "full", "-"),
        "diagonal": (INK, "None", "full", "-."),
        "fast_align, own": (INK, "None", "full", "--"),
    }

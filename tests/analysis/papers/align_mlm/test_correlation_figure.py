"""Figure 3: alignment across, transfer up, so that points rise where rho is positive."""

from dataclasses import replace

import pytest

from calque.analysis.papers.align_mlm.claims import align_mlm_findings, correlated
from calque.analysis.papers.align_mlm.figures import correlation_figure, in_words, without_correlation
from calque.analysis.records.record import ALIGNMENT, Published, Record
from calque.analysis.report.drawing import FILLS, INK, SOFT
from calque.analysis.statistics.correlation import LEAST, Correlation
from calque.analysis.statistics.verdicts import FAILS, HOLDS
from tests.analysis.drawn import (
    OBJECTIVES,
    coordinates,
    intervals,
    laid_out,
    legend,
    legible,
    looked,
    panels,
    points,
)
from tests.analysis.papers.align_mlm.test_delta_figure import many_records
from tests.analysis.runs import number
from tests.analysis.toy import joined, toy_published, toy_records

CELLS = {
    ("MLM", "trans"): (0.3, 0.2),
    ("MLM", "trans.inv"): (0.05, 0.7),
    ("XLM", "trans"): (0.5, 0.1),
    ("XLM", "trans.inv"): (0.2, 0.4),
}
"""Alignment and Delta: better aligned, better transfer."""


def records(*seeds: float) -> list[Record]:
    return [
        number(t, o, seed, measure, task, metric, value, 100)
        for seed, more in enumerate(seeds)
        for (o, t), (alignment, delta) in CELLS.items()
        for measure, task, metric, value in (
            ("SUP", "pos", "accuracy", 0.9),
            ("ZS", "pos", "accuracy", 0.9 - delta - 4 * more),
            (ALIGNMENT, "", "all", alignment + more),
        )
    ]


def test_points_lie_at_alignment_and_minus_delta() -> None:
    (panel,) = panels(correlation_figure(joined(records(-0.01, 0.0, 0.01)), "toy")).values()
    for objective in ("MLM", "XLM"):
        cells = sorted(cell for (name, _), cell in CELLS.items() if name == objective)
        colour, marker = OBJECTIVES[objective]
        drawn = points(panel, marker, colour)
        assert [x for x, _ in drawn] == pytest.approx([100 * alignment for alignment, _ in cells])
        assert [y for _, y in drawn] == pytest.approx([-100 * delta for _, delta in cells])
        assert drawn[0][1] < drawn[1][1]  # better aligned is higher
    assert "ρ = 1.00" in panel.get_title()
    assert panel.get_xlabel().startswith("alignment@1") and panel.get_ylabel() == "−Δ = ZS − SUP, points"


def test_intervals_end_where_shares_and_differences_do() -> None:
    """t of 4.303 over the root of 3: times .05 it is 12.4 points about 5, times .2 49.7 about 70."""
    (panel,) = panels(correlation_figure(joined(records(-0.05, 0.0, 0.05)), "toy")).values()
    drawn = intervals(panel)
    (across,) = ([a[0], b[0]] for a, b in drawn if a[1] == b[1] == -70)
    (along,) = ([a[1], b[1]] for a, b in drawn if a[0] == b[0] == 5)
    assert across == pytest.approx([0, 5 + 12.4], abs=0.1)
    assert along == pytest.approx([-100, -70 + 49.7], abs=0.1)


def test_five_tasks_stand_in_three_lines_in_which_every_word_can_be_read() -> None:
    tasks = {"pos": "accuracy", "ner": "f1", "nli": "accuracy", "qa": "f1", "paraphrase": "accuracy"}
    made = [
        replace(record, task=task, metric=metric) if record.task else record
        for number, (task, metric) in enumerate(tasks.items())
        for record in records(-0.01, 0.0, 0.01)
        if record.task or not number
    ]
    plot = correlation_figure(joined(made), "toy")
    assert plot is not None and len(panels(plot)) == 5
    legible(plot.figure)
    places = [panel.get_position() for panel in plot.figure.axes]
    assert len({round(place.y0, 3) for place in places}) == 3
    assert min(laid_out(plot.figure)) > 1
    labelled = [panel for panel in plot.figure.axes if panel.get_ylabel()]
    assert len(labelled) == 3


def test_fills_tell_transforms_apart() -> None:
    (panel,) = panels(correlation_figure(joined(records(0.0)), "toy")).values()
    single = [line for line in panel.lines if len(line.get_xdata()) == 1]
    faces = {round(float(line.get_xdata()[0])): line.get_markerfacecolor() for line in single}
    assert faces[30] == OBJECTIVES["MLM"][0] and faces[5] == "#ffffff"


def test_the_papers_own_cells_stand_behind_ours_under_their_own_metric() -> None:
    printed = [
        Published("ALIGN-MLM", 8, "DICT-MLM", "trans.inv", ALIGNMENT, "", "all", 0.641),
        Published("ALIGN-MLM", 3, "DICT-MLM", "trans.inv", "DELTA", "pos", "f1_bare_tags", 0.19),
        Published("ALIGN-MLM", 3, "DICT-MLM", "trans.inv", "DELTA", "nli", "accuracy", 0.091),
    ]
    plot = correlation_figure(joined(toy_records(1), printed), "toy")
    drawn = {title.partition(" ρ")[0]: panel for title, panel in panels(plot).items()}
    assert points(drawn["POS, F1 on bare tags"], "^", SOFT) == [pytest.approx((64.1, -19.0))]
    assert points(drawn["NLI, accuracy"], "^", SOFT) == [pytest.approx((64.1, -9.1))]
    assert points(drawn["NER, F1"], "^", SOFT) == []
    assert plot and set(plot.published) == set(printed)
    by = [text for text in plot.details if " by " in text.partition(":")[0]]
    assert len(by) == 1 and by[0].startswith("POS by accuracy: ρ = "), "the only task whose panel has another metric"


def test_it_says_rho_its_sign_and_each_transform() -> None:
    plot = correlation_figure(joined(toy_records(3), toy_published()), "toy")
    assert plot
    details = " ".join(plot.details)
    assert "between alignment and −Δ: positive when better alignment goes with better transfer" in details
    assert "NLI within each transform: Trans ρ = " in details and "Trans + Inv ρ = " in details
    assert {r.metric for r in plot.records if isinstance(r, Record) and r.measure == ALIGNMENT} == {"all"}


def test_nothing_measured_is_no_figure() -> None:
    assert correlation_figure(joined([]), "toy") is None and not without_correlation(joined([]))


@pytest.mark.parametrize(("objectives", "transforms"), [(1, 2), (1, 6), (3, 1)])
def test_few_cells_or_one_objective_have_no_correlation_and_the_report_says_why(
    objectives: int, transforms: int
) -> None:
    """Not in the figure, and not in the findings; a claim about it is undecided, or not there."""
    names, languages = list(OBJECTIVES)[:objectives], [f"trans-{10 * (1 + i)}" for i in range(transforms)]
    results = joined(
        [
            number(language, name, seed, measure, task, metric, value + 0.1 * place + 0.05 * objective, 100)
            for seed in range(2)
            for place, language in enumerate(languages)
            for objective, name in enumerate(names)
            for measure, task, metric, value in (
                ("SUP", "pos", "accuracy", 0.2),
                ("ZS", "pos", "accuracy", 0.15 - 0.04 * place - 0.01 * objective),
                (ALIGNMENT, "", "all", 0.1),
            )
        ]
    )
    assert len(results.points("pos", "accuracy")) == objectives * transforms
    assert correlation_figure(results, "toy") is None
    (line,) = without_correlation(results)
    assert f"needs {LEAST}" in line and line.endswith(str(objectives * transforms))
    assert "ρ" not in " ".join(align_mlm_findings(results))
    assert correlated(results, "pos", 0.7).verdict not in (HOLDS, FAILS)
    assert not without_correlation(joined(records(0.0)))


def test_the_legend_names_what_the_points_are() -> None:
    """Objectives by colour and marker, transforms by how markers are filled, and the paper's points if any."""
    three = [r for r in many_records() if r.language in ("trans.inv-10", "trans.inv-20", "trans.inv-30")]
    for published in ([], toy_published()):
        results = joined(three + toy_records(1) if published else three, published)
        plot = correlation_figure(results, "toy")
        assert plot
        entries = {name: looked(entry) for name, entry in legend(plot.figure).items()}
        expected = {results.objective_title(name): (*look, "full", "None") for name, look in OBJECTIVES.items()}
        expected |= {
            results.transform_title(name): (INK, "o", fill, "None")
            for name, fill in zip(results.transforms, FILLS, strict=False)
        }
        expected |= {"published, shapes as above": (SOFT, "o", "full", "None")} if published else {}
        assert entries == expected
        assert ("paper" in plot.caption) == bool(published)
        panel = next(iter(panels(plot).values()))
        drawn = {line.get_fillstyle() for line in panel.lines if line.get_marker() == "o" and line.get_color() != SOFT}
        assert drawn == {"full", *FILLS[2 : len(results.transforms)]}, "a hollow one is filled with white"


def test_it_can_be_read_and_has_all_shares_in_sight() -> None:
    heights, transforms = [], joined(many_records()).transforms
    assert correlation_figure(joined(many_records()), "toy") is None, "more transforms than fills"
    few = [record for record in many_records() if record.language in transforms[: len(FILLS)]]
    for records_, published in ((toy_records(3), toy_published()), (few, [])):
        plot = correlation_figure(joined(records_, published), "toy")
        assert plot
        legible(plot.figure)
        heights += laid_out(plot.figure)
        for place, panel in enumerate(plot.figure.axes):
            low, high = panel.get_xlim()
            assert low < 0 and low + high == 100, "0 and 100 lie as far from their ends"
            (zero,) = (line for line in panel.lines if line.get_color() == INK)
            assert list(coordinates(zero)[1]) == [0, 0]
            assert bool(panel.get_ylabel()) == (place % 2 == 0)
    assert min(heights[3:]) > 0.95 * max(heights[:3]), "a longer legend takes no room from the panels"


def test_rho_is_said_with_its_sign_interval_and_p() -> None:
    assert in_words(Correlation(-0.5, 0.25, 4, None, None, True)) == "ρ = −0.50, p = 0.250"
    assert in_words(Correlation(0.5, 0.001, 9, -0.25, 0.9, True)) == "ρ = 0.50 [−0.25, 0.90], p = 0.001"
    assert in_words(Correlation(0.5, 0.0009, 9, 0.25, 0.9, True)) == "ρ = 0.50 [0.25, 0.90], p < 0.001"


def test_the_papers_own_rho_is_told_where_it_has_cells_enough() -> None:
    """Of eight cells that rise together; of one there is none."""
    cells = [(o, t) for o in OBJECTIVES for t in ("trans", "trans.inv")]
    printed = [
        Published("ALIGN-MLM", table, o, t, measure, task, metric, share)
        for i, (o, t) in enumerate(cells)
        for table, measure, task, metric, share in (
            (8, ALIGNMENT, "", "all", 0.1 * i),
            (3, "DELTA", "nli", "accuracy", 0.9 - 0.1 * i),
        )
    ]
    told, untold = (
        [text for text in plot.details if "published" in text] if plot else []
        for plot in (correlation_figure(joined(toy_records(1), some), "toy") for some in (printed, printed[:2]))
    )
    assert [text.partition(" [")[0] for text in told] == ["NLI (accuracy), published, 8 cells: ρ = 1.00"]
    assert untold == []

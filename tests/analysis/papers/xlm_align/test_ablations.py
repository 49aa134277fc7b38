"""Tables 3 to 7 of XLM-Align, ours and the paper's."""

from dataclasses import replace

import pytest
from matplotlib.axes import Axes

from calque.analysis.papers.looks import BY_NAME
from calque.analysis.papers.xlm_align.ablations import ablation_tables, errors
from calque.analysis.papers.xlm_align.figures import ARROWS, BELOW, ablation_figure
from calque.analysis.records.record import AER, Published, Record
from calque.analysis.report.drawing import INK
from calque.analysis.results.measured import difference
from calque.analysis.tasks.catalog import PRIMARY
from tests.analysis.aligned import ABLATIONS, END, STARTS, aligned_records
from tests.analysis.drawn import coordinates, intervals, laid_out, legend, legible, looked, panels, points
from tests.analysis.runs import number
from tests.analysis.toy import joined


def printed(table: int, setting: str, pos: float) -> list[Published]:
    return [
        Published("XLM-Align", table, "XLM-Align", "", "ZS", task, "f1", pos + i / 1000, setting)
        for i, task in enumerate(("nli", "pos", "ner", "qa"))
    ]


PAPER = [
    *printed(3, "", 0.7),
    *printed(3, "without DWA", 0.68),
    *printed(6, "", 0.7),
    *printed(6, "without filtering", 0.65),
]


def test_every_table_has_our_rows_and_the_papers() -> None:
    tables = dict(ablation_tables(joined(aligned_records(ABLATIONS), PAPER), "toy"))
    assert list(tables) == ["table-3", "table-4", "table-5", "table-6", "table-7"]
    settings = {name: [(row[0], row[2]) for row in table.rows] for name, table in tables.items()}
    assert settings["table-3"] == [
        ("XLM-Align", "ours"),
        ("without DWA", "ours"),
        ("without TLM", "ours"),
        ("without DWA, without TLM", "ours"),
        ("XLM-Align", "published"),
        ("without DWA", "published"),
    ]
    assert settings["table-4"] == [("XLM-Align", "ours"), ("self-labelling layer 1, of ours", "ours")]
    assert settings["table-5"] == [("XLM-Align", "ours"), ("DWA layer 1, of ours", "ours")]
    assert [name for name, whose in settings["table-7"] if whose == "ours"] == [
        "XLM-Align",
        "queries unmasked",
        "queries all-aligned",
        "without DWA",
    ]
    assert {table.header[: table.labels] for table in tables.values()} == {("setting", "languages", "source")}
    assert "starts after ALIGN-MLM" in tables["table-3"].note
    published = [tables["table-3"].rows[i] for i in tables["table-3"].published]
    assert published[0][3:7] == ("70.0", "70.2", "70.1", "70.3")
    assert len(tables["table-3"].runs) == 4 * 3


def test_a_table_without_a_setting_to_compare_is_left_out() -> None:
    assert list(dict(ablation_tables(joined(aligned_records(STARTS)), "toy"))) == ["table-3"]
    for too_few in ((), ("XLM-ALIGN",)):
        assert not list(ablation_tables(joined(aligned_records(too_few)), "toy"))


def test_the_error_rate_is_that_of_the_last_layer() -> None:
    results = joined(aligned_records(("MLM",)))
    assert errors(results, "MLM", results.transforms[0]) == results.scores(
        AER, "MLM", results.transforms[0], "", "aer", layer=2
    )
    assert errors(joined([]), "MLM", "trans") == {}


LEFT, RIGHT = ARROWS
OURS = BY_NAME["XLM-ALIGN"].colour
COLOURS = (OURS, BY_NAME["MLM"].colour)
"""XLM-Align's forms, and what is left without its parts."""


def ours(panel: Axes) -> dict[int, float]:
    """Our numbers by row."""
    return {
        round(float(y)): float(x)
        for line in panel.lines
        if line.get_color() in COLOURS and line.get_marker() not in ARROWS
        for x, y in zip(*coordinates(line), strict=True)
    }


ROWS = {
    "without DWA": "XLM-ALIGN-no-dwa",
    "without filtering": "XLM-ALIGN-unfiltered",
    "without DWA, without TLM": "MLM",
}


@pytest.mark.parametrize("seeds", [1, 2])
def test_gains_stand_in_their_rows_and_the_papers_below(seeds: int) -> None:
    results = joined(aligned_records(ABLATIONS, seeds=seeds), PAPER)
    plot = ablation_figure(results, "toy")
    drawn = panels(plot)
    assert list(drawn) == ["NLI accuracy", "NER F1", "POS accuracy"]
    first = next(iter(drawn.values()))
    labels = [label.get_text().replace("\n", " ") for label in first.get_yticklabels()]
    for task, panel in zip(results.tasks, drawn.values(), strict=True):
        at = ours(panel)
        assert sorted(at) == list(range(len(labels)))
        for label, objective in ROWS.items():
            pair = (results.scores("ZS", f"{o}{END}", "trans", task, PRIMARY[task]) for o in (objective, "XLM-ALIGN"))
            gain = difference(*pair)
            assert gain and at[labels.index(label)] == pytest.approx(100 * gain.mean)
        theirs = {round(y - BELOW, 6): round(x, 6) for x, y in points(panel, "D", INK)}
        assert theirs == {labels.index("without DWA"): -2.0, labels.index("without filtering"): -5.0}
        assert 0 < BELOW < 0.5, "nearer to its own row than to the next"
        assert [coordinates(line)[0].tolist() for line in panel.lines if line.get_marker() == "None"] == [[0, 0]]
        assert panel.get_xlim() == first.get_xlim()
    assert plot and ("over seeds" in plot.caption) == (seeds > 1)
    assert {r.measure for r in plot.records if isinstance(r, Record)} == {"ZS"}
    settings = ("", "without DWA", "without filtering")
    assert {(p.setting, p.task) for p in plot.published} == {
        (name, task) for name in settings for task in results.tasks
    }


def test_a_long_interval_stretches_no_axis_and_has_arrows() -> None:
    records = aligned_records((f"XLM-ALIGN-no-tlm{END}", f"XLM-ALIGN{END}"))
    noisy = [
        replace(r, value=r.value + 0.3 * (int(r.run[-1]) - 1)) if "no-tlm" in r.run and r.measure == "ZS" else r
        for r in records
    ]
    calm, wild = (panels(ablation_figure(joined(rows), "toy"))["POS accuracy"] for rows in (records, noisy))
    assert wild.get_xlim() == pytest.approx(calm.get_xlim(), abs=5)
    arrows = [marker for marker in ARROWS if points(wild, marker, OURS)]
    assert arrows and not any(points(calm, marker, OURS) for marker in ARROWS)
    assert all(x in wild.get_xlim() for marker in arrows for x, _ in points(wild, marker, OURS))


def test_nothing_to_compare_is_no_figure() -> None:
    assert ablation_figure(joined([]), "toy") is None
    assert ablation_figure(joined(aligned_records(("XLM-ALIGN", "XLM-ALIGN-gold"))), "toy") is None


def compared(gain: float, noise: float = 0.0) -> list[Record]:
    """XLM-Align without TLM gains so much on POS over XLM-Align, which has a score of .4; seeds differ by `noise`."""
    return [
        number("trans", objective, seed, "ZS", "pos", "accuracy", value, 99)
        for seed in range(2)
        for objective, value in (("XLM-ALIGN", 0.4), ("XLM-ALIGN-no-tlm", 0.4 + gain + noise * (seed - 0.5)))
    ]


@pytest.mark.parametrize(("gain", "limits"), [(0.0, (-5, 5)), (0.024, (-5, 7.4)), (-0.12, (-18, 6)), (0.3, (-15, 45))])
def test_the_axis_reaches_half_as_far_again_as_the_numbers(gain: float, limits: tuple[float, float]) -> None:
    """On either side, and at least five points."""
    (panel,) = panels(ablation_figure(joined(compared(gain)), "toy")).values()
    assert panel.get_xlim() == pytest.approx(limits)


def test_an_arrow_stands_where_an_interval_goes_on_beyond_the_axis() -> None:
    """t of 12.7 with one degree of freedom: the interval of seeds that differ by .02 reaches 12.7 points each way."""
    (panel,) = panels(ablation_figure(joined(compared(-0.1, 0.02)), "toy")).values()
    assert (points(panel, LEFT, OURS), points(panel, RIGHT, OURS)) == ([(pytest.approx(-15), 0)], [])
    (panel,) = panels(ablation_figure(joined(compared(0.1, 0.02)), "toy")).values()
    assert (points(panel, LEFT, OURS), points(panel, RIGHT, OURS)) == ([], [(pytest.approx(15), 0)])
    assert [(round(a, 1), round(b, 1)) for (a, _), (b, _) in intervals(panel)] == [(-2.7, 22.7)]


def test_it_can_be_read_and_says_what_is_what() -> None:
    heights = []
    for objectives in (ABLATIONS[:4], ABLATIONS):
        plot = ablation_figure(joined(aligned_records(objectives), PAPER), "toy")
        assert plot
        legible(plot.figure)
        for place, panel in enumerate(plot.figure.axes):
            assert panel.get_xlabel() == "ZS gain"
            count = len(panel.get_yticks())
            assert panel.get_ylim() == (count - 0.5, -0.5), "the first row is the uppermost"
            assert bool(panel.get_yticklabels()) == (place == 0)
            heights.append(laid_out(plot.figure)[place] / count)
        assert {name: looked(entry) for name, entry in legend(plot.figure).items()} == {
            "ours, MLM": (COLOURS[1], "", "full", "-"),
            "ours, XLM-Align": (OURS, "", "full", "-"),
            "published, at the paper’s scale": (INK, "D", "none", "None"),
        }
    assert heights == pytest.approx([heights[0]] * 6, rel=0.3), "a row is as high among many as among few"


def test_rows_name_the_languages_where_there_are_several() -> None:
    objectives = (f"XLM-ALIGN-no-tlm{END}", f"XLM-ALIGN{END}")
    for transforms, names in ((("trans",), [""]), (("trans", "trans.inv"), [" (Trans)", " (Trans + Inv)"])):
        plot = ablation_figure(joined(aligned_records(objectives, transforms)), "toy")
        panel = next(iter(panels(plot).values()))
        assert [label.get_text().replace("\n", " ") for label in panel.get_yticklabels()] == [
            f"without TLM{name}" for name in names
        ]

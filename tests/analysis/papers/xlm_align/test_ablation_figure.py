"""What each setting gains: in its row, on one scale, with the paper's number below ours."""

from __future__ import annotations

from dataclasses import replace

import pytest

from analysis.papers.xlm_align.ablation_figure import BELOW, OURS, ablation_figure
from analysis.records.record import Record
from analysis.report.style import INK
from analysis.results.measured import difference
from analysis.tasks.catalog import PRIMARY
from tests.analysis.aligned import ABLATIONS, END, aligned_records
from tests.analysis.drawn import coordinates, panels, points
from tests.analysis.papers.xlm_align.test_ablations import PAPER
from tests.analysis.toy import joined

ROWS = {
    "without DWA": "XLM-ALIGN-no-dwa",
    "without filtering": "XLM-ALIGN-unfiltered",
    "without DWA, without TLM": "MLM",
}


@pytest.mark.parametrize("seeds", [1, 3])
def test_gains_stand_in_their_rows_and_the_papers_below(seeds: int) -> None:
    results = joined(aligned_records(ABLATIONS, seeds=seeds), PAPER)
    plot = ablation_figure(results, "toy")
    drawn = panels(plot)
    assert list(drawn) == ["NLI accuracy", "NER F1", "POS accuracy"]
    first = next(iter(drawn.values()))
    labels = [label.get_text() for label in first.get_yticklabels()]
    for task, panel in zip(PRIMARY, drawn.values(), strict=True):
        at = {round(y): x for x, y in points(panel, "o", OURS)}
        assert sorted(at) == list(range(len(labels)))
        for label, objective in ROWS.items():
            pair = (results.scores("ZS", f"{o}{END}", "trans", task, PRIMARY[task]) for o in (objective, "XLM-ALIGN"))
            gain = difference(*pair)
            assert gain and at[labels.index(label)] == pytest.approx(100 * gain.mean)
        theirs = {round(y - BELOW, 6): round(x, 6) for x, y in points(panel, "D", INK)}
        assert theirs == {labels.index("without DWA"): -2.0, labels.index("without filtering"): -5.0}
        assert 0 < BELOW < 0.5, "nearer to its own row than to the next"
        assert [coordinates(line)[0].tolist() for line in panel.lines if line.get_marker() == "None"] == [[0, 0]]
        assert panel.get_xlim() == first.get_xlim() and panel.get_xlim()[0] == -panel.get_xlim()[1]
    assert plot and ("over seeds" in plot.caption) == (seeds > 1)
    assert {r.measure for r in plot.records if isinstance(r, Record)} == {"ZS"}
    assert {p.setting for p in plot.published} == {"", "without DWA", "without filtering"}


def test_a_long_interval_stretches_no_axis_and_has_arrows() -> None:
    records = aligned_records((f"XLM-ALIGN-no-tlm{END}", f"XLM-ALIGN{END}"))
    noisy = [
        replace(r, value=r.value + 0.3 * (int(r.run[-1]) - 1)) if "no-tlm" in r.run and r.measure == "ZS" else r
        for r in records
    ]
    calm, wild = (panels(ablation_figure(joined(rows), "toy"))["POS accuracy"] for rows in (records, noisy))
    assert wild.get_xlim() == pytest.approx(calm.get_xlim(), abs=5)
    arrows = [marker for marker in "<>" if points(wild, marker, OURS)]
    assert arrows and not any(points(calm, marker, OURS) for marker in "<>")
    reach = wild.get_xlim()[1]
    assert all(abs(x) == reach for marker in arrows for x, _ in points(wild, marker, OURS))


def test_nothing_to_compare_is_no_figure() -> None:
    assert ablation_figure(joined([]), "toy") is None
    assert ablation_figure(joined(aligned_records(("XLM-ALIGN", "XLM-ALIGN-gold"))), "toy") is None

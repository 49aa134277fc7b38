import pytest

from calque.analysis.papers.figures import NEVER, onset
from calque.analysis.papers.published import published
from calque.analysis.records.record import Null, Record
from calque.analysis.statistics import spearman

PAPER = "align_mlm"


def alignments_and_deltas(task):
    aligned, deltas = (
        {(p.objective, p.transform): p.value for p in published(PAPER, table) if (p.measure, p.task) == about}
        for table, about in ((8, ("alignment", "")), (3, ("DELTA", task)))
    )
    assert aligned.keys() == deltas.keys() and len(deltas) == 12
    return list(aligned.values()), [deltas[key] for key in aligned]


@pytest.mark.parametrize(("task", "rho"), [("nli", 0.727), ("ner", 0.781), ("pos", 0.734)])
def test_published_rho_follows_from_tables_3_and_8(task, rho):
    found = spearman(*alignments_and_deltas(task))
    assert (round(found.rho, 3), found.n, found.exact) == (rho, 12, True) and found.p < 0.01


def test_published_deltas_are_sup_minus_zs():
    for table in (3, 6, 7):
        numbers = published(PAPER, table)
        cells = {(p.objective, p.transform, p.setting, p.task, p.measure): p.value for p in numbers}
        for (objective, transform, setting, task, measure), delta in cells.items():
            if measure == "DELTA":
                sup, zs = (cells[objective, transform, setting, task, m] for m in ("SUP", "ZS"))
                assert abs(sup - zs - delta) < 0.0011, (table, objective, transform, setting, task)


STEPS = (0, 8, 16, 32, 64, 128)


def curve(*values):
    return {
        step: Record("run", "alignment", "all", value, 10, step=step, null=Null(0.0, -1.0, 1.0, 40))
        for step, value in zip(STEPS, values, strict=False)
    }


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ((0, 2, 0, 2, 2, 2), 32),  # a single probe may be chance
        ((2, 2, 0, 0), 0),
        ((0, 0, 0, 2), NEVER),  # the last probe cannot be confirmed
        ((0, -2, -2), NEVER),
        ((1, 1, 1), NEVER),
    ],
)
def test_onset_needs_two_probes_in_a_row(values, expected):
    assert onset(curve(*values)) == expected

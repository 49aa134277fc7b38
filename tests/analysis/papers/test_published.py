import pytest

from calque.analysis.papers.published import published
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

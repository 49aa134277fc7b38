"""The papers' tables: what they hold, and the three published correlations computed from them."""

import pytest

from calque.analysis.papers.published import notes, published
from calque.analysis.statistics.correlation import spearman

PAPER = "align_mlm"


def alignments_and_deltas(task: str) -> tuple[list[float], list[float]]:
    aligned = {(p.objective, p.transform): p.value for p in published(PAPER, 8) if p.measure == "alignment"}
    deltas = {
        (p.objective, p.transform): p.value for p in published(PAPER, 3) if p.measure == "DELTA" and p.task == task
    }
    assert aligned.keys() == deltas.keys() and len(deltas) == 12
    return list(aligned.values()), [deltas[key] for key in aligned]


@pytest.mark.parametrize(("task", "rho"), [("nli", 0.727), ("ner", 0.781), ("pos", 0.734)])
def test_table_8_with_table_3_gives_the_published_rho(task: str, rho: float) -> None:
    found = spearman(*alignments_and_deltas(task))
    assert found is not None
    assert round(found.rho, 3) == rho
    assert found.p < 0.01
    assert found.n == 12 and found.exact


def test_the_misprint_of_table_8_changes_no_rank() -> None:
    printed = {(p.objective, p.transform): p.value for p in published(PAPER, 8) if p.measure == "DELTA"}
    alignment, deltas = alignments_and_deltas("nli")
    assert printed["XLM", "trans"] == 0.002
    assert [a for a, b in zip(printed.values(), deltas, strict=True) if a != b] == [0.002]
    found = spearman(alignment, list(printed.values()))
    assert found is not None and round(found.rho, 3) == 0.727


def test_deltas_recomputed_from_rounded_scores_do_not_give_the_published_pos_rho() -> None:
    scores = {(p.objective, p.transform, p.measure): p.value for p in published(PAPER, 3) if p.task == "pos"}
    alignment, _ = alignments_and_deltas("pos")
    keys = [(p.objective, p.transform) for p in published(PAPER, 8) if p.measure == "alignment"]
    recomputed = [round(scores[*key, "SUP"] - scores[*key, "ZS"], 4) for key in keys]
    found = spearman(alignment, recomputed)
    assert found is not None and round(found.rho, 3) == 0.715


def test_every_delta_is_sup_minus_zs_but_for_rounding() -> None:
    for table in (3, 6, 7):
        cells = {(p.objective, p.transform, p.setting, p.task, p.measure): p.value for p in published(PAPER, table)}
        for (objective, transform, setting, task, measure), delta in cells.items():
            if measure == "DELTA":
                sup, zs = (cells[objective, transform, setting, task, m] for m in ("SUP", "ZS"))
                assert abs(sup - zs - delta) < 0.0011, (table, objective, transform, setting, task)


def test_tables_that_print_the_same_cell_agree() -> None:
    cells: dict[tuple[str, ...], float] = {}
    for p in published(PAPER):
        key = (p.objective, p.transform, p.setting, p.task, p.measure)
        if (p.table, p.transform, p.objective, p.measure) != (8, "trans", "XLM", "DELTA"):
            assert cells.setdefault(key, p.value) == p.value, key


def test_all_eight_tables_are_there_with_their_numbers() -> None:
    sizes = {table: len(published(PAPER, table)) for table in range(1, 9)}
    assert sizes == {1: 30, 2: 12, 3: 108, 4: 12, 5: 12, 6: 36, 7: 27, 8: 24}
    assert all(-0.01 <= p.value <= 1 for p in published(PAPER))
    assert "0.2" in notes(PAPER)[8]


def test_pos_is_published_as_f1_on_bare_tags() -> None:
    assert {p.metric for p in published(PAPER, 3) if p.task == "pos"} == {"f1_bare_tags"}


def test_the_papers_new_syntax_is_french_and_nothing_else() -> None:
    transforms = {p.transform for p in published(PAPER, 3)}
    assert transforms == {"trans", "trans.inv", "trans.syn-fr"}

import json
from statistics import fmean

import pytest

from calque.analysis.papers.published import published
from calque.analysis.report.table import MISSING, cell, percent
from calque.analysis.results import Results, mean
from calque.experiments.report import paper
from calque.experiments.report.folder import read_records
from tests.experiments.conftest import calque
from tests.experiments.paper_lock import LOCK, lock

TABLES = [one for one in paper.items() if not one.file]


def table_of(paper_name, name):
    return paper.rendered(paper.item(paper_name, name))


def ours_and_theirs(text):
    ours, _, theirs = text.rpartition(" / ")
    return ours, theirs


@pytest.mark.parametrize("one", TABLES, ids=lambda x: x.full_name)
def test_tables_contain_every_published_number_once(one):
    numbers = [percent(p.value) for p in published(one.published, one.number)]
    table = table_of(one.paper, one.name)
    cells = [text for row in table.rows for text in row[table.labels :] if text != MISSING]
    assert sorted(theirs for _, theirs in map(ours_and_theirs, cells)) == sorted(numbers)
    assert any(ours != MISSING for ours, _ in map(ours_and_theirs, cells))


def test_cells_are_means_of_the_records():
    results = Results(*read_records(paper.COMMITTED / "everyday")[:2])
    table = table_of("align-mlm", "table-3")
    assert len(table.header) == 2 + 9  # NLI, NER and POS, each with SUP, ZS and Δ
    (row,) = (row for row in table.rows if row[:2] == ("ALIGN-MLM", "Trans + Inv"))
    ours, theirs = ours_and_theirs(row[table.header.index("POS F1 on bare tags Δ")])
    assert (
        ours == cell(mean(results.scores("DELTA", "ALIGN-MLM", "trans.inv", "pos", "f1_bare_tags")))
        and theirs == "3.0"
    )


@pytest.mark.parametrize(
    ("name", "model", "mean_of", "parts"),
    [
        ("weam", "mBERT", "mean", ("en", "es", "de", "zh")),
        ("weam", "mBERT", "mean of the others", ("es", "de", "zh")),
        ("xlm-align", "XLM-R", "average", ("en-de", "en-fr", "en-hi", "en-ro")),
    ],
)
def test_printed_means_are_next_to_our_means(name, model, mean_of, parts):
    table = table_of(name, "table-2")
    (row,) = (dict(zip(table.header, row, strict=True)) for row in table.rows if f"start / {model}" in row[0])
    ours = {head: float(ours_and_theirs(row[head])[0]) for head in (mean_of, *parts)}
    assert ours.pop(mean_of) == pytest.approx(fmean(ours.values()), abs=0.1)


def test_sweep_values_select_a_rows_runs():
    table = table_of("align-mlm", "table-2")
    column = table.header.index("POS F1 on bare tags Δ")
    runs, records, _ = read_records(paper.COMMITTED / "align_mlm_dictionary")
    for setting, fraction in ((MISSING, "0.25"), ("dictionary 50%", "0.5")):
        chosen = {run.id for run in runs if run.settings["dictionary.fraction"] == fraction}
        results = Results((r for r in runs if r.id in chosen), (r for r in records if r.run in chosen))
        (row,) = (row for row in table.rows if (row[0], row[2]) == ("DICT-MLM", setting))
        expected = cell(mean(results.scores("DELTA", "DICT-MLM", "trans.inv", "pos", "f1_bare_tags")))
        assert ours_and_theirs(row[column])[0] == expected


def test_items_are_as_locked():
    assert lock() == json.loads(LOCK.read_text())


def test_the_command_prints_a_table_and_keeps_other_files(tmp_path):
    own = tmp_path / "align-mlm" / "table-8" / "thesis.txt"
    own.parent.mkdir(parents=True)
    own.write_text("mine")
    code, out, _ = calque("paper", "align-mlm", "table-8", "--out", tmp_path)
    files = sorted(own.parent.glob("table-8.*"))
    assert code == 0 and all(str(file) in out for file in files)
    assert "Table 8 of" in out and max(map(len, out.partition(str(tmp_path))[0].splitlines())) <= 80
    assert own.read_text() == "mine" and len(files) == 2
    found = paper.conclusions("align-mlm")["table-8"]
    assert found and all(str(conclusion) in " ".join(out.split()) for conclusion in found)

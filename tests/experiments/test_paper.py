"""Items of papers: printed numbers are the papers', ours are the records', and conclusions follow from both."""

import json
from dataclasses import replace
from pathlib import Path
from statistics import fmean

import pytest
from typer.testing import CliRunner

from calque.analysis.papers.printed import PaperClaim
from calque.analysis.papers.published import published, published_layers
from calque.analysis.report.table import MISSING, Table, cell, percent
from calque.analysis.results.measured import difference, mean
from calque.analysis.results.results import Results
from calque.analysis.statistics.verdicts import FAILS, HOLDS, NO_RECORDS
from calque.experiments import paper
from calque.experiments.cli import app
from calque.experiments.report_records import read_records
from tests.experiments.paper_lock import LOCK, lock

TABLES = [one for one in paper.items() if not one.is_figure]
MLM_AND_ALIGN = {"of": ("ALIGN-MLM trans.inv",), "minus": ("MLM trans.inv",), "tasks": ("pos",)}


def table_of(paper_name: str, name: str) -> Table:
    made = paper.rendered(paper.item(paper_name, name))
    assert isinstance(made, Table)
    return made


def ours_and_theirs(text: str) -> tuple[str, str]:
    ours, _, theirs = text.rpartition(" / ")
    return ours, theirs


@pytest.mark.parametrize("one", TABLES, ids=lambda one: one.full_name)
def test_a_table_has_every_printed_number_once_next_to_ours(one: paper.Item) -> None:
    numbers = [percent(p.value) for p in published(paper.papers()[one.paper]["published"], one.number)]
    table = table_of(one.paper, one.name)
    cells = [text for row in table.rows for text in row[table.labels :] if text != MISSING]
    assert sorted(theirs for _, theirs in map(ours_and_theirs, cells)) == sorted(numbers)
    assert any(ours != MISSING for ours, _ in map(ours_and_theirs, cells))


def test_cells_have_the_means_of_the_records_in_the_papers_columns() -> None:
    results = Results(*read_records(paper.COMMITTED / "align_mlm_pocket")[:2])
    table = table_of("align-mlm", "table-3")
    assert len(table.header) == 2 + 9  # NLI, NER and POS, each with SUP, ZS and Δ
    (row,) = (row for row in table.rows if row[:2] == ("ALIGN-MLM", "Trans + Inv"))
    ours, theirs = ours_and_theirs(row[table.header.index("POS F1 on bare tags Δ")])
    assert ours == cell(mean(results.deltas("ALIGN-MLM", "trans.inv", "pos", "f1_bare_tags"))) and theirs == "3.0"


def test_printed_means_are_next_to_means_of_our_languages() -> None:
    table = table_of("weam", "table-1")
    (row,) = (row for row in table.rows if row[0].endswith("/ mBERT") and row[1:3] == (MISSING, "F1"))
    ours = {head: float(ours_and_theirs(text)[0]) for head, text in zip(table.header[3:], row[3:], strict=True)}
    assert ours["mean"] == pytest.approx(fmean(ours[name] for name in ("en", "es", "de", "zh")), abs=0.1)
    assert ours["mean of the others"] == pytest.approx(fmean(ours[name] for name in ("es", "de", "zh")), abs=0.1)


def test_the_values_of_a_sweep_choose_the_runs_of_a_row() -> None:
    table = table_of("align-mlm", "table-2")
    column = table.header.index("POS F1 on bare tags Δ")
    runs, records, _ = read_records(paper.COMMITTED / "align_mlm_dictionary")
    for setting, fraction in ((MISSING, "0.25"), ("dictionary 50%", "0.5")):
        chosen = {run.id for run in runs if run.settings["dictionary.fraction"] == fraction}
        results = Results((r for r in runs if r.id in chosen), (r for r in records if r.run in chosen))
        (row,) = (row for row in table.rows if (row[0], row[2]) == ("DICT-MLM", setting))
        expected = cell(mean(results.deltas("DICT-MLM", "trans.inv", "pos", "f1_bare_tags")))
        assert ours_and_theirs(row[column])[0] == expected


def found(one: paper.Item) -> list[paper.Conclusion]:
    return paper.conclusions(one.paper)[one.name]


def test_a_conclusion_has_the_differences_of_the_paper_and_of_the_records() -> None:
    results = Results(*read_records(paper.COMMITTED / "align_mlm_pocket")[:2])
    deltas = (results.deltas(name, "trans.inv", "pos", "f1_bare_tags") for name in ("ALIGN-MLM", "MLM"))
    (gap,) = (one for one in found(paper.item("align-mlm", "figure-2")) if "nearly closes" in one.claim)
    assert (gap.direction, gap.ours, gap.paper) == ("same direction", cell(difference(*deltas)), "−35.5")


def judged(claim: PaperClaim, name: str = "table-3", paper_name: str = "align-mlm") -> str:
    return paper.printed(paper.item(paper_name, name)).judge(claim)[0].verdict


def test_the_direction_is_the_papers() -> None:
    claim = PaperClaim("ALIGN-MLM beats MLM", **MLM_AND_ALIGN)
    assert judged(claim) == HOLDS
    assert judged(replace(claim, of=claim.minus, minus=claim.of)) == HOLDS  # the paper's difference turns with ours
    assert judged(replace(claim, printed={"": -0.355})) == FAILS


def test_a_bound_is_a_side_of_its_own() -> None:
    claim = PaperClaim("Δ of MLM", of=("MLM trans.inv",), tasks=("pos",), measure="DELTA")
    assert judged(replace(claim, bound=0.3)) == HOLDS  # 38.5 and 75.3 points
    assert judged(replace(claim, bound=0.5)) == FAILS
    assert paper.printed(paper.item("align-mlm", "table-3")).judge(claim)[0].because == NO_RECORDS  # a level


def test_of_several_comparisons_the_least_clear_is_shown_and_one_without_records_leaves_all_untested() -> None:
    rows = ("MLM trans.inv", "XLM trans.inv", "DICT-MLM trans.inv")
    claim = PaperClaim("beats all", of=("ALIGN-MLM trans.inv",), minus=rows, tasks=("pos",))
    assert paper.printed(paper.item("align-mlm", "table-3")).judge(claim)[2:] == ("16.0", "shown: DICT-MLM trans.inv")
    lacking = PaperClaim("", of=("PPA 250k",), minus=("PPA 250k, without TLM", "PPA 2M, without TLM"), tasks=("nli",))
    assert paper.printed(paper.item("ppa", "table-5")).judge(lacking)[0].because == NO_RECORDS


def test_a_table_with_one_class_in_every_language_says_that_nothing_was_learnt() -> None:
    (conclusion,) = found(paper.item("weam", "table-2"))
    assert conclusion.direction == "undecided: WEAM did not learn NLI" and "32.1 % in en" in conclusion.remark


def test_numbers_that_are_not_in_a_table_are_the_papers() -> None:
    layers = published_layers("xlm_align")
    last = {name: fmean(fmean(rates[9:]) for rates in by_set.values()) for name, by_set in layers.items()}
    (figure,) = found(paper.item("xlm-align", "figure-2"))
    assert figure.paper == percent(last["XLM-Align"] - last["XLM-R"])
    rows = {p.objective: p.value for p in published("xlm_align", 1) if p.task == "average"}
    assert found(paper.item("xlm-align", "table-1"))[1].paper == percent(rows["XLM-Align"] - rows["XLM-R"])


def test_items_are_as_locked() -> None:
    assert lock() == json.loads(LOCK.read_text(encoding="utf-8"))


def test_an_item_is_written_whole_in_every_format(tmp_path: Path) -> None:
    kinds = {file.suffix for file in paper.write(paper.item("align-mlm", "table-8"), tmp_path)}
    assert kinds == {".md", ".csv", ".tex"}
    kinds = {file.suffix for file in paper.write(paper.item("xlm-align", "figure-2"), tmp_path)}
    assert kinds == {".svg", ".png", ".pdf", ".jsonl"}


def test_an_item_deletes_no_file_of_its_folder(tmp_path: Path) -> None:
    own = tmp_path / "align-mlm" / "table-8" / "thesis.txt"
    own.parent.mkdir(parents=True)
    own.write_text("mine", encoding="utf-8")
    files = paper.write(paper.item("align-mlm", "table-8"), tmp_path)
    assert own.read_text(encoding="utf-8") == "mine" and {file.parent for file in files} == {own.parent}
    assert own not in files


@pytest.mark.parametrize("arguments", ["align-mln", "align-mlm table-9", "all table-3", "align-mlm figure-9", ""])
def test_an_unknown_item_and_a_folder_for_nothing_are_refused(
    arguments: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(app, ["paper", *arguments.split(), "--out", "own"])
    assert result.exit_code == 2
    assert len(result.stderr.splitlines()) == 1
    assert not any(tmp_path.iterdir())

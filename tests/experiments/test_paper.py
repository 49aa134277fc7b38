"""Items of papers: printed numbers are the papers', ours are the records', and committed items are as locked."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from calque.analysis.papers.printed import printed_table
from calque.analysis.papers.published import published
from calque.analysis.report.table import MISSING, OURS, PUBLISHED, cell, percent
from calque.analysis.results.measured import mean
from calque.analysis.results.results import Results
from calque.analysis.statistics.verdicts import FAILS, FAILS_ALONE
from calque.derive.errors import BadInput
from calque.experiments import paper
from calque.experiments.cli import app
from calque.experiments.names import study_rows
from calque.experiments.report_records import read_records

PRINTED = [one for one in paper.items() if one.printed]
TABLES = [one for one in paper.items() if not one.is_figure]


@pytest.mark.parametrize("one", TABLES, ids=lambda one: one.full_name)
def test_a_published_table_has_every_printed_number_once(one: paper.Item) -> None:
    number = int(one.name.removeprefix("table-"))
    numbers = [percent(p.value) for p in published(paper.papers()[one.paper]["published"], number)]
    table = paper.published_table(one)
    shown = [text for row in table.rows for text in row[table.labels :] if text != MISSING]
    assert sorted(shown) == sorted(numbers)
    assert len(table.published) == len(table.rows)


def test_a_row_of_ours_has_the_means_of_its_records_below_the_printed_row() -> None:
    runs, records, _ = read_records(paper.COMMITTED / "pocket")
    results = Results(runs, records)
    table = printed_table(runs, records, "align_mlm", 6, {"objectives": {"XLM parallel 1%": "MLM"}}, "title")
    (place,) = (i for i, row in enumerate(table.rows) if row[3] == OURS)
    assert table.rows[place - 1][:4] == ("XLM", "Trans + Inv", "parallel 1%", PUBLISHED)
    column = table.header.index("POS F1 on bare tags Δ")
    assert table.rows[place][column] == cell(mean(results.deltas("MLM", "trans.inv", "pos", "f1_bare_tags")))
    assert table.rows[place][table.header.index("NLI accuracy Δ")] == MISSING  # this study has no inference


def test_the_values_of_a_sweep_choose_the_runs_of_a_row() -> None:
    runs, records, _ = read_records(paper.COMMITTED / "pocket")
    settings = {"dictionary 50%": {"dictionary.fraction": "0.5"}}
    table = printed_table(runs, records, "align_mlm", 4, {"settings": settings}, "title")
    ours = [row[:3] for row in table.rows if row[3] == OURS]
    assert ours == [("ALIGN-MLM", "Trans + Inv", "default")]  # no run has the other fraction


@pytest.mark.parametrize("one", paper.items(), ids=lambda one: one.full_name)
def test_every_item_names_a_study_and_says_why_numbers_differ(one: paper.Item) -> None:
    assert one.study in {*(name for name, *_ in study_rows()), "calque embeddings"}
    assert one.differs
    assert one.printed or one.file


def test_committed_items_are_as_locked() -> None:
    assert paper.check() == []


def test_an_item_is_written_whole_in_every_format(tmp_path: Path) -> None:
    kinds = {file.suffix for file in paper.write(paper.item("align-mlm", "table-8"), tmp_path, tmp_path)}
    assert kinds == {".md", ".csv", ".tex"}
    kinds = {file.suffix for file in paper.write(paper.item("xlm-align", "figure-2"), tmp_path, tmp_path)}
    assert kinds == {".svg", ".png", ".pdf", ".jsonl"}


def test_an_item_deletes_no_file_of_its_folder(tmp_path: Path) -> None:
    own = tmp_path / "align-mlm" / "table-8" / "thesis.txt"
    own.parent.mkdir(parents=True)
    own.write_text("mine", encoding="utf-8")
    files = paper.write(paper.item("align-mlm", "table-8"), tmp_path, tmp_path)
    assert own.read_text(encoding="utf-8") == "mine" and {file.parent for file in files} == {own.parent}
    assert own not in files


@pytest.mark.parametrize("swept", [False, True])
def test_an_item_without_records_names_the_command_that_computes_them(
    swept: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paper, "COMMITTED", tmp_path)
    one = next(one for one in paper.items("align-mlm") if one.study == "pocket" and bool(one.sweep) == swept)
    with pytest.raises(BadInput) as refused:
        paper.source(one, tmp_path / "runs")
    assert one.command in str(refused.value) and ("--sweep" in one.command) == swept


def test_headlines_are_claims_of_committed_records() -> None:
    assert len({headline for _, headline, *_ in paper.headlines()}) == len([*paper.headlines()])


def test_a_headline_that_does_not_hold_has_a_likely_reason() -> None:
    for _, headline, _, verdict, reason in paper.headlines():
        assert reason != "–" or verdict not in (FAILS, FAILS_ALONE), headline


@pytest.mark.parametrize(
    "arguments",
    [
        "align-mln",
        "align-mlm table-9",
        "all table-3",
        "align-mlm figure-2 --published",
        "align-mln --check",
        "align-mlm table-3 --lock",
        "align-mlm --published --run",
        "--check --lock",
        "--published",
        "--run",
    ],
)
@pytest.mark.parametrize("to", [[], ["--out", "own"]])
def test_an_unknown_item_and_options_that_contradict_each_other_are_refused(
    arguments: str, to: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(app, ["paper", *arguments.split(), *to])
    assert result.exit_code == 2
    assert len(result.stderr.splitlines()) == 1
    assert not any(tmp_path.iterdir())

"""A sweep's table and figure: a row and a point for each value, whatever the values differ in."""

import csv
import io
from dataclasses import replace
from pathlib import Path

import pytest

from calque.analysis.papers.sweep import SweepResults, sweep_figure, sweep_table
from calque.analysis.records import json_rows
from calque.analysis.records.record import ALIGNMENT, RETRIEVAL, Record
from calque.analysis.records.run import Described, Run
from calque.analysis.results.results import Results
from calque.pretrain.objectives.mlm import MLM
from tests.analysis.runs import number, run
from tests.analysis.toy import joined


def results(zs: float, objectives: tuple[str, ...] = ("MLM", "ALIGN-MLM"), seeds: int = 2) -> Results:
    """A study of one language: SUP is 80 %, ZS as given by MLM and 10 points more by others."""
    records = []
    for seed in range(seeds):
        for place, name in enumerate(objectives):
            values = {"SUP": 0.8, "ZS": zs + 0.1 * min(place, 1) + 0.01 * seed}
            records += [number("inv", name, seed, m, "pos", "accuracy", v, 100, 9) for m, v in values.items()]
            records += [number("inv", name, seed, ALIGNMENT, "", "held-out", zs * step, 50, step) for step in (0, 1)]
    return joined(records)


def rows(sweep: SweepResults) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(sweep_table(sweep, "toy scale").csv)))


def test_a_row_has_the_means_of_its_value_and_nothing_of_others() -> None:
    sweep = SweepResults(("train.steps",), {("5",): results(0.3), ("50",): results(0.5)})
    table = sweep_table(sweep, "toy scale")
    assert table.title == "toy by train.steps (toy scale)"
    assert [tuple(row.values())[:3] for row in rows(sweep)] == [
        ("Inv", name, value) for name in ("MLM", "ALIGN-MLM") for value in ("5", "50")
    ]
    numbers = [
        [row[name].split()[0] for name in ("POS accuracy, ZS", "POS accuracy, Δ", "alignment@1, held-out")]
        for row in rows(sweep)
    ]
    # ZS is the mean over two seeds, 30 and 31 %, and alignment@1 that of the last step.
    assert numbers == [
        ["30.5", "49.5", "30.0"],
        ["50.5", "29.5", "50.0"],
        ["40.5", "39.5", "30.0"],
        ["60.5", "19.5", "50.0"],
    ]
    assert "2 seeds" in table.note and len(table.runs) == 4


def test_two_settings_are_two_columns(tmp_path: Path) -> None:
    combinations = [(steps, share) for steps in ("5", "50") for share in ("0.1", "all")]
    variants = {values: results(0.1 * place, ("MLM",)) for place, values in enumerate(combinations)}
    sweep = SweepResults(("train.steps", "share"), variants)
    assert [(row["train.steps"], row["share"]) for row in rows(sweep)] == combinations
    plot = sweep_figure(sweep, "toy scale")
    assert plot and "by train.steps, share" in plot.title
    plot.save(tmp_path)
    shown = json_rows.read(tmp_path / "figure-sweep.jsonl", Record)
    assert {record.measure for record in shown} == {"ZS", ALIGNMENT}


@pytest.mark.parametrize("names", [(("MLM",), ("MLM", "ALIGN-MLM")), (("ALIGN-MLM",), ("MLM",))])
def test_values_may_differ_in_their_objectives(names: tuple[tuple[str, ...], ...]) -> None:
    sweep = SweepResults(("objectives",), {(",".join(some),): results(0.3, some) for some in names})
    expected = {(name, ",".join(some)) for some in names for name in some}
    assert {(row["objective"], row["objectives"]) for row in rows(sweep)} == expected
    assert sweep_figure(sweep, "toy scale")


def test_what_only_some_values_have_is_missing_for_the_others() -> None:
    without = joined([number("inv", "MLM", 0, "ZS", "pos", "accuracy", 0.4, 100, 9)])
    first, second = rows(SweepResults(("tasks",), {("pos",): without, ("pos,nli",): results(0.2, ("MLM",), 1)}))
    assert (first["alignment@1, held-out"], second["alignment@1, held-out"]) == ("", "20.0")


def test_mixtures_of_the_same_languages_are_not_averaged() -> None:
    mixtures = {"50-50": 0.5, "90-10": 0.3}
    runs = [
        replace(run("inv", "MLM", 0), id=name, mixture=Described(name, name.replace("-", "/"))) for name in mixtures
    ]
    records = [Record(name, "ZS", "accuracy", v, 100, language="inv", task="pos") for name, v in mixtures.items()]
    made = rows(SweepResults(("a",), {("1",): Results(runs, records), ("2",): Results(runs, records)}))
    assert [(row["language"], row["a"], row["POS accuracy, ZS"]) for row in made] == [
        (f"{mixture}, Inv", value, zs) for mixture, zs in (("50/50", "50.0"), ("90/10", "30.0")) for value in "12"
    ]


def test_natural_languages_are_averaged_at_the_main_layer() -> None:
    languages = tuple(Described(name, name) for name in ("en", "fr", "de"))
    made = Run("a run", "toy", 0, languages, Described("MLM", "MLM", MLM().facets), layers=3, main_layer=2)
    records = [
        Record("a run", RETRIEVAL, "cosine", 0.1 * layer + 0.2 * place, 10, language=name, first="en", layer=layer)
        for layer in (1, 2)
        for place, name in enumerate(("fr", "de"))
    ]
    results = Results([made], records)
    (row, _) = rows(SweepResults(("a",), {("1",): results, ("2",): results}))
    assert (row["language"], row["retrieval, layer 2"]) == ("all languages", "30.0")


def test_of_one_seed_intervals_are_over_test_items() -> None:
    plot = sweep_figure(
        SweepResults(("a",), {("1",): results(0.3, seeds=1), ("2",): results(0.4, seeds=1)}), "toy scale"
    )
    assert plot and "over the test items of one seed" in plot.caption
    plot = sweep_figure(SweepResults(("a",), {("1",): results(0.3), ("2",): results(0.4)}), "toy scale")
    assert plot and "over seeds" in plot.caption


def test_a_sweep_of_nothing_that_has_a_column_has_no_figure() -> None:
    bare = joined([number("inv", "MLM", 0, "order", "", "kendall", 0.4, 100)])
    sweep = SweepResults(("a",), {("1",): bare, ("2",): bare})
    assert sweep_figure(sweep, "toy scale") is None and rows(sweep) == []


@pytest.mark.parametrize(
    ("values", "positions"),
    [
        (("0.25", "0.5", "1"), [0.25, 0.5, 1]),  # to scale
        (("0.01", "0.1", "0.5", "1"), [0, 1, 2, 3]),  # to scale, labels of 0.01 and 0.1 would overlap
        (("1", "all"), [0, 1]),
    ],
)
def test_labels_of_values_do_not_overlap(values: tuple[str, ...], positions: list[float]) -> None:
    sweep = SweepResults(("share",), {(value,): results(0.1 * i, ("MLM",)) for i, value in enumerate(values)})
    plot = sweep_figure(sweep, "toy scale")
    assert plot
    axis = plot.figure.axes[0].get_xaxis()
    assert list(axis.get_ticklocs()) == positions
    assert [label.get_text() for label in axis.get_ticklabels()] == list(values)


def test_a_sweep_whose_labels_would_overlap_has_no_figure() -> None:
    variants = {(f"a long value {number}", "another"): results(0.3) for number in range(8)}
    sweep = SweepResults(("first", "second"), variants)
    assert sweep_figure(sweep, "toy scale") is None and len(rows(sweep)) == 16

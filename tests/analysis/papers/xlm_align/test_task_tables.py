"""Tasks by language, and their means as XTREME forms them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import fmean

import numpy as np
import pytest

from calque.analysis.papers.published import published
from calque.analysis.papers.xlm_align.continued import Continued
from calque.analysis.papers.xlm_align.continued_tables import (
    BY_LANGUAGE,
    XTREME,
    by_language,
    printed_metrics,
    task_table,
    xtreme_table,
)
from calque.analysis.papers.xlm_align.figures import task_figure
from calque.analysis.records.record import Floor, Record
from calque.analysis.records.run import Described, Run
from calque.analysis.report.drawing import INK
from calque.analysis.results.results import Results
from calque.analysis.tasks.catalog import TASKS
from tests.analysis.drawn import coordinates

START = Described("start", "the start")
PUBLISHED = published("xlm_align")


def score(task: str, metric: str, language: str, seed: int) -> float:
    """Some number, another one for each."""
    return np.random.default_rng([seed, *map(ord, task + metric + language)]).random()


def made(
    tasks: Mapping[str, Sequence[str]],
    seeds: Sequence[int] = (0, 1),
    floors: Sequence[Floor] = (),
    paper: str = "xlm_align",
) -> Continued:
    """A start that was fine-tuned with each seed on tasks in English, and tested there and in other languages."""
    names = dict.fromkeys(["en", *(name for others in tasks.values() for name in others)])
    known = tuple(Described(name, name) for name in names)
    runs = [Run(f"start/seed-{seed}", "made", seed, known, START, layers=3, main_layer=2) for seed in seeds]
    records = [
        Record(
            run.id,
            "SRC" if language == "en" else "ZS",
            metric.name,
            score(task, metric.name, language, run.seed),
            100,
            language,
            task=task,
        )
        for run in runs
        for task, others in tasks.items()
        for language in ("en", *others)
        for metric in TASKS[task].metrics
    ]
    return Continued(Results(runs, records, published(paper), floors))


def test_a_start_that_was_fine_tuned_with_each_seed_has_each_ones_number() -> None:
    study = made({"nli": ["fr"]}, seeds=(0, 3))
    assert (study.seeds, study.tasks, study.learnt) == ([0, 3], ["nli"], [])
    by_seed = study.scored("start", "nli", "fr")
    assert {seed: one.value for seed, one in by_seed.items()} == {s: score("nli", "accuracy", "fr", s) for s in (0, 3)}


def test_questions_count_with_the_mean_of_both_metrics_in_the_average_over_tasks() -> None:
    tasks = {"nli": ["fr", "de"], "xquad": ["de"], "pos": ["fr"]}
    study = made(tasks)
    table = xtreme_table(study, "toy")
    ours = dict(zip(table.header, table.rows[0], strict=True))
    means = {
        (task, metric): np.mean(
            [score(task, metric, language, seed) for seed in (0, 1) for language in ("en", *tasks[task])]
        )
        for task in tasks
        for metric in printed_metrics(task)
    }
    both = (means["xquad", "f1"] + means["xquad", "exact"]) / 2
    average = np.mean([means["pos", "f1_bare_tags"], both, means["nli", "accuracy"]])
    assert ours["mean of 3 tasks"].split()[0] == f"{100 * average:.1f}"
    assert ours["NLI accuracy"].split()[0] == f"{100 * means['nli', 'accuracy']:.1f}"
    assert list(table.header[2:]) == [
        "POS F1 on bare tags",
        "XQuAD F1",
        "XQuAD exact match",
        "NLI accuracy",
        table.header[-1],
    ]
    assert "NLI 3, " not in table.note and "POS 2, XQuAD 2, NLI 3" in table.note


def test_the_papers_average_stands_beside_ours_only_where_all_its_tasks_are() -> None:
    whole = xtreme_table(made({task: ["de"] for task in XTREME}), "toy")
    theirs = {whole.rows[place][0]: whole.rows[place] for place in whole.published}
    assert whole.header[-1] == "average" and theirs["XLM-Align"][-1] == "68.9"
    assert theirs["XLM-Align"][2:5] == ("76.0", "63.7", "74.7")
    some = xtreme_table(made({"nli": ["fr"]}), "toy")
    assert {some.rows[place][-1] for place in some.published} == {"–"}


def test_a_tasks_table_has_floors_and_the_papers_numbers_of_its_languages() -> None:
    floors = [
        Floor("majority", "majority", "nli", "accuracy", value, 100, language, "en")
        for language, value in (("en", 0.34), ("fr", 0.35), ("xx", 0.40))
    ]
    study = made({"nli": ["fr", "xx"]}, floors=floors)
    table = task_table(study, "nli", "toy")
    ours, low, theirs = table.rows
    numbers = [np.mean([score("nli", "accuracy", name, seed) for seed in (0, 1)]) for name in ("en", "fr", "xx")]
    assert [cell.split()[0] for cell in ours[3:]] == [
        f"{100 * value:.1f}" for value in (*numbers, np.mean(numbers[1:]), np.mean(numbers))
    ]
    assert low[2:] == ("floor", "34.0", "35.0", "40.0", "37.5", "36.3")
    assert theirs == ("XLM-Align", "accuracy", "published", "86.7", "80.6", "–", "–", "–")
    assert table.published == {2} and "Table 18" in table.note


@pytest.mark.parametrize("tasks", [{"nli": ["fr"]}, {"nli": ["fr", "de"], "xquad": ["de"], "pos": ["ja"]}])
def test_the_figure_has_what_its_panels_show(tasks: dict[str, list[str]]) -> None:
    floors = [Floor("majority", "majority", "nli", "accuracy", 0.34, 100, "fr", "en")]
    study = made(tasks, floors=floors)
    plot = task_figure(study, "toy")
    assert plot is not None
    shown = {(r.task, r.metric, r.language) for r in plot.records}
    assert shown == {(t, printed_metrics(t)[0], name) for t, names in tasks.items() for name in ("en", *names)}
    known = {(one.task, one.setting) for one in PUBLISHED if one.table in BY_LANGUAGE}
    assert {(one.task, one.setting) for one in plot.published} == known & {(task, name) for task, _, name in shown}
    for panel, (task, names) in zip(plot.figure.axes, ((t, tasks[t]) for t in study.tasks), strict=True):
        metric = printed_metrics(task)[0]
        means = {100 * np.mean([score(task, metric, name, seed) for seed in (0, 1)]) for name in ("en", *names)}
        drawn = [float(y) for line in panel.lines for y in np.atleast_1d(line.get_ydata())]
        assert all(any(abs(y - mean) < 1e-9 for y in drawn) for mean in means)
    assert list(plot.floors) == floors
    assert len(plot.figure.axes) == len(tasks)
    assert task_figure(made({}), "toy") is None


def test_a_languages_models_stand_side_by_side_and_published_numbers_right_of_them() -> None:
    """Places of a language are evenly apart and in its middle; its baseline reaches beyond them, not to the next."""
    floors = [Floor("majority", "majority", "nli", "accuracy", 0.34, 100, name, "en") for name in ("en", "fr")]
    study = made({"nli": ["fr", "es"]}, floors=floors)
    other = Run("other/seed-0", "made", 0, study.results.runs["start/seed-0"].languages, Described("MLM", "MLM"))
    rest = [replace(r, run=other.id, value=r.value / 2) for r in study.results.records if r.run == "start/seed-0"]
    runs = [*study.results.runs.values(), replace(other, layers=3, main_layer=2)]
    study = Continued(Results(runs, [*study.results.records, *rest], PUBLISHED, floors))
    assert len(study.models) == 2
    plot = task_figure(study, "toy")
    assert plot
    (panel,) = plot.figure.axes
    assert [label.get_text() for label in panel.get_xticklabels()] == ["en", "fr", "es"]
    symbols = [line for line in panel.lines if line.get_marker() not in ("None", "") and len(coordinates(line)[0])]
    places = sorted(float(x) for line in symbols for x in coordinates(line)[0])
    assert len(places) == 3 * 3
    for middle in range(3):
        left, right, theirs = places[3 * middle : 3 * middle + 3]
        assert (left + theirs) / 2 == pytest.approx(right) == pytest.approx(middle)
        assert 0.15 < right - left < 0.3
        (hollow,) = (line for line in symbols if line.get_fillstyle() == "none")
        (printed,) = (p for p in plot.published if p.setting == ("en", "fr", "es")[middle])
        assert [end[middle] for end in coordinates(hollow)] == pytest.approx([theirs, 100 * printed.value])
    across = [line for line in panel.lines if line.get_color() == INK and line.get_linestyle() == "-"]
    assert len(across) == 2
    for middle, line in enumerate(across):
        (low, high), heights = coordinates(line)
        assert heights.tolist() == pytest.approx([34, 34])
        assert (low + high) / 2 == pytest.approx(middle)
        assert low < places[3 * middle] and places[3 * middle + 2] < high < middle + 0.5


XNLI = ["fr", "es", "de", "bg", "ar", "zh", "hi", "sw"]


@pytest.mark.parametrize(
    ("paper", "task", "languages", "rows"),
    [
        ("WEAM", "mlqa", ["en", "es", "de", "zh"], 5 + 5),
        ("WEAM", "nli", ["en", "es", "de", "zh"], 5),
        ("PPA", "mlqa", ["en", "de", "es", "hi", "zh"], 13),
        ("PPA", "nli", ["en", "fr", "es", "de", "bg", "ar", "zh", "hi"], 15 + 15),
    ],
)
def test_ours_stands_beside_the_papers_in_its_languages(paper: str, task: str, languages: list[str], rows: int) -> None:
    """Table 5 repeats six rows of Table 2, which stand once."""
    tested = XNLI if task == "nli" else ["de", "es", "hi", "vi", "zh"]
    table = by_language(made({task: tested}, paper=paper.lower()), task, paper, "toy")
    assert set(table.header[4:-2]) == {*languages} and table.header[4] == "en"
    assert len(table.published) == rows and len({*table.rows}) == len(table.rows)
    metrics = ["f1", "exact"] if task == "mlqa" and paper == "WEAM" else ["accuracy" if task == "nli" else "f1"]
    ours = table.rows[: len(table.rows) - rows]
    for metric, row in zip(metrics, ours, strict=True):
        others = table.header[5:-2]
        mean = fmean(score(task, metric, language, seed) for language in others for seed in (0, 1))
        assert row[-2].split()[0] == f"{100 * mean:.1f}"


@pytest.mark.parametrize(
    ("task", "tested", "name", "printed"),
    [
        ("mlqa", ["es", "de", "zh"], ("WEAM", "zero-shot", "F1"), ["79.7", "67.8", "64.3", "63.7", "65.3", "68.9"]),
        ("nli", ["es", "zh"], ("Word-aligned", "zero-shot", "accuracy"), ["80.1", "75.5"]),
    ],
)
def test_numbers_are_as_printed_and_means_over_the_languages_of_the_table(
    task: str, tested: list[str], name: tuple[str, ...], printed: list[str]
) -> None:
    table = by_language(made({task: tested}, paper="weam"), task, "WEAM", "toy")
    (row,) = (row for row in table.rows if row[:3] == name)
    assert list(row[4 : 4 + len(printed)]) == printed
    if task == "nli":
        assert row[-2:] == ("–", "–")  # no Chinese in that row


def test_a_task_that_a_paper_does_not_have_is_in_all_its_languages() -> None:
    table = by_language(made({"paraphrase": ["de", "zh"]}, paper="ppa"), "paraphrase", "PPA", "toy")
    assert table.header[4:] == ("en", "de", "zh", "mean of the others", "mean of all")
    assert not table.published and "Published" not in table.note and len(table.rows) == 1

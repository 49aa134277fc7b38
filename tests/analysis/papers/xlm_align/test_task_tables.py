"""Tasks by language, and their means as XTREME forms them."""

from collections.abc import Mapping, Sequence

import numpy as np

from calque.analysis.papers.published import published
from calque.analysis.papers.xlm_align.continued import Continued
from calque.analysis.papers.xlm_align.continued_tables import (
    XTREME,
    printed_metrics,
    task_table,
    xtreme_table,
)
from calque.analysis.records.record import Floor, Record
from calque.analysis.records.run import Described, Run
from calque.analysis.results.results import Results
from calque.analysis.tasks.catalog import TASKS

START = Described("start", "the start")


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

"""Answers to ARR's Responsible NLP checklist that follow from a report and its study."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from calque.analysis.report.table import cell, coverage
from calque.analysis.results import Results, mean
from calque.analysis.tasks.catalogue import PRIMARY, metric_title, task, task_title
from calque.analysis.tasks.task import Split
from calque.derive.errors import BadInput
from calque.derive.source import SPLITS
from calque.derive.sources.files import EVERYDAY_ENGLISH
from calque.derive.sources.pocket import PocketEnglish
from calque.derive.task_data import TaskFolder
from calque.experiments.data.recipe import by_recipe, inputs, read_recipe
from calque.experiments.report.folder import reports
from calque.experiments.report.summary import compute_statement, scale_of
from calque.experiments.run.step import COMPUTE, is_finished
from calque.experiments.study import Study
from calque.experiments.study.study import distinct

YOURS = "for you to answer"
SPLIT_OF = {"DEV": "dev", "SRC": "test"}  # measures of scores in the language of fine-tuning
Answers = Iterator[tuple[str, str]]


def checklist(
    about: Mapping[str, Any], studies: Sequence[Study], runs: Path, results: Sequence[Results]
) -> Answers:
    """Yield questions and answers. `about` describes the report; `studies` and `results` contain one entry
    or, for a sweep, one per variant; `runs` is the results folder."""
    study = studies[0]
    yield "A1 Scale", f"{scale_of(studies)}; intervals are {coverage(study.seeds, study.languages.draws)}"
    if study.languages.derived:
        read = "" if study.mixture.disjoint else ", and every sentence is read in both languages"
        what = "effects show what is possible, not how large effects are between natural languages"
        yield "A1 Derived languages", f"isomorphic to their source by construction{read}; {what}"
    yield "A1, A2 Limitations of your question; risks", YOURS
    objectives = [objective for study in studies for objective in study.objectives]
    papers = dict.fromkeys(part.paper for objective in objectives for part in objective.parts if part.paper)
    yield "B1 Citations", "; ".join(["Calque (CITATION.cff)", *papers])
    yield from _licences(studies)
    yield "B3, B4 Intended use; personal and offensive content", YOURS
    yield from _examples(study, runs)
    yield from _models(studies, runs)
    cost = compute_statement(about) or "The cost of the report's steps was not recorded."
    yield "C1 Compute", f"{cost} Machine: {about.get('machine', 'not recorded')}."
    yield from _searches(about, runs)
    yield "C2 Other searches; how the settings were chosen", YOURS
    yield from _scores(results)
    yield "B6 Exclusions; C2 hyperparameters; C4 software", "report.html, under Exclusions and Configuration"
    yield "D Human annotators", "none in Calque"
    yield "E AI assistants", YOURS


def _licences(studies: Sequence[Study]) -> Answers:
    if any(isinstance(getattr(study.languages, "source", None), PocketEnglish) for study in studies):
        yield "B2 Licence of Pocket English (generated)", "MIT"
    paths = list(dict.fromkeys(path for study in studies for path in inputs(study)))
    shipped = [path for path in paths if "everyday" in path.parts]
    if shipped:
        yield (
            f"B2 Licence of {EVERYDAY_ENGLISH}",
            "CC BY 2.0 FR (text), CC BY-SA 4.0 (tasks): docs/everyday.md",
        )
    for recipe, files in by_recipe([path for path in paths if path not in shipped]).items():
        downloads = read_recipe(recipe).downloads if recipe else ()
        licences = dict.fromkeys(f"{download.licence}: {download.terms}" for download in downloads)
        names = recipe or ", ".join(dict.fromkeys(path.name for path in files))
        yield f"B2 Licence of {names}", "; ".join(licences) or YOURS


def _examples(study: Study, runs: Path) -> Answers:
    """Count the first seed's examples and labels."""
    examples = study.data(runs, study.data_seeds[0]).examples
    for name, step in ((name, step) for name, step in examples.items() if is_finished(step)):
        folder = TaskFolder.open(step.folder)
        for split in (split for split in SPLITS if folder.path(split).is_file()):
            gold = Split(folder.path(split), task(name)).gold
            scored = task(name).labels(gold)
            counts = Counter(label for answer in gold for label in answer if label in scored)
            labels = "".join(f", {label} {count:,}" for label, count in counts.most_common())
            yield f"B6 Examples of {name}, {split}", f"{len(gold):,}{labels}"


def _models(studies: Sequence[Study], runs: Path) -> Answers:
    steps = distinct(step for study in studies for step in study.trained(runs))
    for name in dict.fromkeys(step.config.objective.name for step in steps):
        models = [step for step in steps if step.config.objective.name == name]
        costs = [cost for step in models if is_finished(step) and (cost := step.open().facts.get(COMPUTE))]
        try:
            counts = sorted({step.config.cost().parameters for step in models})
            answer = f"{len(models)} of {' or '.join(f'{count:,}' for count in counts)} parameters"
        except BadInput:  # the study's data are missing
            answer = str(len(models))
        if costs:
            seconds = sum(cost["seconds"] for cost in costs) / len(costs)
            processors = dict.fromkeys(processor for cost in costs for processor in cost["processors"])
            answer += f", {seconds:,.0f} seconds per model on {' or '.join(processors)}"
        yield f"C1 Models, {name}", answer


def _searches(about: Mapping[str, Any], runs: Path) -> Answers:
    """Yield the settings that this report and the study's other reports changed or varied."""
    others = [report for report in reports(runs) if report["study"] == about.get("study")]
    different = (row for row in others if row["configuration"] != about.get("configuration"))
    for row in ({**about, "name": "this report"}, *different):
        if tried := [*row.get("sweep", ()), *row.get("settings", ())]:
            seeds = ", ".join(map(str, row.get("seeds", ())))
            yield f"C2 Settings tried, {row['name']}", f"{'; '.join(tried)}; seeds {seeds}"


def _scores(results: Sequence[Results]) -> Answers:
    answers: dict[str, dict[str, str]] = {}
    for variant in results:
        for record, scores in variant.columns():
            if record.measure in SPLIT_OF and PRIMARY.get(record.task) == record.metric:
                run = variant.runs[record.run]
                words = [run.objective.title] if run.objective else []
                words += [language.title for language in run.languages[1:]]
                words += [f"{key} {value}" for key, value in run.settings.items()]
                words.append(f"{task_title(record.task)} {metric_title(record.metric)}")
                answers.setdefault(", ".join(words), {})[SPLIT_OF[record.measure]] = cell(mean(scores))
    for name, cells in answers.items():
        splits = [f"{split} {cells[split]}" for split in SPLIT_OF.values() if split in cells]
        yield f"C3 Source score in percent, {name}", ", ".join(splits)

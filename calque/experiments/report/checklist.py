"""The answers to ARR's Responsible NLP checklist that follow from a report and its study."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from calque.analysis.report.page import Block
from calque.analysis.report.table import MISSING, Table, cell, coverage
from calque.analysis.results import Results, mean
from calque.analysis.tasks.catalogue import PRIMARY, task
from calque.analysis.tasks.task import Split
from calque.derive.errors import BadInput
from calque.derive.fingerprint import plain
from calque.derive.source import SPLITS
from calque.derive.sources.everyday import KIND
from calque.derive.sources.pocket import PocketEnglish
from calque.derive.task_data import TaskFolder
from calque.experiments.data.recipe import by_recipe, inputs, read_recipe
from calque.experiments.report.folder import reports
from calque.experiments.report.summary import compute_statement, exclusions, listed, scale_of, versions_in
from calque.experiments.run.step import COMPUTE, is_finished
from calque.experiments.study import Study
from calque.experiments.study.languages import DerivedLanguages
from calque.experiments.study.study import distinct

YOURS = "For you to answer:"
Rows = Iterable[Sequence[object]]


def checklist(
    about: Mapping[str, Any],
    studies: Sequence[Study],
    runs: Path,
    results: Sequence[Results],
    claims: Table | None,
) -> dict[str, list[Block]]:
    """Return the answers by section. `about` describes the report; `studies` and `results` contain one entry
    or, for a sweep, one per variant; `runs` is the results folder."""
    return {
        "A. Limitations and risks": _limitations(studies, claims),
        "B. Artifacts": _artifacts(studies, runs),
        "C. Computational experiments": _experiments(about, studies, runs, results),
        "D. Human annotators": ["Calque uses none."],
        "E. AI assistants": [f"{YOURS} whether and how you used them."],
    }


def as_markdown(title: str, sections: Mapping[str, Sequence[Block]]) -> str:
    """Format the answers as a Markdown page."""
    parts = [f"# {title}"]
    for name, blocks in sections.items():
        parts.append(f"## {name}")
        for block in blocks:
            if isinstance(block, Table):
                block = block.markdown.rstrip("\n")
            parts.append(block if isinstance(block, str) else "\n".join(f"- {line}" for line in block))
    return "\n\n".join(parts) + "\n"


def _table(title: str, header: tuple[str, ...], rows: Rows) -> Table:
    cells = tuple(tuple(map(str, row)) for row in rows)
    return Table(title, header, cells or ((MISSING,) * len(header),))


def _limitations(studies: Sequence[Study], claims: Table | None) -> list[Block]:
    study = studies[0]
    lines = [f"Scale: {scale_of(studies)}.", f"Intervals are {coverage(study.seeds, study.languages.draws)}."]
    if isinstance(study.languages, DerivedLanguages):
        halves = "" if study.mixture.disjoint else ", and every sentence is read in both languages"
        lines += [
            f"Derived languages are isomorphic to their source by construction{halves}.",
            "Effects in derived languages show what is possible, not how large effects are between natural "
            "languages.",
        ]
    if claims:
        counts = Counter(row[1].partition(":")[0] for row in claims.rows)
        verdicts = ", ".join(f"{verdict} {count}" for verdict, count in counts.items())
        lines.append(f"Claims by verdict: {verdicts}.")
    return [(*lines, f"{YOURS} limitations of your question, and potential risks.")]


def _artifacts(studies: Sequence[Study], runs: Path) -> list[Block]:
    objectives = [objective for study in studies for objective in study.objectives]
    papers = dict.fromkeys(part.paper for objective in objectives for part in objective.parts if part.paper)
    return [
        f"Citations: {'; '.join(['Calque (CITATION.cff)', *papers])}.",
        _table("Licences of the data", ("data", "licence", "terms"), _licences(studies)),
        f"{YOURS} whether your use is consistent with the intended use; personal and offensive content.",
        _table("Examples of each task", ("task", "split", "examples", "labels"), _labels(studies, runs)),
        "Exclusions:",
        _exclusions(studies, runs),
    ]


def _licences(studies: Sequence[Study]) -> Iterator[Sequence[str]]:
    if any(isinstance(getattr(study.languages, "source", None), PocketEnglish) for study in studies):
        yield "Pocket English (generated)", "MIT", MISSING
    paths = list(dict.fromkeys(path for study in studies for path in inputs(study)))
    shipped = [path for path in paths if "everyday" in path.parts]
    if shipped:
        yield f"{KIND} (part of Calque)", "CC BY 2.0 FR (text), CC BY-SA 4.0 (tasks)", "docs/everyday.md"
    for recipe, files in by_recipe([path for path in paths if path not in shipped], studies[0].name).items():
        if recipe:
            downloads = read_recipe(recipe).downloads
            licences = dict.fromkeys(download.licence for download in downloads)
            terms = dict.fromkeys(download.terms for download in downloads)
            yield recipe, "; ".join(licences), "; ".join(terms)
        else:
            yield from ((path.name, YOURS, MISSING) for path in files)


def _labels(studies: Sequence[Study], runs: Path) -> Iterator[Sequence[object]]:
    steps = dict[Path, str]()
    for study in studies:
        for seed in study.data_seeds:
            examples = study.data(runs, seed).examples
            steps |= {step.folder: name for name, step in examples.items() if is_finished(step)}
    for path, name in steps.items():
        folder = TaskFolder.open(path)
        for split in SPLITS:
            if folder.path(split).is_file():
                gold = Split(folder.path(split), task(name)).gold
                scored_labels = task(name).labels(gold)
                counts = Counter(label for answer in gold for label in answer if label in scored_labels)
                labels = ", ".join(f"{label} {count:,}" for label, count in counts.most_common())
                yield name, split, f"{len(gold):,}", labels


def _experiments(
    about: Mapping[str, Any], studies: Sequence[Study], runs: Path, results: Sequence[Results]
) -> list[Block]:
    study, settings = studies[0], list[str]()
    cost = compute_statement(about) or "The cost of the report's steps was not recorded."
    models = ("objective", "parameters", "models", "seconds per model", "processor")
    scores = ("objective", "task", "metric", "dev", "test")
    if study.objectives:
        settings += [f"model: {listed(vars(study.model))}", f"training: {listed(plain(study.train))}"]
    settings += [f"fine-tuning, {name}: {listed(vars(task.finetune))}" for name, task in study.tasks.items()]
    searches = ("report", "settings", "values tried", "seeds")
    return [
        _table("Pretraining", models, _models(studies, runs)),
        f"{cost} Machine: {about.get('machine', 'not recorded')}.",
        _table("Scores in the language of fine-tuning, in percent", scores, _dev_and_test(results)),
        _table("Searches (all seeds for each value)", searches, _searches(about, study.name, runs)),
        f"{YOURS} searches outside these reports, and how the settings were chosen.",
        "Hyperparameters:",
        settings,
        f"Software: {versions_in(about) or 'not recorded'}.",
    ]


def _exclusions(studies: Sequence[Study], runs: Path) -> list[str]:
    try:
        return exclusions(studies, runs) or ["none"]
    except (BadInput, OSError):
        return ["the study's folders are elsewhere; the report lists exclusions"]


def _models(studies: Sequence[Study], runs: Path) -> Iterator[Sequence[object]]:
    steps = distinct(step for study in studies for step in study.trained(runs))
    for name in dict.fromkeys(step.config.objective.name for step in steps):
        objective_steps = [step for step in steps if step.config.objective.name == name]
        costs = [
            cost for step in objective_steps if is_finished(step) and (cost := step.open().facts.get(COMPUTE))
        ]
        try:
            counts = sorted({step.config.cost().parameters for step in objective_steps})
            parameters = " or ".join(f"{count:,}" for count in counts)
        except BadInput:
            parameters = "needs the study's data"
        seconds = f"{sum(cost['seconds'] for cost in costs) / len(costs):,.0f}" if costs else MISSING
        processors = dict.fromkeys(name for cost in costs for name in cost["processors"])
        yield name, parameters, len(objective_steps), seconds, ", ".join(processors) or MISSING


def _dev_and_test(results: Sequence[Results]) -> Iterator[Sequence[object]]:
    for variant in results:
        cells_by_row: dict[tuple[str, str, str], dict[str, str]] = {}
        for record, scores in variant.columns():
            if record.measure in ("DEV", "SRC") and PRIMARY.get(record.task) == record.metric:
                run = variant.runs[record.run]
                words = [run.objective.title] if run.objective else []
                words += [language.title for language in run.languages[1:]]
                words += [f"{key} {value}" for key, value in run.settings.items()]
                key = ", ".join(words), record.task, record.metric
                cells_by_row.setdefault(key, {})[record.measure] = cell(mean(scores))
        for labels, cells in cells_by_row.items():
            yield *labels, cells.get("DEV", MISSING), cells.get("SRC", MISSING)


def _searches(about: Mapping[str, Any], study: str, runs: Path) -> Iterator[Sequence[object]]:
    """Yield the settings that this report and the study's other reports changed or varied."""
    current = {"settings": (), "sweep": (), "seeds": (), "configuration": None, **about, "name": "this one"}
    different = (row for row in reports(runs) if row["configuration"] != current["configuration"])
    for row in (current, *(row for row in different if row["study"] == study)):
        if tried := [*row["sweep"], *row["settings"]]:
            keys = ", ".join(setting.partition("=")[0] for setting in tried)
            yield row["name"], keys, "; ".join(tried), ", ".join(map(str, row["seeds"]))

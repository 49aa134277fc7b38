"""`calque checklist`: what the checklists of ARR and ACL ask for, as far as a report and its study answer it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from calque.derive.errors import BadInput
from calque.experiments.commands.options import Own, Root
from calque.experiments.run.places import ROOT

if TYPE_CHECKING:
    from calque.experiments.run.step import Step
    from calque.experiments.study import Study

YOURS = "*For you to answer:*"
NONE = "–"  # an empty cell


def checklist(
    report: Annotated[str, typer.Argument(metavar="STUDY", help="A study with a report, a report, or its folder.")],
    own: Own = None,
    out: Annotated[Path | None, typer.Option(metavar="PATH", help="Write here instead of to the terminal.")] = None,
    runs: Root = ROOT,
) -> None:
    """Answer the Responsible NLP checklist of ARR from a report, as Markdown.

    Questions that records cannot answer are marked. --study names the file of a study of your own."""
    from calque.derive.files import whole_file
    from calque.experiments.report.folder import report_folder, stored

    folder = report_folder(report, runs)
    about = stored(folder)
    text = "\n".join(_page(folder, about, _studies(about, own), runs)) + "\n"
    if out:
        with whole_file(out) as part:
            part.write_text(text, encoding="utf-8", newline="\n")
    else:
        typer.echo(text, nl=False)


def _studies(about: Mapping[str, Any], own: str | None) -> list[Study]:
    """The study of a report, or one per value of its sweep."""
    from calque.experiments.settings.catalogue import study
    from calque.experiments.settings.override import override
    from calque.experiments.settings.sweep import Sweep

    base = override(study(own or about["study"]), about.get("settings", []))
    sweep = about.get("sweep", [])
    return [*Sweep.read(base, sweep).variants.values()] if sweep else [base]


def _page(folder: Path, about: Mapping[str, Any], studies: Sequence[Study], runs: Path) -> Iterator[str]:
    from calque.experiments.report.summary import compute_statement
    from calque.experiments.run.spent import COMPUTE

    yield f"# Responsible NLP checklist: {about['study']}"
    yield f"\nFrom `{folder}`, {about.get('date', 'without a date')}, commit {about.get('commit', 'unknown')}."
    yield "\n## A. Limitations and risks\n"
    yield from (f"- {line}" for line in _limitations(folder, studies))
    yield f"- {YOURS} limitations of your question, and potential risks."
    yield "\n## B. Artifacts\n"
    yield f"Citations: `calque export {folder} --bibtex`. Licences of the data:\n"
    yield from _table(("data", "licence", "terms"), _licences(studies))
    yield f"\n{YOURS} whether your use is the intended one; personal and offensive content of your own data.\n"
    yield "Examples of each task, and the labels of the source's, by split:\n"
    yield from _table(("task", "split", "examples", "labels"), _labels(studies, runs))
    yield "\nExclusions:\n"
    yield from (f"- {line}" for line in _exclusions(studies, runs))
    yield "\n## C. Computational experiments\n"
    yield from _table(("objective", "parameters", "models", "seconds per model", "processor"), _models(studies, runs))
    cost = compute_statement(about) if COMPUTE in about else "The cost of the report's steps was not recorded."
    yield f"\nSeconds are of pretraining. {cost} Machine: {about.get('machine', 'not recorded')}."
    yield "\nScores in the language of fine-tuning, in percent, dev next to test:\n"
    yield from _table(("objective", "task", "metric", "dev", "test"), _dev_and_test(folder))
    yield "\nSearches, with every value tried; each value has models of all seeds:\n"
    yield from _table(("report", "settings", "values tried", "seeds"), _searches(about, runs))
    yield f"\n{YOURS} searches outside these reports, and how the settings were chosen.\n"
    yield "Hyperparameters:\n"
    yield from (f"- {line}" for line in _hyperparameters(studies))
    versions = ", ".join(f"{name} {number}" for name, number in about.get("versions", {}).items())
    yield f"\nSoftware: {versions or 'not recorded'}."
    yield "\n## D. Human annotators\n\nCalque uses none."
    yield f"\n## E. AI assistants\n\n{YOURS} whether and how you used them."


def _table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    found = [f"| {' | '.join(map(str, row))} |" for row in rows]
    yield f"| {' | '.join(header)} |"
    yield "|" + "---|" * len(header)
    yield from found or [f"| {' | '.join([NONE] * len(header))} |"]


def _limitations(folder: Path, studies: Sequence[Study]) -> Iterator[str]:
    from calque.analysis.report.table import Table, coverage
    from calque.experiments.report.summary import scale_of
    from calque.experiments.study.languages import DerivedLanguages

    yield f"Scale: {scale_of(studies)}."
    study = studies[0]
    yield f"Intervals are {coverage(study.seeds, getattr(study.languages, 'draws', ()))}."
    if isinstance(study.languages, DerivedLanguages):
        halves = "" if study.mixture.disjoint else ", and every sentence is read in both"
        yield f"Derived languages are isomorphic to their source by construction{halves}."
        yield "Effects in derived languages show what can happen, not how large they are between natural languages."
    if (folder / "claims.md").is_file():
        rows = Table.of_markdown((folder / "claims.md").read_text(encoding="utf-8")).rows
        counts = Counter(row[1].partition(":")[0] for row in rows)
        yield f"Claims by verdict: {', '.join(f'{verdict} {count}' for verdict, count in counts.items())}."


def _licences(studies: Sequence[Study]) -> Iterator[Sequence[str]]:
    from calque.derive.sources.everyday import KIND
    from calque.experiments.data.recipe import read_recipe
    from calque.experiments.plan import by_recipe, inputs

    for title in dict.fromkeys(getattr(getattr(study.languages, "source", None), "title", "") for study in studies):
        if title.startswith("Pocket English"):
            yield "Pocket English (generated)", "MIT", NONE
    paths = list(dict.fromkeys(path for study in studies for path in inputs(study)))
    shipped = [path for path in paths if "everyday" in path.parts]
    if shipped:
        yield f"{KIND} (part of Calque)", "CC BY 2.0 FR (text), CC BY-SA 4.0 (tasks)", "docs/everyday.md"
    for recipe, found in by_recipe([path for path in paths if path not in shipped], studies[0].name).items():
        if not recipe:
            yield from ((path.name, YOURS, NONE) for path in found)
            continue
        downloads = read_recipe(recipe).downloads
        licences = dict.fromkeys(download.licence for download in downloads)
        terms = dict.fromkeys(download.terms for download in downloads)
        yield recipe, "; ".join(licences), "; ".join(terms)


def _examples(studies: Sequence[Study], runs: Path) -> Iterator[tuple[str, Step]]:
    """The finished steps of each task's examples, each once."""
    seen = set[Path]()
    for study in studies:
        for seed in study.data_seeds:
            for name, step in study.examples(runs, seed).items():
                if _finished(step) and step.folder not in seen:
                    seen.add(step.folder)
                    yield name, step


def _labels(studies: Sequence[Study], runs: Path) -> Iterator[Sequence[object]]:
    from calque.analysis.tasks.catalog import task
    from calque.analysis.tasks.split import Split
    from calque.derive.source import SPLITS
    from calque.derive.task_data import TaskFolder

    for name, step in _examples(studies, runs):
        folder = TaskFolder.open(step.folder)
        for split in SPLITS:
            if not folder.path(split).is_file():
                continue
            gold = Split(folder.path(split), task(name)).gold
            known = task(name).labels(gold)
            counts = Counter(label for answer in gold for label in answer if label in known)
            yield (
                name,
                split,
                f"{len(gold):,}",
                ", ".join(f"{label} {count:,}" for label, count in counts.most_common()),
            )


def _exclusions(studies: Sequence[Study], runs: Path) -> list[str]:
    from calque.experiments.report.summary import exclusions, measured

    lines = list[str]()
    for study in studies:
        try:
            lines += exclusions(study, runs, measured(study, runs))
        except (BadInput, OSError):
            return [f"the study's folders are not below {runs}; the report lists exclusions"]
    return list(dict.fromkeys(lines)) or ["none"]


def _models(studies: Sequence[Study], runs: Path) -> Iterator[Sequence[object]]:
    from calque.experiments.run.spent import COMPUTE

    steps = list({step.place: step for study in studies for step in study.trained(runs)}.values())
    for name in dict.fromkeys(step.config.objective.name for step in steps):
        own = [step for step in steps if step.config.objective.name == name]
        spent = [cost for step in own if _finished(step) and (cost := step.open().facts.get(COMPUTE))]
        try:
            parameters = " or ".join(f"{count:,}" for count in sorted({step.config.cost().parameters for step in own}))
        except BadInput:
            parameters = "needs the study's data"
        seconds = f"{sum(cost['seconds'] for cost in spent) / len(spent):,.0f}" if spent else NONE
        processors = dict.fromkeys(name for cost in spent for name in cost["processors"])
        yield name, parameters, len(own), seconds, ", ".join(processors) or NONE


def _finished(step: Step) -> bool:
    try:
        return step.finished
    except BadInput:  # a file of its data is missing
        return False


def _dev_and_test(folder: Path) -> Iterator[Sequence[object]]:
    from calque.analysis.report.table import cell
    from calque.analysis.results.measured import mean
    from calque.analysis.tasks.catalog import PRIMARY
    from calque.experiments.report.folder import results_of

    for results in results_of(folder):
        found: dict[tuple[object, ...], dict[str, str]] = {}
        for record, scores in results.columns():
            if record.measure in ("DEV", "SRC") and PRIMARY.get(record.task) == record.metric:
                run = results.runs[record.run]
                words = [run.objective.title if run.objective else "", *(each.title for each in run.languages[1:])]
                settings = ", ".join(f"{key} {value}" for key, value in run.settings.items())
                title = ", ".join(filter(None, [*words, settings]))
                found.setdefault((title, record.task, record.metric), {})[record.measure] = cell(mean(scores))
        for key, scores_of in found.items():
            yield *key, scores_of.get("DEV", NONE), scores_of.get("SRC", NONE)


def _searches(about: Mapping[str, Any], runs: Path) -> Iterator[Sequence[object]]:
    from calque.experiments.report.folder import reports

    for row in [row for row in reports(runs) if row["study"] == about["study"]]:
        tried = [*row["sweep"], *row["settings"]]
        if tried:
            seeds = ", ".join(map(str, row["seeds"]))
            yield row["name"], ", ".join(each.partition("=")[0] for each in tried), "; ".join(tried), seeds


def _hyperparameters(studies: Sequence[Study]) -> Iterator[str]:
    from calque.derive.fingerprint import plain
    from calque.experiments.report.summary import listed

    study = studies[0]
    if study.objectives:
        yield f"model: {listed(vars(study.model))}"
        yield f"training: {listed(plain(study.train))}"
    for name, task in study.tasks.items():
        yield f"fine-tuning, {name}: {listed(vars(task.finetune))}"

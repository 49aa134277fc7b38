"""A study's report: its records become tables, figures, claims and report.html, as the paper that it is about says."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path

from calque.analysis.papers.catalog import PAPERS, PaperReport
from calque.analysis.papers.columns import specified_figures, specified_tables
from calque.analysis.papers.looks import looks
from calque.analysis.papers.published import published
from calque.analysis.papers.sweep import SweepResults, sweep_figure, sweep_table
from calque.analysis.records import json_rows
from calque.analysis.records.record import FLOORS, RECORDS, Floor, Published, Record
from calque.analysis.records.run import RUNS, Run
from calque.analysis.report.claims_table import claims_table, null_table, verdicts
from calque.analysis.report.curves import Curves
from calque.analysis.report.drawing import MOST
from calque.analysis.report.page import Report, excerpt, write_page
from calque.analysis.report.plot import Plot
from calque.analysis.report.table import Table
from calque.analysis.results.results import Results
from calque.derive.files import whole_folder
from calque.derive.preview import PREVIEW
from calque.experiments.languages import DerivedLanguages
from calque.experiments.report_data import example, question, training_curves
from calque.experiments.study import Study
from calque.experiments.summary import exclusions, facts_of, floors_of, measured, runs_and_records, scale
from calque.experiments.sweep import Sweep
from calque.experiments.terminal import Outcome
from calque.pretrain import objectives


def summarise(study: Study, root: Path, folder: Path) -> Outcome:
    """Write the report of finished steps to `folder`, whole or not at all, and return its summary."""
    found, size, about = measured(study, root), scale(study), PAPERS[study.paper]
    (runs, records), floors, preview = runs_and_records(found), floors_of(study, root), ""
    results = joined(study.paper, runs, records, floors)
    if isinstance(study.languages, DerivedLanguages) and (languages := study.languages_step(root, study.seeds[0])):
        preview = languages.open().path(PREVIEW).read_text(encoding="utf-8")
    plots = list(figures_of(results, study.paper, size))
    with whole_folder(folder) as part:
        write_records(part, runs, records, floors)
        tables = tables_of(results, study.paper, size)
        for name, table in tables.items():
            (part / f"{name}.csv").write_text(table.csv, encoding="utf-8")
            (part / f"{name}.md").write_text(table.markdown, encoding="utf-8")
        claims, null = tables.pop("claims", None), tables.pop("null", None)
        findings = list(about.findings(results))
        for plot in plots:
            plot.save(part / "figures")
        page = Report(
            title=f"Calque: the study {study.name}",
            scale=size,
            question=question(study),
            example=example(study, root),
            plots=plots,
            claims=claims,
            findings=[*findings, *([verdicts(claims)] if claims else [])],
            null=null,
            tables=tables,
            curves=list(training_curves(study, root, results)),
            examples=[("The first examples of preview.txt", excerpt(preview))] if preview else [],
            terms=[*about.terms(results), *_own_terms(study)],
            exclusions=[*exclusions(study, root, found), *_not_drawn(results, about)],
            facts=list(facts_of(study, root, found)),
            runs=runs,
        )
        write_page(part / "report.html", page)
    shown = {name: tables[name] for name in about.summary(tuple(tables))}
    return Outcome(study.name, size, folder, results, findings, claims, shown)


def summarise_sweep(sweep: Sweep, root: Path, folder: Path) -> Outcome:
    """Write the report of a sweep to `folder`, whole or not at all, and return its summary."""
    runs, records, floors, variants = [], [], [], {}
    curves: list[Curves] = []
    for values, study in sweep.variants.items():
        settings = dict(zip(sweep.keys, values, strict=True))
        suffix = "@" + ",".join(f"{key}={value}" for key, value in settings.items())
        found, its_floors = measured(study, root), floors_of(study, root)
        its_runs, its_records = runs_and_records(found)
        its_runs = [replace(run, id=run.id + suffix, settings=settings) for run in its_runs]
        its_records = [replace(record, run=record.run + suffix) for record in its_records]
        variants[values] = Results(its_runs, its_records, floors=its_floors)
        curves += training_curves(study, root, variants[values], suffix.replace("@", ", "))
        runs += its_runs
        records += its_records
        floors += [floor for floor in its_floors if floor not in floors]
    results, size = SweepResults(sweep.keys, variants), scale(sweep.study)
    table, plot = sweep_table(results, size), sweep_figure(results, size)
    with whole_folder(folder) as part:
        write_records(part, runs, records, floors)
        (part / "sweep.csv").write_text(table.csv, encoding="utf-8")
        (part / "sweep.md").write_text(table.markdown, encoding="utf-8")
        if plot:
            plot.save(part / "figures")
        page = Report(
            title=f"Calque: the study {sweep.name} by {', '.join(sweep.keys)}",
            scale=size,
            question=question(sweep.study),
            example=example(sweep.study, root),
            plots=[plot] if plot else [],
            claims=None,
            tables={"sweep": table},
            curves=curves,
            facts=[*((key, ", ".join(values)) for key, values in sweep.settings), *facts_of(study, root, found)],
            runs=runs,
        )
        write_page(part / "report.html", page)
    return Outcome(sweep.name, size, folder, None, (), None, {"sweep": table})


def write_records(folder: Path, runs: Sequence[Run], records: Sequence[Record], floors: Sequence[Floor]) -> None:
    json_rows.write(folder / RUNS, runs)
    json_rows.write(folder / RECORDS, records)
    json_rows.write(folder / FLOORS, floors)


def joined(paper: str, runs: Iterable[Run], records: Iterable[Record], floors: Iterable[Floor] = ()) -> Results:
    """Runs and records with the published numbers that are shown next to them."""
    about = PAPERS[paper]
    numbers: list[Published] = [p for name in about.published for p in published(name)]
    return Results(runs, records, numbers, floors)


def tables_of(results: Results, paper: str, scale: str) -> dict[str, Table]:
    """Every table that records make, the claims and the null among them, under the names of their files."""
    about = PAPERS[paper]
    claims = claims_table(results, list(about.claims(results)), scale, about.claims_title)
    tables = {"claims": claims, "null": null_table(results, scale), **dict(about.tables(results, scale))}
    tables |= specified_tables(paper, results, scale)
    return {name: table for name, table in tables.items() if table}


def figures_of(results: Results, paper: str, scale: str) -> Iterator[Plot]:
    """Every figure that records fill."""
    for plot in chain(PAPERS[paper].figures(results, scale), specified_figures(paper, results, scale)):
        if plot:
            yield plot


def _own_terms(study: Study) -> Iterator[tuple[str, str]]:
    """The glossary entries of measures, and of objectives that are not Calque's."""
    for measure in study.measures:
        yield from measure.terms.items()
    firsts = [first for objective in study.objectives if (start := objective.traits.start) for first in start[:1]]
    parts = dict.fromkeys(part for objective in (*study.objectives, *firsts) for part in objective.parts)
    for part in parts:
        if type(part) not in objectives.OBJECTIVES and part.summary:
            yield part.title, part.summary


def _not_drawn(results: Results, about: PaperReport) -> list[str]:
    drawn = len(results.transforms) <= MOST and (looks(results) or not results.objectives)
    if drawn or not about.by_transform:
        return [*about.not_drawn(results)]
    return [
        f"figures with a panel or a line for each transform are drawn for up to {MOST} of them, and figures with a "
        "line for each objective for as many as they can tell apart; the tables have them all"
    ]

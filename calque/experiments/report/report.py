"""Write a study's report: the tables, figures and claims of its kind of report, and report.html."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path

from calque.analysis.checkpoint import Checkpoint
from calque.analysis.looking import Look, look
from calque.analysis.papers.catalogue import PAPERS
from calque.analysis.papers.columns import specified_figures, specified_tables
from calque.analysis.papers.primary import NAME, PrimaryClaims, primary_of
from calque.analysis.papers.published import published
from calque.analysis.papers.sweep import (
    SweepResults,
    Values,
    differences_table,
    sweep_figure,
    sweep_question,
    sweep_table,
)
from calque.analysis.records import json_rows
from calque.analysis.records.record import FLOORS, RECORDS, RUNS, Floor, Record, Run
from calque.analysis.report.claims import claims_table
from calque.analysis.report.drawing import Plot
from calque.analysis.report.page import Report, write_page
from calque.analysis.report.table import Table
from calque.analysis.results import Results, by_settings, over_draws
from calque.derive.errors import BadInput, unknown
from calque.derive.files import files_of, whole_folder, write_json
from calque.derive.on_demand import PREVIEW
from calque.experiments.report.folder import ABOUT, About, Recorded, read_records, stored
from calque.experiments.report.outcome import Outcome
from calque.experiments.report.summary import described_facts, exclusions, facts_of, scale_of
from calque.experiments.settings.catalogue import table
from calque.experiments.settings.override import Variant
from calque.experiments.study import Study
from calque.experiments.study.measures import read_measured
from calque.experiments.study.tasks import read_floors
from calque.pretrain.run import CLAIMS

INSIDE = 12  # maximum number of models inspected in a report


def summarise(variants: Sequence[Variant], root: Path, folder: Path, about: About | None = None) -> Outcome:
    """Write the report on a finished study or on the variants in a sweep to `folder`, atomically, and return
    its summary. `about` is the report's description."""
    about, studies, (swept, first) = about or {}, [study for _, study in variants], variants[0]
    size, facts, left_out = scale_of(studies), facts_of(variants, root, about), exclusions(studies, root)
    by_values, titled = dict[Values, Results](), dict[str, Study]()
    for settings, study in variants:
        results = joined(study.paper, *_recorded(study, root, settings), size)
        by_values[tuple(settings.values())] = results
        title = "".join(f", {key}={value}" for key, value in settings.items())
        titled[title] = study
    claimed = PrimaryClaims.read(first.claims) if first.claims and not swept else None
    sweep = SweepResults(tuple(swept), by_values)
    page = _page(sweep, first.paper, about, claimed, size)
    page = replace(
        page,
        exclusions=left_out,
        facts=facts,
        example=example_of(studies, root),
        looks=models_inside(titled, root),
    )
    return _write(folder, page, sweep, about, claimed)


def _recorded(study: Study, root: Path, settings: Mapping[str, str]) -> Recorded:
    """Return the measured runs, without duplicates, all records, and the tasks' floors, which are averaged
    over seeds if each seed has different data. Swept `settings` are added to the runs and to their ids."""
    runs, records = dict[str, Run](), list[Record]()
    suffix = f"@{','.join(map('='.join, settings.items()))}" if settings else ""
    for step in study.measured(root):
        step_runs, step_records = read_measured(step)
        records += [replace(record, run=record.run + suffix) for record in step_records]
        for run in step_runs:
            claims = {*run.claims, *runs.get(run.id, run).claims}
            runs[run.id] = replace(run, claims=tuple(sorted(claims)))
    swept_runs = [replace(run, id=run.id + suffix, settings=settings) for run in runs.values()]
    floors = [[*chain(*map(read_floors, study.data(root, n).floors))] for n in study.data_seeds]
    return Recorded(swept_runs, records, over_draws(floors))


def summarise_records(source: Path, folder: Path, about: About) -> Outcome:
    """Write a report on the records in `source` to `folder`, atomically, and return its summary. `about`
    states the kind of report and the study's scale."""
    paper, size, rows = about["report"], about["scale"], read_records(source)
    claimed = None if rows.swept else primary_of(source)
    try:
        sweep = SweepResults(
            rows.swept, by_settings(*rows) if rows.swept else {(): joined(paper, *rows, size)}
        )
        page = replace(_page(sweep, paper, about, claimed, size), facts=described_facts(about))
    except BadInput as error:
        raise BadInput(str(error), source) from None
    return _write(folder, page, sweep, about, claimed)


def _page(sweep: SweepResults, paper: str, about: About, claimed: PrimaryClaims | None, size: str) -> Report:
    title, results = f"Calque: the study {sweep.first.study}", sweep.first
    if sweep.keys:
        plot = sweep_figure(sweep, size)
        tables = {"sweep": sweep_table(sweep, size), "differences": differences_table(sweep)}
        return Report(
            title=f"{title} by {', '.join(sweep.titles)}",
            scale=size,
            question=sweep_question(sweep),
            plots=[plot] if plot else [],
            tables={name: table for name, table in tables.items() if table},
        )
    tables_of_study = tables_of(results, paper, claimed)
    return Report(
        title=title,
        scale=results.scale,
        question=_question(results.study, changed=bool(about.get("settings"))),
        plots=figures_of(results, paper),
        change=claimed.change(results) if claimed and NAME in tables_of_study else "",
        tables=tables_of_study,
    )


def _write(
    folder: Path, page: Report, sweep: SweepResults, about: About, claimed: PrimaryClaims | None
) -> Outcome:
    variants = sweep.variants.values()
    with whole_folder(folder, stored(folder).get("files", ())) as part:
        json_rows.write(part / RUNS, [run for results in variants for run in results.runs.values()])
        json_rows.write(part / RECORDS, [record for results in variants for record in results.records])
        json_rows.write(part / FLOORS, sweep.floors())
        for name, table in page.tables.items():
            table.save(part, name)
        for plot in page.plots:
            plot.save(part / "figures")
        write_page(part / "report.html", page)
        if claimed:
            (part / f"{NAME}.toml").write_bytes(claimed.content)
        if about:
            description = {key: value for key, value in about.items() if key != CLAIMS}
            description |= {CLAIMS: claimed.digest} if claimed else {}
            write_json(part / ABOUT, {**description, "files": sorted([*files_of(part), ABOUT])})
    return Outcome(folder, page, sweep.first.study, None if sweep.keys else sweep.first)


def joined(
    paper: str, runs: Iterable[Run], records: Iterable[Record], floors: Iterable[Floor] = (), scale: str = ""
) -> Results:
    """Join runs and records with the published numbers that tables show next to them. Raises BadInput for an
    unknown kind of report."""
    if paper not in PAPERS:
        raise BadInput(unknown("kind of report", paper, PAPERS))
    numbers = [number for name in PAPERS[paper].published for number in published(name)]
    return Results(runs, records, numbers, floors, scale)


def claims_of(results: Results, paper: str) -> Table | None:
    """Return the verdicts on a kind of report's claims, or None if none can be tested."""
    return claims_table(results, list(PAPERS[paper].claims(results)), PAPERS[paper].claims_title)


def tables_of(results: Results, paper: str, claimed: PrimaryClaims | None = None) -> dict[str, Table]:
    """Return each table that has records, by file name, including the claims."""
    tables = {"claims": claims_of(results, paper), **PAPERS[paper].tables(results)}
    tables |= specified_tables(paper, results)
    if claimed:
        tables[NAME] = claimed.table(results)
    return {name: table for name, table in tables.items() if table}


def figures_of(results: Results, paper: str) -> list[Plot]:
    """Return each figure that has records."""
    return [plot for plot in (*PAPERS[paper].figures(results), *specified_figures(paper, results)) if plot]


# Parts that are not computed from records: the question, an example and inspections


def _question(study: str, changed: bool) -> str:
    """Return a study's description, or only its question if settings are `changed`."""
    doc = table().get(study, {}).get("doc", "")
    return doc[: doc.find("?") + 1] if changed else doc


def example_of(studies: Iterable[Study], root: Path) -> str:
    """Return the first sentence in the preview of derived languages, or "" if no study has any."""
    for study in studies:
        text = study.data(root, study.seeds[0]).text
        if text and (preview := text.folder / PREVIEW).is_file():
            return preview.read_text(encoding="utf-8").partition("\n1.\n")[2].partition("\n2.\n")[0]
    return ""


def models_inside(studies: Mapping[str, Study], root: Path) -> list[tuple[str, Look]]:
    """Inspect each objective's first model that has a checkpoint; the keys of `studies` are appended to the
    objectives' titles."""
    titles = dict[Path, str]()
    for suffix, study in studies.items():
        for model in study.models(root):
            title = model.training.objective.title + suffix
            if title not in titles.values() and model.training.languages and model.checkpoint.is_dir():
                titles.setdefault(model.checkpoint, title)
    return [(title, look(Checkpoint.open(folder))) for folder, title in [*titles.items()][:INSIDE]]

"""Write a study's report: tables, figures, claims and report.html; and summarise it on the terminal."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from textwrap import fill

from calque.analysis.checkpoint import Checkpoint
from calque.analysis.looking import look
from calque.analysis.papers.catalogue import PAPERS
from calque.analysis.papers.columns import (
    ALL_TYPES,
    HELD_OUT_TYPES,
    main_metrics,
    rows_of,
    specified_figures,
    specified_tables,
    task_columns,
)
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
from calque.analysis.records.record import DELTA, FLOORS, RECORDS, RUNS, Floor, Record, Run
from calque.analysis.report.claims import PRIMARY_CLAIMS, claims_table
from calque.analysis.report.drawing import Plot
from calque.analysis.report.page import Report, write_page
from calque.analysis.report.table import OURS, Table
from calque.analysis.results import Results, by_settings, over_draws
from calque.derive.errors import BadInput, printable, unknown
from calque.derive.files import files_of, whole_folder, write_json
from calque.derive.on_demand import PREVIEW
from calque.experiments.report.folder import ABOUT, About, Recorded, read_records, stored
from calque.experiments.report.summary import described_facts, exclusions, scale_of, shared_facts
from calque.experiments.settings.catalogue import table
from calque.experiments.settings.override import Variant
from calque.experiments.study import Study
from calque.experiments.study.measures import read_measured
from calque.experiments.study.tasks import read_floors
from calque.pretrain.run import CLAIMS

WIDTH = 80  # of the terminal
INSIDE = 12  # maximum number of models inspected in a report


@dataclass(frozen=True)
class Outcome:
    """A study's report: its folder and contents. `results` is None for a sweep."""

    folder: Path
    contents: Report
    study: str
    results: Results | None

    @property
    def report(self) -> Path:
        return self.folder / "report.html"

    def __str__(self) -> str:
        parts, scale = [_wrapped(f"{self.study}: {self.contents.scale}")], f", {self.contents.scale}"
        if primary := self.contents.tables.get(PRIMARY_CLAIMS):
            claims = [f"- {row[1]}: {row[0]} ({row[5]})" for row in primary.rows]
            parts.append("\n".join(map(_wrapped, [primary.title.removesuffix(scale), *claims])))
        if self.results and (scores := scores_table(self.results)):
            parts.append(as_text(scores))
        if self.contents.headlines:
            *headlines, counts = self.contents.headlines
            parts += ["\n".join(_wrapped(f"- {claim}") for claim in headlines), _wrapped(counts)]
        return printable("\n\n".join([*parts, str(self.report)]))


def summarise(variants: Sequence[Variant], root: Path, folder: Path, about: About | None = None) -> Outcome:
    """Write the report on a finished study or sweep, described by `about`, to `folder`; summarise it."""
    about, studies, (swept, first) = about or {}, [study for _, study in variants], variants[0]
    size, by_values, models = scale_of(studies), dict[Values, Results](), dict[Path, str]()
    for settings, study in variants:
        results = joined(study.paper, *_recorded(study, root, settings), size)
        by_values[tuple(settings.values())] = results
        _add_models(models, study, root, "".join(f", {key}={value}" for key, value in settings.items()))
    sweep = SweepResults(tuple(swept), by_values)
    claimed = PrimaryClaims.read(first.claims) if first.claims and not swept else None
    page = replace(
        _page(sweep, first.paper, about, claimed),
        exclusions=exclusions(studies, root),
        facts=[*described_facts(about), *shared_facts(studies, root)],
        example=_example(studies, root),
        looks=[(title, look(Checkpoint.open(model))) for model, title in [*models.items()][:INSIDE]],
    )
    return _write(folder, page, sweep, about, claimed)


def _recorded(study: Study, root: Path, settings: Mapping[str, str]) -> Recorded:
    """Return the measured runs, without duplicates, all records, and the tasks' floors, averaged over seeds
    with different data. Swept `settings` are added to the runs and to their ids."""
    runs, records = dict[str, Run](), list[Record]()
    suffix = f"@{','.join(map('='.join, settings.items()))}" if settings else ""
    for step in study.measured(root):
        run, step_records = read_measured(step)
        records += [replace(record, run=record.run + suffix) for record in step_records]
        claims = {*run.claims, *runs.get(run.id, run).claims}
        runs[run.id] = replace(run, claims=tuple(sorted(claims)))
    floors = [[*chain(*map(read_floors, study.data(root, n).floors))] for n in study.data_seeds]
    swept_runs = [replace(run, id=run.id + suffix, settings=settings) for run in runs.values()]
    return Recorded(swept_runs, records, over_draws(floors))


def summarise_records(source: Path, folder: Path, about: About) -> Outcome:
    """Write a report of the kind and scale in `about` on `source` to `folder`, atomically; summarise it."""
    paper, size, rows = about["report"], about["scale"], read_records(source)
    claimed = None if rows.swept else primary_of(source)
    try:
        variants = by_settings(*rows, size)
        sweep = SweepResults(rows.swept, variants if rows.swept else {(): joined(paper, *rows, size)})
        page = replace(_page(sweep, paper, about, claimed), facts=list(described_facts(about)))
    except BadInput as error:
        raise BadInput(str(error), source) from None
    return _write(folder, page, sweep, about, claimed)


def _page(sweep: SweepResults, paper: str, about: About, claimed: PrimaryClaims | None) -> Report:
    results = sweep.first
    title, size = f"Calque: the study {results.study}", results.scale
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
    doc, tables_of_study = table().get(results.study, {}).get("doc", ""), tables_of(results, paper, claimed)
    return Report(
        title=title,
        scale=size,
        question=doc[: doc.find("?") + 1] if about.get("settings") else doc,
        plots=figures_of(results, paper),
        change=claimed.change(results) if claimed and NAME in tables_of_study else "",
        tables=tables_of_study,
    )


def _write(
    folder: Path, page: Report, sweep: SweepResults, about: About, claimed: PrimaryClaims | None
) -> Outcome:
    variants = sweep.variants.values()
    with whole_folder(folder, stored(folder).get("files", ())) as part:
        json_rows.write(part / RUNS, chain(*(results.runs.values() for results in variants)))
        json_rows.write(part / RECORDS, chain(*(results.records for results in variants)))
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
    """Join runs and records with published numbers. Raises BadInput for an unknown kind of report."""
    if paper not in PAPERS:
        raise BadInput(unknown("kind of report", paper, PAPERS))
    numbers = [number for name in PAPERS[paper].published for number in published(name)]
    return Results(runs, records, numbers, floors, scale)


def tables_of(results: Results, paper: str, claimed: PrimaryClaims | None = None) -> dict[str, Table]:
    """Return each table that has records, by file name, including the claims."""
    kind = PAPERS[paper]
    claims = claims_table(results, list(kind.claims(results)), kind.claims_title)
    tables = {"claims": claims, **kind.tables(results), **specified_tables(paper, results)}
    if claimed:
        tables[NAME] = claimed.table(results)
    return {name: table for name, table in tables.items() if table}


def figures_of(results: Results, paper: str) -> list[Plot]:
    """Return each figure that has records."""
    return [plot for plot in (*PAPERS[paper].figures(results), *specified_figures(paper, results)) if plot]


def _example(studies: Iterable[Study], root: Path) -> str:
    for study in studies:
        text = study.data(root, study.seeds[0]).text
        if text and (preview := text.folder / PREVIEW).is_file():
            return preview.read_text(encoding="utf-8").partition("\n1.\n")[2].partition("\n2.\n")[0]
    return ""


def _add_models(models: dict[Path, str], study: Study, root: Path, suffix: str) -> None:
    for model in study.models(root):
        title = model.training.objective.title + suffix
        if title not in models.values() and model.training.languages and model.checkpoint.is_dir():
            models.setdefault(model.checkpoint, title)


# The summary printed after a run


def scores_table(results: Results) -> Table | None:
    """Tabulate scores and alignment@1 by objective and derived language; None without transfer."""
    columns = [*task_columns(("ZS", "SUP", DELTA), main_metrics(results)), ALL_TYPES, HELD_OUT_TYPES]
    found = rows_of(results, columns, results.models) if results.has("SUP") else ()
    rows = tuple((*row[:2], *(cell.split(" ")[0] for cell in row[2:])) for row in found)
    seeds = len(results.seeds)
    over = f"means over {seeds} seeds, intervals in the report" if seeds > 1 else "one seed"
    header = "objective", "language", *map(str, columns)
    return Table(f"Scores and alignment@1 in percent, {over}", header, rows, labels=2) if rows else None


def _wrapped(text: str) -> str:
    return fill(text, WIDTH, subsequent_indent="  ", break_on_hyphens=False)


def as_text(table: Table) -> str:
    """Format a table's title and our rows, in groups of columns that fit into 80 letters."""
    rows = [table.header, *(row for row in table.rows if table.kind(row) == OURS)]
    columns, blocks = list[list[str]](), list[list[list[str]]]()
    for column in zip(*rows, strict=True):
        width = min(WIDTH // 2, max(map(len, column)))
        columns.append([cell[:width].ljust(width) for cell in column])
    labels = columns[: table.labels]
    for cells in columns[table.labels :]:
        if not blocks or sum(len(c[0]) + 2 for c in (*blocks[-1], cells)) > WIDTH:
            blocks.append([*labels])
        blocks[-1].append(cells)
    lines = [["  ".join(row).rstrip()[:WIDTH] for row in zip(*block, strict=True)] for block in blocks]
    return "\n".join([_wrapped(table.title), "\n\n".join(map("\n".join, lines))])

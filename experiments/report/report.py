"""Writing a study's report: the tables, figures and claims of its kind of report, and report.html."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import Any

from calque.analysis.papers.catalog import PAPERS
from calque.analysis.papers.columns import specified_figures, specified_tables
from calque.analysis.papers.primary import NAME, PrimaryClaims, primary_of
from calque.analysis.papers.published import published
from calque.analysis.papers.sweep import (
    SweepResults,
    differences_table,
    setting_title,
    sweep_findings,
    sweep_question,
    sweep_table,
)
from calque.analysis.papers.sweep_figure import sweep_figure
from calque.analysis.papers.texts import terms as report_terms
from calque.analysis.records import json_rows
from calque.analysis.records.record import FLOORS, RECORDS, RUNS, Floor, Published, Record, Run
from calque.analysis.report.claims_table import claims_table, null_table, verdicts
from calque.analysis.report.curves import Curves
from calque.analysis.report.page import FIRST, Report, write_page
from calque.analysis.report.plot import Plot
from calque.analysis.report.table import Table
from calque.analysis.results.results import Results, by_settings
from calque.derive.errors import BadInput, unknown
from calque.derive.files import files_of, whole_folder, write_json
from calque.experiments.report.checklist import checklist
from calque.experiments.report.folder import ABOUT, About, describe_records, read_records, stored
from calque.experiments.report.outcome import Outcome
from calque.experiments.report.parts import (
    example_of,
    models_inside,
    question,
    recorded_example,
    recorded_studies,
    training_curves,
)
from calque.experiments.report.summary import (
    COMPUTE,
    compute_statement,
    exclusions,
    facts_by,
    facts_of,
    floors_of,
    measured,
    runs_and_records,
    scale,
    scale_of,
)
from calque.experiments.settings.sweep import Sweep
from calque.experiments.study import Study
from calque.pretrain import objectives
from calque.pretrain.run import CLAIMS


def summarise(study: Study, root: Path, folder: Path, about: About | None = None) -> Outcome:
    """Write the report on a finished study to `folder`, atomically, and return its summary. `about` is the
    report's description."""
    found = measured(study, root)
    results = joined(study.paper, *runs_and_records(found), floors_of(study, root), scale(study))
    return _write_study(
        folder,
        study.paper,
        results,
        about,
        PrimaryClaims.read(study.claims) if study.claims else None,
        [study],
        root,
        example=example_of([study], root),
        curves=list(training_curves(study, root, results)),
        looks=models_inside({"": study}, root),
        terms=_own_terms(study),
        exclusions=exclusions(study, root, found),
        facts=[*facts_of(study, root, found), *_cost(about)],
    )


def summarise_sweep(sweep: Sweep, root: Path, folder: Path, about: About | None = None) -> Outcome:
    """Write the report on a sweep to `folder`, atomically, and return its summary."""
    curves, variants, studies, facts = list[Curves](), {}, {}, {}
    for values, study in sweep.variants.items():
        settings = dict(zip(sweep.keys, values, strict=True))
        suffix = ",".join(f"{key}={value}" for key, value in settings.items())
        found = measured(study, root)
        its_runs, its_records = runs_and_records(found)
        its_runs = [replace(run, id=f"{run.id}@{suffix}", settings=settings) for run in its_runs]
        its_records = [replace(record, run=f"{record.run}@{suffix}") for record in its_records]
        variants[values] = Results(its_runs, its_records, floors=floors_of(study, root))
        curves += training_curves(study, root, variants[values], f", {suffix}")
        studies[f", {suffix}"] = study
        facts[suffix] = list(facts_of(study, root, found))
    parts = {
        "example": example_of(sweep.variants.values(), root),
        "curves": curves,
        "looks": models_inside(studies, root),
        "facts": [
            *((setting_title(key), ", ".join(values)) for key, values in sweep.settings),
            *facts_by(facts),
            *_cost(about),
        ],
    }
    size = scale_of(sweep.variants.values())
    results = SweepResults(sweep.keys, variants)
    return _write_sweep(folder, results, size, about, [*sweep.variants.values()], root, **parts)


def summarise_records(source: Path, folder: Path, about: About, root: Path | None = None) -> Outcome:
    """Write a report on the records in `source` to `folder`, atomically, and return its summary. `about`
    states the kind of report and the study's scale. Without `root`, the results folder, the report has no
    example sentence."""
    if about["report"] not in PAPERS:
        raise BadInput(unknown("kind of report", about["report"], PAPERS), source)
    runs, records, floors = read_records(source)
    studies = recorded_studies(about) if root else []
    parts: dict[str, Any] = {
        "facts": _facts(about),
        "example": recorded_example(studies, root) if root else None,
    }
    try:
        if keys := tuple(runs[0].settings):
            sweep = SweepResults(keys, by_settings(runs, records, floors))
            return _write_sweep(folder, sweep, about["scale"], about, studies, root or Path(), **parts)
        results = joined(about["report"], runs, records, floors, about["scale"])
        claimed = primary_of(source)
    except BadInput as error:
        raise BadInput(str(error), source) from None
    return _write_study(folder, about["report"], results, about, claimed, studies, root or Path(), **parts)


def _write_study(
    folder: Path,
    paper: str,
    results: Results,
    about: About | None,
    claimed: PrimaryClaims | None = None,
    studies: Sequence[Study] = (),
    root: Path = Path(),
    terms: Iterable[tuple[str, str]] = (),
    exclusions: Iterable[str] = (),
    **parts: Any,
) -> Outcome:
    """Write a study's report. `terms`, `exclusions` and `parts` are not computed from records. With
    `studies`, whose steps are below `root`, the page includes a checklist."""
    kind, tables = PAPERS[paper], tables_of(results, paper, claimed)
    primary, claims, null = (tables.pop(name, None) for name in (NAME, "claims", "null"))
    findings = list(kind.findings(results))
    first = [claimed.change(results), verdicts(primary, "primary claim")] if claimed and primary else []
    page = Report(
        title=f"Calque: the study {results.study}",
        scale=results.scale,
        question=question(results.study, changed=bool(about and about.get("settings"))),
        plots=list(figures_of(results, paper)),
        claims=claims,
        primary=primary,
        findings=[*filter(None, first), *findings, *([verdicts(claims)] if claims else [])],
        null=null,
        tables=tables,
        terms=[*report_terms(results, kind.natural), *terms],
        exclusions=list(exclusions),
        checklist=checklist(about or {}, studies, root, [results], claims) if studies else {},
        **parts,
    )
    rows = list(results.runs.values()), results.records, results.floors.all
    _write(folder, page, rows, about, claimed)
    shown = {name: table for name, table in tables.items() if name in kind.shown} or tables
    return Outcome(results.study, results.scale, folder, results, findings, claims, shown, primary)


def _write_sweep(
    folder: Path,
    results: SweepResults,
    size: str,
    about: About | None,
    studies: Sequence[Study],
    root: Path,
    **parts: Any,
) -> Outcome:
    study, plot, variants = results.first.study, sweep_figure(results, size), [*results.variants.values()]
    compared, tables = differences_table(results), {"sweep": sweep_table(results, size)}
    if compared:
        tables["differences"] = compared
    page = Report(
        title=f"Calque: the study {study} by {', '.join(results.titles)}",
        scale=size,
        question=sweep_question(results),
        plots=[plot] if plot else [],
        findings=list(islice(sweep_findings(results), FIRST)),
        tables=tables,
        checklist=checklist(about or {}, studies, root, variants, None) if studies else {},
        **parts,
    )
    runs = [run for one in variants for run in one.runs.values()]
    records = [record for one in variants for record in one.records]
    _write(folder, page, (runs, records, results.floors()), about)
    return Outcome(study, size, folder, None, (), None, tables)


def _write(
    folder: Path,
    page: Report,
    rows: tuple[Sequence[Run], Sequence[Record], Sequence[Floor]],
    about: About | None,
    claimed: PrimaryClaims | None = None,
) -> None:
    with whole_folder(folder, stored(folder).get("files", ())) as part:
        for name, its in zip((RUNS, RECORDS, FLOORS), rows, strict=True):
            json_rows.write(part / name, its)
        tables = {**page.tables, NAME: page.primary, "claims": page.claims, "null": page.null}
        for name, table in tables.items():
            if table:
                (part / f"{name}.csv").write_text(table.csv, encoding="utf-8")
                (part / f"{name}.md").write_text(table.markdown, encoding="utf-8")
        for plot in page.plots:
            plot.save(part / "figures")
        write_page(part / "report.html", page)
        if claimed:
            (part / f"{NAME}.toml").write_bytes(claimed.content)
        if about:
            about = {key: value for key, value in about.items() if key != CLAIMS}
            about |= {CLAIMS: claimed.digest} if claimed else {}
            write_json(part / ABOUT, {**about, "files": sorted([*files_of(part), ABOUT])})


def joined(
    paper: str,
    runs: Iterable[Run],
    records: Iterable[Record],
    floors: Iterable[Floor] = (),
    scale: str = "",
) -> Results:
    """Join runs and records with the published numbers that tables show next to them."""
    numbers: list[Published] = [p for name in PAPERS[paper].published for p in published(name)]
    return Results(runs, records, numbers, floors, scale)


def tables_of(results: Results, paper: str, claimed: PrimaryClaims | None = None) -> dict[str, Table]:
    """Return each table that has records, by file name, including the claims and the null distribution."""
    about, scale = PAPERS[paper], results.scale
    claims = claims_table(results, list(about.claims(results)), scale, about.claims_title)
    tables = {"claims": claims, "null": null_table(results, scale), **about.tables(results)}
    tables |= specified_tables(paper, results)
    if claimed:
        tables[NAME] = claimed.table(results)
    return {name: table for name, table in tables.items() if table}


def figures_of(results: Results, paper: str) -> Iterator[Plot]:
    """Yield each figure that has records."""
    figures = chain(PAPERS[paper].figures(results), specified_figures(paper, results))
    yield from filter(None, figures)


def plots_of_records(folder: Path, change: Callable[[list[Run]], list[Run]]) -> Iterator[Plot]:
    """Yield the figures for a folder of records, after applying `change` to its runs."""
    about = describe_records(folder)
    runs, records, floors = read_records(folder)
    runs = change(runs)
    if keys := tuple(runs[0].settings):
        plot = sweep_figure(SweepResults(keys, by_settings(runs, records, floors)), about["scale"])
        yield from [plot] if plot else []
    else:
        results = joined(about["report"], runs, records, floors, about["scale"])
        yield from figures_of(results, about["report"])


def _facts(about: About) -> list[tuple[str, str]]:
    """Return the configuration in a report's description, except for date, commit and command."""
    facts = [("Seeds", ", ".join(map(str, about["seeds"])))]
    facts += [(key.capitalize(), "; ".join(about[key])) for key in ("settings", "sweep") if about.get(key)]
    libraries = ", ".join(f"{name} {number}" for name, number in about.get("versions", {}).items())
    facts += [("Machine", str(about.get("machine", ""))), ("Libraries", libraries)]
    return [fact for fact in facts if fact[1]] + _cost(about)


def _cost(about: About | None) -> list[tuple[str, str]]:
    return [("Compute", compute_statement(about))] if about and COMPUTE in about else []


def _own_terms(study: Study) -> Iterator[tuple[str, str]]:
    for measure in study.measures:
        yield from measure.terms.items()
    firsts = [objective.traits.start[0] for objective in study.objectives if objective.traits.start]
    parts = dict.fromkeys(part for objective in (*study.objectives, *firsts) for part in objective.parts)
    for part in parts:
        if type(part) not in objectives.OBJECTIVES and part.summary:
            yield part.title, part.summary

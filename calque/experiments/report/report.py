"""Write a study's report: the tables, figures and claims of its kind of report, and report.html."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from calque.analysis.checkpoint import Checkpoint
from calque.analysis.looking import Derivation, Look, look
from calque.analysis.papers.catalogue import PAPERS
from calque.analysis.papers.columns import specified_figures, specified_tables
from calque.analysis.papers.looks import looks
from calque.analysis.papers.primary import NAME, PrimaryClaims, primary_of
from calque.analysis.papers.published import published
from calque.analysis.papers.sweep import (
    SweepResults,
    differences_table,
    setting_title,
    sweep_figure,
    sweep_question,
    sweep_table,
)
from calque.analysis.papers.texts import terms as report_terms
from calque.analysis.records import json_rows
from calque.analysis.records.record import FLOORS, RECORDS, RUNS, Floor, Record, Run
from calque.analysis.report.claims import claims_table, null_table
from calque.analysis.report.drawing import INK, Plot
from calque.analysis.report.page import Curves, Report, write_page
from calque.analysis.report.table import Table
from calque.analysis.results import Results, by_settings
from calque.derive.errors import BadInput, unknown
from calque.derive.files import files_of, whole_folder, write_json
from calque.derive.languages import VOCABULARY
from calque.derive.sentence import CHUNKS, Sentence, printable
from calque.derive.source import Source
from calque.derive.transform import Account, image_of
from calque.derive.types import USAGE, Usage
from calque.derive.vocabulary import Vocabulary
from calque.experiments.report.checklist import checklist
from calque.experiments.report.folder import ABOUT, About, measured, read_records, recorded, stored
from calque.experiments.report.outcome import Outcome
from calque.experiments.report.summary import (
    compute_statement,
    exclusions,
    facts_of,
    scale,
    scale_of,
    versions_in,
)
from calque.experiments.run.places import CACHE
from calque.experiments.settings.catalogue import table
from calque.experiments.settings.sweep import Sweep
from calque.experiments.study import Study
from calque.experiments.study.languages import DerivedLanguages
from calque.pretrain import objectives
from calque.pretrain.run import CLAIMS, read_metrics
from calque.pretrain.saved_model import METRICS

WORDS = range(5, 9)  # the sentence lengths, in words, that fit on a phone screen
INSIDE = 12  # maximum number of models inspected in a report
SENTENCES = 1_000  # maximum number of sentences searched for an example


def summarise(study: Study | Sweep, root: Path, folder: Path, about: About | None = None) -> Outcome:
    """Write the report on a finished study or sweep to `folder`, atomically, and return its summary. `about`
    is the report's description."""
    about, claimed = about or {}, None
    results: Results | SweepResults
    if isinstance(study, Sweep):
        results, facts = _sweep_results(study, root)
        studies = {f", {_suffix(study, values)}": variant for values, variant in study.variants.items()}
        page = _sweep_page(results, scale_of(studies.values()))
    else:
        steps, studies = measured(study, root), {"": study}
        results = joined(study.paper, *recorded(study, root, steps), scale(study))
        claimed = PrimaryClaims.read(study.claims) if study.claims else None
        page, facts = _study_page(results, study.paper, about, claimed), list(facts_of(study, root, steps))
        terms = [*page.terms, *_own_terms(study)]
        page = replace(page, terms=terms, exclusions=exclusions(study, root, steps))
    variants, curves = _variants(results), list[Curves]()
    for (suffix, variant), variant_results in zip(studies.items(), variants, strict=True):
        curves += training_curves(variant, root, variant_results, suffix)
    page = replace(
        page,
        example=example_of(studies.values(), root),
        curves=curves,
        looks=models_inside(studies, root),
        checklist=checklist(about, list(studies.values()), root, variants, page.tables.get("claims")),
        facts=[*facts, *_cost(about)],
    )
    return _write(folder, page, results, about, claimed)


def _variants(results: Results | SweepResults) -> list[Results]:
    return [results] if isinstance(results, Results) else list(results.variants.values())


def _suffix(sweep: Sweep, values: Sequence[str]) -> str:
    """Return the swept settings of a variant: `seeds=0,train.steps=100`."""
    return ",".join(map("=".join, zip(sweep.keys, values, strict=True)))


def _sweep_results(sweep: Sweep, root: Path) -> tuple[SweepResults, list[tuple[str, str]]]:
    """Return a sweep's results, and the configuration that its variants share."""
    variants, facts = {}, list[list[tuple[str, str]]]()
    for values, study in sweep.variants.items():
        settings, suffix = dict(zip(sweep.keys, values, strict=True)), _suffix(sweep, values)
        steps = measured(study, root)
        runs, records, floors = recorded(study, root, steps)
        runs = [replace(run, id=f"{run.id}@{suffix}", settings=settings) for run in runs]
        records = [replace(record, run=f"{record.run}@{suffix}") for record in records]
        variants[values] = Results(runs, records, floors=floors)
        facts.append(list(facts_of(study, root, steps)))
    swept = [(setting_title(key), ", ".join(values)) for key, values in sweep.settings]
    shared = [fact for fact in facts[0] if all(fact in variant_facts for variant_facts in facts)]
    return SweepResults(sweep.keys, variants), [*swept, *shared]


def summarise_records(source: Path, folder: Path, about: About) -> Outcome:
    """Write a report on the records in `source` to `folder`, atomically, and return its summary. `about`
    states the kind of report and the study's scale."""
    paper, size = about["report"], about["scale"]
    rows, claimed = read_records(source), None
    results: Results | SweepResults
    try:
        if rows.swept:
            results = SweepResults(rows.swept, by_settings(*rows))
            page = _sweep_page(results, size)
        else:
            results, claimed = joined(paper, *rows, size), primary_of(source)
            page = _study_page(results, paper, about, claimed)
    except BadInput as error:
        raise BadInput(str(error), source) from None
    facts = {
        "Seeds": ", ".join(map(str, about["seeds"])),
        "Settings": "; ".join(about.get("settings", ())),
        "Sweep": "; ".join(about.get("sweep", ())),
        "Machine": str(about.get("machine", "")),
        "Libraries": versions_in(about),
    }
    page = replace(page, facts=[*(fact for fact in facts.items() if fact[1]), *_cost(about)])
    return _write(folder, page, results, about, claimed)


def _study_page(results: Results, paper: str, about: About, claimed: PrimaryClaims | None) -> Report:
    kind, tables = PAPERS[paper], tables_of(results, paper, claimed)
    return Report(
        title=f"Calque: the study {results.study}",
        scale=results.scale,
        question=_question(results.study, changed=bool(about.get("settings"))),
        plots=figures_of(results, paper),
        change=claimed.change(results) if claimed and NAME in tables else "",
        tables=tables,
        main=[name for name in tables if name in kind.shown],
        terms=list(report_terms(results, kind.natural)),
    )


def _sweep_page(results: SweepResults, size: str) -> Report:
    plot = sweep_figure(results, size)
    tables = {"sweep": sweep_table(results, size), "differences": differences_table(results)}
    return Report(
        title=f"Calque: the study {results.first.study} by {', '.join(results.titles)}",
        scale=size,
        question=sweep_question(results),
        plots=[plot] if plot else [],
        tables={name: table for name, table in tables.items() if table},
    )


def _write(
    folder: Path,
    page: Report,
    results: Results | SweepResults,
    about: About,
    claimed: PrimaryClaims | None = None,
) -> Outcome:
    variants = _variants(results)
    floors = results.floors.all if isinstance(results, Results) else results.floors()
    with whole_folder(folder, stored(folder).get("files", ())) as part:
        json_rows.write(part / RUNS, [run for variant in variants for run in variant.runs.values()])
        json_rows.write(part / RECORDS, [record for variant in variants for record in variant.records])
        json_rows.write(part / FLOORS, floors)
        for name, table in page.tables.items():
            (part / f"{name}.csv").write_text(table.csv, encoding="utf-8")
            (part / f"{name}.md").write_text(table.markdown, encoding="utf-8")
        for plot in page.plots:
            plot.save(part / "figures")
        write_page(part / "report.html", page)
        if claimed:
            (part / f"{NAME}.toml").write_bytes(claimed.content)
        if about:
            description = {key: value for key, value in about.items() if key != CLAIMS}
            description |= {CLAIMS: claimed.digest} if claimed else {}
            write_json(part / ABOUT, {**description, "files": sorted([*files_of(part), ABOUT])})
    return Outcome(folder, page, variants[0].study, results if isinstance(results, Results) else None)


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
    """Return each table that has records, by file name, including the claims and the null distribution."""
    tables = {"claims": claims_of(results, paper), "null": null_table(results, results.scale)}
    tables |= {**PAPERS[paper].tables(results), **specified_tables(paper, results)}
    if claimed:
        tables[NAME] = claimed.table(results)
    return {name: table for name, table in tables.items() if table}


def figures_of(results: Results, paper: str) -> list[Plot]:
    """Return each figure that has records."""
    return [plot for plot in (*PAPERS[paper].figures(results), *specified_figures(paper, results)) if plot]


def _cost(about: About) -> list[tuple[str, str]]:
    statement = compute_statement(about)
    return [("Compute", statement)] if statement else []


# Parts that are not computed from records: terms, the question, an example, curves and inspections


def _own_terms(study: Study) -> Iterator[tuple[str, str]]:
    """Yield the terms of a study's measures, and of objectives that are not Calque's."""
    for measure in study.measures:
        yield from measure.terms.items()
    starts = [objective.traits.start[0] for objective in study.objectives if objective.traits.start]
    for part in dict.fromkeys(part for objective in (*study.objectives, *starts) for part in objective.parts):
        if type(part) not in objectives.OBJECTIVES and part.summary:
            yield part.title, part.summary


def _question(study: str, changed: bool) -> str:
    """Return a study's description, or only its question if settings are `changed`."""
    doc = table().get(study, {}).get("doc", "")
    return doc[: doc.find("?") + 1] if changed else doc


def example_of(studies: Iterable[Study], root: Path) -> list[Derivation]:
    """Return a short corpus sentence in the derived languages of the first study that has any, for its first
    seed; nothing for natural languages, or if the source's files are missing."""
    for study in studies:
        if isinstance(study.languages, DerivedLanguages):
            return _example(study, study.languages, root)
    return []


def _example(study: Study, languages: DerivedLanguages, root: Path) -> list[Derivation]:
    seed_languages, text = languages.of_seed(study.seeds[0]), study.data(root, study.seeds[0]).text
    ready = [transform.ready(root / CACHE) for transform in seed_languages.transforms]
    needs = {need for transform in ready for need in transform.needs}
    if "usage" in needs and text:
        types = text.folder / VOCABULARY
        vocabulary = Vocabulary.load(types)
        usage = Usage(np.load(types / USAGE), vocabulary.cut, vocabulary.specials)
        ready = [transform.ready(usage=usage) for transform in ready]
    try:
        numbered_sentence = _short(seed_languages.source.ready(root / CACHE, "tags" in needs))
    except BadInput:
        return []
    if numbered_sentence is None:
        return []
    (number, sentence), images = numbered_sentence, list[Derivation]()
    source = tuple(printable(sentence.words))
    for transform in ready:
        image = image_of(transform, sentence, number, Account())
        words = tuple(printable([transform.spell(word) for word in image.words]))
        links = image.origin, image.sources
        images.append(Derivation(transform.title, source, words, *links, sentence.tags))
    return images


def _short(source: Source) -> tuple[int, Sentence] | None:
    """Return a corpus's first short sentence or, failing that, its shortest sentence, with its number."""
    sentences, _ = source.sentences(next(iter(source.chunks())))
    numbered = [
        (CHUNKS.number(0, i), sentence) for i, sentence in enumerate(sentences[:SENTENCES]) if sentence.words
    ]
    short = (pair for pair in numbered if len(pair[1]) in WORDS)
    return next(short, None) or min(numbered, key=lambda pair: len(pair[1]), default=None)


def training_curves(study: Study, root: Path, results: Results, suffix: str = "") -> Iterator[Curves]:
    """Yield each model's training curves; `suffix` distinguishes the variants in a sweep."""
    colours = {name: look.colour for name, look in looks(results).items()}
    for model in study.models(root):
        objective, path = model.training.objective, model.folder / METRICS
        if path.is_file():
            colour = colours.get(objective.name, INK)
            yield Curves(objective.title + suffix, colour, read_metrics(path))


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

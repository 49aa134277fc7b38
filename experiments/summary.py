"""The last stage: a study's records become tables, figures, claims and report.html."""

from __future__ import annotations

import platform
from importlib.metadata import version
from itertools import chain

from analysis.papers.align_mlm.tables import claims_table
from analysis.papers.terms import terms
from analysis.records import record as records
from analysis.records.results import Results
from analysis.report.excerpt import excerpt
from analysis.report.page import Report, write_report
from analysis.report.style import MOST, distinct
from analysis.report.table import Table
from derive.errors import BadInput
from derive.files import MANIFEST, whole_folder
from experiments.account import manifest, of_languages, of_pretraining
from experiments.places import Places
from experiments.published import published
from experiments.reporting import PAPERS
from experiments.stages import ALIGNMENT, TRANSFER

LIBRARIES = ("calque", "torch", "transformers", "tokenizers", "numpy")


def summarise(places: Places) -> str:
    """Write the report folder from the records of every cell, and return what a terminal should show.

    Raises:
        BadInput: naming the cells that are not evaluated yet.
    """
    study = places.study
    missing = [cell.name for cell in study.cells if not (places.evaluation(cell) / MANIFEST).exists()]
    if missing:
        raise BadInput(
            f"not evaluated yet: {', '.join(missing)}; run `calque evaluate {study.name}` first", places.home
        )
    files = [places.evaluation(cell) / name for cell in study.cells for name in (ALIGNMENT, TRANSFER)]
    rows = list(chain.from_iterable(map(records.read, files)))
    paper = PAPERS[study.paper]
    results = Results(rows, published(study.paper))
    claims = claims_table(results, paper.claims(results), study.scale)
    tables = dict(paper.tables(results, study.scale))
    preview = (places.data / "preview.txt").read_text(encoding="utf-8")
    with whole_folder(places.report) as folder:
        records.append(folder / "records.jsonl", rows)
        for name, table in ({"claims": claims} | tables).items():
            (folder / f"{name}.csv").write_text(table.csv, encoding="utf-8")
            (folder / f"{name}.md").write_text(table.markdown, encoding="utf-8")
        plots = [draw(results, study.scale) for draw in paper.figures]
        page = Report(
            title=f"Calque: the study {study.name}",
            scale=study.scale,
            drawings=[plot.save(folder / "figures") for plot in plots if plot],
            claims=claims,
            tables=list(tables.values()),
            examples=[("The first examples of preview.txt", excerpt(preview))],
            terms=list(terms(results)),
            dropped=[*of_languages(places.data), *of_pretraining(places), *_not_drawn(results)],
            facts=_facts(places),
            runs=results.runs,
        )
        write_report(folder / "report.html", page)
    shown: list[Table] = [*tables.values(), claims]
    return "\n".join(table.markdown for table in shown) + f"\n{places.report / 'report.html'}"


def _not_drawn(results: Results) -> list[str]:
    if len(results.transforms) <= MOST and distinct(results.objectives):
        return []
    return [
        f"Δ by objective and the growth of alignment: not drawn for more than {MOST} transforms, and no figure with a "
        "line for each objective for more of them than it can tell apart; the tables have them all"
    ]


def _facts(places: Places) -> list[tuple[str, str]]:
    study = places.study
    run = manifest(places.run(study.cells[0]))["identity"]
    return [
        ("Seeds", ", ".join(map(str, study.seeds))),
        ("Model", ", ".join(f"{key} {value}" for key, value in run["model"].items() if key != "kind")),
        ("Training", ", ".join(f"{key} {value}" for key, value in run["train"].items() if key != "kind")),
        ("Dictionary", f"{study.dictionary.share:.0%} of the types, by {study.dictionary.by}"),
        ("Languages", f"{study.data_fingerprint} (fingerprint of the derived data)"),
        ("Machine", f"{platform.machine()}, {run['device']}, {run['threads']} thread(s) a model"),
        ("Libraries", ", ".join(f"{name} {version(name)}" for name in LIBRARIES)),
    ]

"""Tables of what derived languages share with their source, and of held-out forms of words."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.papers.align_mlm.overlap import sharers
from analysis.records.record import ALIGNMENT, FORM, LEMMA, SHARING
from analysis.report.pos_units import units_note
from analysis.report.table import MISSING, Table, cell, over_seeds, percent
from analysis.results.measured import mean
from analysis.results.results import Results
from analysis.results.retained import retained
from analysis.tasks.catalog import PRIMARY, metric_title, task_title


def overlap_tables(results: Results, scale: str) -> Iterator[tuple[str, Table]]:
    """Transfer and alignment by what is shared, and alignment@1 of held-out forms: those that there are records of."""
    if any(0 < sharer.tokens.mean < 1 for sharer in sharers(results)):
        yield "overlap", _overlap(results, scale)
    if any(record.metric in (FORM, LEMMA) for record in results.records):
        yield "forms", _forms(results, scale)


def _overlap(results: Results, scale: str) -> Table:
    tasks = [(task, PRIMARY[task]) for task in PRIMARY if task in results.tasks]
    header = [f"{task_title(t)} {metric_title(m)} {name}" for t, m in tasks for name in ("ZS", "Δ", "retained")]
    rows = []
    for objective in results.objectives:
        for sharer in sharers(results):
            shared = [percent(share.mean) for share in (sharer.types, sharer.tokens, sharer.words)]
            scores = []
            for task, metric in tasks:
                kept = retained(results, objective, sharer.language, task, metric)
                scores += [
                    cell(mean(results.scores("ZS", objective, sharer.language, task, metric))),
                    cell(mean(results.deltas(objective, sharer.language, task, metric))),
                    cell(kept.share) if kept and kept.share else kept.told if kept else MISSING,
                ]
            aligned = [cell(mean(results.alignments(objective, sharer.language, m))) for m in ("all", "held-out")]
            title = results.transform_title(sharer.language)
            rows.append((results.objective_title(objective), title, *shared, *scores, *aligned))
    return Table(
        f"What is shared: transfer and alignment, {scale}",
        ("objective", "language", "types", "sub-words", "words", *header, "alignment@1 all", "alignment@1 held-out"),
        tuple(rows),
        f"Percent; {over_seeds(results.seeds)}. Types, sub-words of the text and words are those that are shared with "
        f"the source; alignment@1 asks for types that are not. "
        f"{units_note(results.records, results.tasks)}{MISSING}: not measured.",
        runs=results.run_ids((SHARING,)),
        labels=2,
    )


def _forms(results: Results, scale: str) -> Table:
    rows = []
    for objective in results.objectives:
        for language in results.transforms:
            found = [results.last(ALIGNMENT, objective, language, "", metric) for metric in (FORM, LEMMA)]
            if not any(found):
                continue
            counts = [str(next(iter(seeds.values())).count) if seeds else MISSING for seeds in found]
            shares = [cell(mean(results.alignments(objective, language, metric))) for metric in (FORM, LEMMA)]
            names = results.objective_title(objective), results.transform_title(language)
            rows.append((*names, shares[0], counts[0], shares[1], counts[1]))
    return Table(
        f"alignment@1 of held-out forms of words, {scale}",
        ("objective", "language", "another form known", "types", "no form known", "types (none known)"),
        tuple(rows),
        f"Percent; {over_seeds(results.seeds)}. Words that the dictionary lacks and of which the corpus has another "
        f"form as a type: those with a form in the dictionary, and those without. {MISSING}: there is none.",
        runs=results.run_ids((ALIGNMENT,)),
        labels=2,
    )

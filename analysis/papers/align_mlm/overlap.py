"""Transfer and alignment by what a derived language shares with its source, and alignment of held-out word forms."""

from collections.abc import Iterator
from dataclasses import dataclass

from matplotlib.axes import Axes

from analysis.papers.columns import Column, main_metrics, retained_cell, score_title
from analysis.papers.looks import looks
from analysis.papers.texts import heading, plot, table
from analysis.records.record import ALIGNMENT, DELTA, FORM, LEMMA, SHARING
from analysis.report.drawing import FULL, INK, LOOKS, Point, draw_points, key, legend, styled
from analysis.report.plot import Plot
from analysis.report.table import MISSING, Table, cell, percent
from analysis.results.measured import mean, means
from analysis.results.results import Results
from analysis.results.retained import retained
from analysis.tasks.catalog import PRIMARY

NEW = "a new script"
KINDS = {
    ("Transliterate", "uniform"): "any types",
    ("Transliterate", "most-frequent"): "frequent types",
    ("Transliterate", "least-frequent"): "rare types",
    ("Transliterate", "function"): "function words",
    ("Transliterate", "names"): "names",
    ("Transliterate", "content"): "content words",
    ("Cognates", "uniform"): "stems",
}
LOOK = dict(zip((NEW, *KINDS.values()), LOOKS, strict=False))  # colour and marker of what is shared
FEWEST = 3  # the fewest different shares that are drawn
MOST_ROWS = 4  # the most objectives, a row each


@dataclass(frozen=True)
class Sharer:
    """A language, what it shares with its source, and the shares of types, of sub-words of its text, and of words."""

    language: str
    kind: str
    types: float
    tokens: float
    words: float


def sharers(results: Results) -> list[Sharer]:
    """The languages that differ in nothing but what is shared, the least first; as far as that was measured."""
    found = []
    for language in results.transforms:
        parts = results.transform(language).parts
        if len(parts) != 1 or parts[0]["kind"] not in {kind for kind, _ in KINDS}:
            continue
        for objective in results.objectives:
            shares = (mean(results.scores(SHARING, objective, language, "", m)) for m in ("types", "tokens", "words"))
            measured = [share.mean for share in shares if share]
            if len(measured) == 3:
                kind = KINDS[parts[0]["kind"], parts[0].get("by", "uniform")] if measured[1] else NEW
                found.append(Sharer(language, kind, *measured))
                break
    return sorted(found, key=lambda sharer: sharer.tokens)


def overlap_tables(results: Results, scale: str) -> Iterator[tuple[str, Table]]:
    """Transfer and alignment by what is shared, and alignment@1 of held-out forms: those that there are records of."""
    if any(0 < sharer.tokens < 1 for sharer in sharers(results)):
        yield "overlap", _overlap(results, scale)
    if any(record.metric in (FORM, LEMMA) for record in results.records):
        yield "forms", _forms(results, scale)


def _overlap(results: Results, scale: str) -> Table:
    tasks, rows = main_metrics(results), []
    for objective in results.objectives:
        for sharer in sharers(results):
            cells = [percent(share) for share in (sharer.types, sharer.tokens, sharer.words)]
            for task, metric in tasks:
                scores = (results.scores(m, objective, sharer.language, task, metric) for m in ("ZS", DELTA))
                kept = retained(results, objective, sharer.language, task, metric)
                share = cell(kept.share) if kept and kept.share else retained_cell(kept)
                cells += [*map(cell, map(mean, scores)), share]
            cells += [cell(mean(results.alignments(objective, sharer.language, m))) for m in ("all", "held-out")]
            titles = results.objective_title(objective), results.transform_title(sharer.language)
            rows.append((*titles, *cells))
    heads = [f"{score_title(task)} {name}" for task, _ in tasks for name in ("ZS", "Δ", "retained")]
    header = ("objective", "language", "types", "sub-words", "words", *heads, "alignment@1 all", "alignment@1 held-out")
    return table("overlap", results, scale, header, rows, 2, (SHARING,))


def _forms(results: Results, scale: str) -> Table:
    rows = []
    for objective in results.objectives:
        for language in results.transforms:
            cells: list[str] = []
            for metric in (FORM, LEMMA):
                last = results.last(ALIGNMENT, objective, language, "", metric)
                types = str(next(iter(last.values())).count) if last else MISSING
                cells += [cell(mean(results.alignments(objective, language, metric))), types]
            if any(cell != MISSING for cell in cells):
                rows.append((results.objective_title(objective), results.transform_title(language), *cells))
    header = ("objective", "language", "another form known", "types", "no form known", "types (none known)")
    return table("forms", results, scale, header, rows, 2, (ALIGNMENT,))


def overlap_figure(results: Results, scale: str) -> Plot | None:
    """Delta of each task and alignment@1 against the shared sub-words, a row for each objective, a look for each kind.

    None where fewer than three different shares were measured, or with more objectives than rows.
    """
    languages, rows = sharers(results), results.objectives
    columns = [Column(f"{score_title(t)}, Δ, points", DELTA, metric, t) for t, metric in main_metrics(results)]
    columns += [Column("alignment@1, held-out, %", ALIGNMENT, "held-out")] if results.has(ALIGNMENT) else []
    few = len({sharer.tokens for sharer in languages}) < FEWEST
    if few or not columns or len(rows) > MOST_ROWS or not looks(results):
        return None
    with styled(FULL, 1.3 + 2.0 * len(rows), heading("figure-overlap", scale)) as figure:
        axes = figure.subplots(len(rows), len(columns), sharex=True, sharey="col", squeeze=False)
        for panels, objective in zip(axes, rows, strict=True):
            for panel, column in zip(panels, columns, strict=True):
                _draw(panel, column, results, objective, languages)
                panel.set_title(f"{results.objective_title(objective)}\n{column.head}", fontsize=9.5)
        for panel in axes[-1]:
            panel.set_xlabel("sub-words shared, %")
        kinds = {sharer.kind for sharer in languages}
        legend(figure, [key(kind, *look) for kind, look in LOOK.items() if kind in kinds], 4)
    numbers = [(SHARING, "", "tokens"), (ALIGNMENT, "", "held-out")]
    numbers += [(measure, task, metric) for task, metric in PRIMARY.items() for measure in ("SUP", "ZS")]
    records = [
        record
        for objective in rows
        for sharer in languages
        for measure, task, metric in numbers
        for record in results.last(measure, objective, sharer.language, task, metric).values()
    ]
    return plot("figure-overlap", figure, results, records)


def _draw(axes: Axes, column: Column, results: Results, objective: str, languages: list[Sharer]) -> None:
    def points(*kinds: str) -> list[Point]:
        own = (sharer for sharer in languages if sharer.kind in kinds)
        return means((100 * sharer.tokens, column.values(results, objective, sharer.language)) for sharer in own)

    for kind, (colour, marker) in LOOK.items():
        if own := points(kind):
            draw_points(axes, own, colour, bounds=column.bounds, marker=marker, markersize=6, linestyle="none")
        if len(own) > 1:
            dial = [(share, 100 * value.mean) for share, value in points(NEW, kind)]
            axes.plot(*zip(*dial, strict=True), "-", color=colour, linewidth=1, zorder=1)
    if column.task:
        axes.axhline(0, color=INK, linewidth=0.8)

"""The report of a study of word alignment: its records become tables, a figure and report.html."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from analysis.aligners.encoder import main_layer
from analysis.aligners.methods import RELEASED
from analysis.papers.xlm_align.layer_figure import layer_figure
from analysis.papers.xlm_align.link_findings import link_findings
from analysis.papers.xlm_align.link_tables import (
    CHOSEN_ON,
    choices_table,
    layers_table,
    measures_table,
    table_2,
    ways_table,
)
from analysis.papers.xlm_align.systems import Systems
from analysis.records import json_rows
from analysis.records.record import RECORDS, Record
from analysis.records.run import RUNS, Run
from analysis.report.page import Report, write_report
from analysis.results.results import Results
from derive.files import whole_folder
from experiments.published import notes, published, published_layers
from experiments.terminal import told

PAPER = "xlm_align"
TERMS = (
    (
        "Gold links and AER",
        "Annotators linked the words of sentences and of their translations: S are the links that they were sure of, P "
        "also those that are possible. The alignment error rate of the links A that an aligner predicts is "
        "1 − (|A ∩ S| + |A ∩ P|) / (|A| + |S|): 0 is perfect, and lower is better.",
    ),
    (
        "fast_align",
        "Counts which words stand in translations of one another, and where; it needs parallel text and no encoder. "
        "Each direction links a word to one at most, and a symmetrisation makes one alignment of the two.",
    ),
    (
        "ot, xlm-align, argmax, itermax, match, argmax-centred",
        "Ways to read links from the hidden states of an encoder that saw both sentences: optimal transport filtered "
        "by Itermax (XLM-Align’s paper), optimal transport without it (its released aligner), cosines that are the "
        "largest of their row and column, the same in rounds, and the best assignment as a whole (SimAlign); the first "
        "of these three with states from which the sentence pair’s mean was taken, the default of calque align.",
    ),
    (
        "MLM, XLM, XLM-ALIGN",
        "MLM predicts masked words in sentences of either language. XLM also predicts masked words in pairs of "
        "translated sentences. XLM-ALIGN also aligns the words of such pairs by itself, and learns to point from a "
        "masked word to its partner.",
    ),
)


@dataclass(frozen=True)
class Outcome:
    """What a study of word alignment has to report.

    `alone` are those of the `sets` that have no text beyond their own sentence pairs, with the number of those pairs.
    `layers` is the depth of the encoders that were pretrained (0: none was), and `given` says whether there was one of
    another origin. `dropped` is what was left out and why, `facts` with what it was made.
    """

    study: str
    scale: str
    sets: tuple[str, ...]
    runs: Sequence[Run]
    records: Sequence[Record]
    alone: Mapping[str, int]
    layers: int
    given: bool
    dropped: Sequence[str]
    facts: Sequence[tuple[str, str]]


def write_link_report(outcome: Outcome, folder: Path) -> str:
    """Write the report folder, whole or not at all, and return what a terminal should show.

    Raises:
        BadInput: as `Results`, or a number is not finite.
    """
    results = Results(outcome.runs, outcome.records)
    systems = Systems(results, outcome.sets)
    first = table_2(systems, published(PAPER, 2), outcome.scale, _about(outcome))
    behind = {"measures": measures_table(systems, outcome.scale), "ways": ways_table(systems, outcome.scale)}
    layers = published_layers(PAPER)
    if outcome.layers or outcome.given:
        behind["layers"] = layers_table(systems, RELEASED.name, layers if outcome.given else {}, outcome.scale)
    if outcome.given and CHOSEN_ON in outcome.sets:
        behind["choices"] = choices_table(systems)
    findings = list(link_findings(systems))
    with whole_folder(folder) as part:
        json_rows.write(part / RUNS, results.runs.values())
        json_rows.write(part / RECORDS, results.records)
        for name, table in ({"table-2": first} | behind).items():
            (part / f"{name}.csv").write_text(table.csv, encoding="utf-8")
            (part / f"{name}.md").write_text(table.markdown, encoding="utf-8")
        plot = layer_figure(systems, outcome.scale, published=layers)
        page = Report(
            title=f"Calque: the study {outcome.study}",
            scale=outcome.scale,
            drawings=[plot.save(part / "figures")] if plot else [],
            claims=None,
            findings=findings,
            tables=[first, *behind.values()],
            dropped=outcome.dropped,
            facts=outcome.facts,
            runs=tuple(results.runs),
            terms=TERMS,
        )
        write_report(part / "report.html", page)
    return told(folder, findings, {"table-2": first})


def _about(outcome: Outcome) -> str:
    """What must be known to read Table 2."""
    parts = [
        "fast_align’s two directions are joined by grow-diag-final-and; its own sentences are those of the gold set, "
        "whose links it never sees. Sentences are in lower case for it and for our encoders. diagonal links each word "
        "to the one in the same place, and learns nothing."
    ]
    if outcome.layers:
        parts.append(
            f"Our encoders are one model a language pair, of {outcome.layers} layers, and are judged by layer "
            f"{main_layer(outcome.layers)}, as deep as the paper’s eighth of twelve: nothing was chosen by looking "
            "at gold links. One seed."
        )
    if outcome.layers or outcome.given:
        parts.append(
            "Published optimal transport is that of XLM-Align’s released aligner: compare xlm-align, joint, with it."
        )
    if outcome.alone:
        sizes = ", ".join(f"{name} {pairs}" for name, pairs in outcome.alone.items())
        parts.append(
            f"For some sets there is no text beyond their own sentence pairs ({sizes}), "
            "too few to pretrain on: hence – there."
        )
    if not outcome.given:
        parts.append("No encoder of the paper’s size was given: CALQUE_ENCODER names a folder with one.")
    return " ".join([*parts, "Published:", notes(PAPER).get(2, "")])

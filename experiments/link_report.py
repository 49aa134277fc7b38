"""The report of a study of word alignment: its records become tables, a figure and report.html."""

from __future__ import annotations

import platform
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from pathlib import Path

from analysis.aligners.encoder import main_layer
from analysis.measures.gold import gold_set
from analysis.papers.xlm_align.layer_figure import layer_figure
from analysis.papers.xlm_align.link_findings import link_findings
from analysis.papers.xlm_align.link_tables import layers_table, measures_table, table_2, ways_table
from analysis.papers.xlm_align.systems import Systems
from analysis.records import json_rows
from analysis.report.page import Report, write_report
from analysis.results.results import Results
from derive.files import whole_folder
from experiments.published import notes, published
from experiments.steps.links import RECORDS, RUNS, LinkStep, Scored
from experiments.word_alignment import WordAlignment

PAPER = "xlm_align"
LIBRARIES = ("calque", "torch", "transformers", "tokenizers", "numpy", "scipy")
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
        "ot, xlm-align, argmax, itermax, match",
        "Ways to read links from the hidden states of an encoder that saw both sentences: optimal transport filtered "
        "by Itermax (XLM-Align’s paper), optimal transport without it (its released aligner), cells that are the "
        "largest of their row and column, the same in rounds, and the best assignment as a whole (SimAlign).",
    ),
    (
        "MLM, XLM, XLM-ALIGN",
        "MLM predicts masked words in sentences of either language. XLM also predicts masked words in pairs of "
        "translated sentences. XLM-ALIGN also aligns the words of such pairs by itself, and learns to point from a "
        "masked word to its partner.",
    ),
)


def write_link_report(study: WordAlignment, root: Path, folder: Path) -> str:
    """Write the report folder from the folders of scores, and return what a terminal should show.

    Raises:
        BadInput: records are missing or damaged.
    """
    steps = study.scored(root)
    scored = [step.read() for step in steps]
    results = Results(
        [run for scores in scored for run in scores.runs], [row for scores in scored for row in scores.records]
    )
    systems = Systems(results, study.sets)
    first = table_2(systems, published(PAPER, 2), study.scale, _about(study))
    behind = [measures_table(systems, study.scale), ways_table(systems, study.scale)]
    if study.encoder or (study.text and study.objectives):
        behind.append(layers_table(systems, "ot", study.scale))
    with whole_folder(folder) as part:
        json_rows.write(part / RUNS, results.runs.values())
        json_rows.write(part / RECORDS, results.records)
        for name, table in zip(("table-2", "measures", "ways", "layers"), (first, *behind), strict=False):
            (part / f"{name}.csv").write_text(table.csv, encoding="utf-8")
            (part / f"{name}.md").write_text(table.markdown, encoding="utf-8")
        plot = layer_figure(systems, study.scale)
        page = Report(
            title=f"Calque: the study {study.name}",
            scale=study.scale,
            drawings=[plot.save(part / "figures")] if plot else [],
            claims=None,
            findings=list(link_findings(systems)),
            tables=[first, *behind],
            dropped=[*_of_gold(study), *_of_steps(steps, scored)],
            facts=_facts(study),
            runs=tuple(results.runs),
            terms=TERMS,
        )
        write_report(part / "report.html", page)
    return f"{first.markdown}\n{folder / 'report.html'}"


def _about(study: WordAlignment) -> str:
    """What must be known to read Table 2."""
    without = [name for name in study.sets if name not in study.text]
    parts = [
        "fast_align’s two directions are joined by grow-diag-final-and; its own sentences are those of the gold set, "
        "whose links it never sees. Sentences are in lower case for it and for our encoders. diagonal links each word "
        "to the one in the same place, and learns nothing."
    ]
    if study.text and study.objectives:
        parts.append(
            f"Our encoders are one model a language pair, of {study.model.layers} layers, and are judged by layer "
            f"{main_layer(study.model.layers)}, as deep as the paper’s eighth of twelve: nothing was chosen by looking "
            "at gold links. One seed."
        )
    if study.encoder or (study.text and study.objectives):
        parts.append(
            "Published optimal transport is that of XLM-Align’s released aligner: compare xlm-align, joint, with it."
        )
    if without:
        sizes = ", ".join(f"{name} {len(gold_set(study.gold, name).pairs)}" for name in without)
        parts.append(
            f"For some sets there is no text beyond their own sentence pairs ({sizes}), "
            "too few to pretrain on: hence – there."
        )
    if study.encoder is None:
        parts.append("No encoder of the paper’s size was given: CALQUE_ENCODER names a folder with one.")
    return " ".join([*parts, "Published:", notes(PAPER).get(2, "")])


def _of_gold(study: WordAlignment) -> Iterator[str]:
    for name in study.sets:
        for what, count in gold_set(study.gold, name).counts.items():
            yield f"{name}: {count:,} {what}"


def _of_steps(steps: Sequence[LinkStep], scored: Sequence[Scored]) -> Iterator[str]:
    """What training and alignment left out, by folder."""
    for step, scores in zip(steps, scored, strict=True):
        for what, count in scores.left_out.items():
            if count:
                yield f"{step.folder.relative_to(step.home)}: {count:,} {what}"


def _facts(study: WordAlignment) -> list[tuple[str, str]]:
    values = {"Model": study.model, "Training": study.train}
    return [
        ("Seed", str(study.seed)),
        *(
            (name, ", ".join(f"{key} {setting}" for key, setting in vars(value).items()))
            for name, value in values.items()
        ),
        ("Vocabulary", f"{study.vocabulary:,} types, byte-level BPE, both languages in one"),
        ("Encoder given", str(study.encoder or "none")),
        ("Machine", f"{platform.machine()}, {study.threads} thread(s) a model"),
        ("Libraries", ", ".join(f"{name} {version(name)}" for name in LIBRARIES)),
    ]

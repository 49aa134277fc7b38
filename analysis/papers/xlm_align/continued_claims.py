"""What XLM-Align, WEAM and PPA find of pretraining further from XLM-R or mBERT, tested as claims of another start."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from analysis.papers.xlm_align.continued import ZERO_SHOT, Continued
from analysis.papers.xlm_align.link_tables import PAPERS_NAMES
from analysis.papers.xlm_align.variants import changes
from analysis.records.record import SWITCHED, TRANSLATED
from analysis.results.apart import beyond
from analysis.results.claim import Claim
from analysis.results.measured import BySeed
from analysis.results.results import Results
from analysis.results.together import gap
from analysis.statistics.verdicts import Verdict
from analysis.tasks.catalog import task_title

TABLE_1, TABLE_2, FIGURE_2, TABLE_3 = "Table 1", "Table 2", "Figure 2", "Table 3"
ABLATED = ("nli", "pos", "ner", "mlqa")
"""The tasks of Table 3."""
ERRORS, RETRIEVED, TRANSFER, TRANSLATIONS = "AER", "retrieval", "zero-shot transfer", "translate-train"
"""The families of claims."""
OF_PAIRS = {
    "WEAM": {"mlqa": "WEAM, Table 1", "nli": "WEAM, Table 2"},
    "PPA": {"nli": "PPA, Table 2", "mlqa": "PPA, Table 4"},
}
"""The tables of papers whose objectives read pairs alone, by the objective and the task."""
Way = tuple[str, str]
"""A model, and how it was fine-tuned."""
LAST = 4
"""Layers from the top on, in which the paper finds AER lowered most."""


def continued_claims(made: Continued) -> list[Claim]:
    """XLM-Align against its start and against the same steps without DWA, by what was measured."""
    whole = next((name for name in made.learnt if changes(made.results.objective(name)) == {}), None)
    without = next((name for name in made.learnt if changes(made.results.objective(name)) == {"queries": "none"}), None)
    rivals = [(whole, made.start), (whole, without), (without, made.start)]
    claims = [claim for better, worse in rivals if better and worse for claim in _claims(made, better, worse)]
    return [*claims, *_of_pairs(made), *_of_translations(made)]


def _claims(made: Continued, better: str, worse: str) -> Iterator[Claim]:
    a, b = made.title(better), made.title(worse)
    if made.sets:
        yield from _of_links(made, better, worse, a, b)
    yield from _finds(made, better, worse)
    for task in made.tasks:
        where = TABLE_1 if worse == made.start else TABLE_3 if task in ABLATED else "ours: Table 3 has other tasks"
        yield _transfers(made, better, worse, task, where)


def _of_pairs(made: Continued) -> Iterator[Claim]:
    """WEAM and PPA against the start, in their papers' tasks and in others, and PPA against itself without TLM."""
    for kind, tables in OF_PAIRS.items():
        of_kind = {name: part for name in made.learnt if (part := made.results.objective(name).part(kind))}
        whole = [name for name, part in of_kind.items() if "beside" not in part]
        for name in whole:
            yield from _finds(made, name, made.start)
            for task in made.tasks:
                yield _transfers(made, name, made.start, task, tables.get(task, "ours: its paper has other tasks"))
            if "nli" in made.tasks:
                for other in (other for other in of_kind if other not in whole):
                    yield _transfers(made, name, other, "nli", "PPA, Table 5")


def _finds(made: Continued, better: str, worse: str) -> Iterator[Claim]:
    """That a model finds more translations, where sentences were retrieved."""
    if not made.pairs:
        return
    languages = f"mean of {len(made.pairs)} ordered pairs of languages"
    yield _claim(
        f"{made.title(better)} finds more translations than {made.title(worse)}, {languages}, layer {made.layer}",
        "ours: the paper retrieves no sentences",
        RETRIEVED,
        [made.found(better, pair, "cosine") for pair in made.pairs],
        [made.found(worse, pair, "cosine") for pair in made.pairs],
        +1,
    )


def _of_translations(made: Continued) -> Iterator[Claim]:
    """Code-switched pairs against translate-train without them, of each model."""
    for task in made.tasks:
        if not {TRANSLATED, SWITCHED} <= {*made.ways(task)}:
            continue
        for model in made.models:
            text = f"{made.title(model)}: code-switched pairs add to translate-train, {task_title(task)}"
            yield _scores(made, task, text, "PPA, Table 5", TRANSLATIONS, (model, SWITCHED), (model, TRANSLATED))


def _transfers(made: Continued, better: str, worse: str, task: str, where: str) -> Claim:
    text = f"{made.title(better)} transfers {task_title(task)} better than {made.title(worse)}"
    return _scores(made, task, text, where, TRANSFER, (better, ZERO_SHOT), (worse, ZERO_SHOT))


def _scores(made: Continued, task: str, text: str, where: str, family: str, better: Way, worse: Way) -> Claim:
    """That a model, fine-tuned in one way, scores higher than one in another, in the mean of the other languages."""
    languages = made.languages(task)
    ours, theirs = ([made.scored(model, task, name, way=way) for name in languages] for model, way in (better, worse))
    return _claim(f"{text}, mean of {len(languages)}", where, family, ours, theirs, +1)


def _of_links(made: Continued, better: str, worse: str, a: str, b: str) -> Iterator[Claim]:
    """Claims about AER, in the layer that is judged and in the last ones."""
    judged, every = made.aligners[0], f"mean of {len(made.sets)} gold sets"
    asked = [(judged, [gold], PAPERS_NAMES.get(gold, gold)) for gold in made.sets]
    for aligner, sets, name in (*asked, *((aligner, list(made.sets), every) for aligner in made.aligners)):
        yield _claim(
            f"{a} has a lower AER than {b}, {name}, by {aligner}, layer {made.layer}",
            TABLE_2,
            ERRORS,
            [made.errors(better, gold, aligner) for gold in sets],
            [made.errors(worse, gold, aligner) for gold in sets],
            -1,
        )
    for aligner in made.aligners:
        cells = [(gold, layer) for gold in made.sets for layer in range(made.layers - LAST + 1, made.layers + 1)]
        yield _claim(
            f"{a} has a lower mean AER than {b} in the last {LAST} layers, by {aligner}",
            FIGURE_2,
            ERRORS,
            [made.errors(better, gold, aligner, layer) for gold, layer in cells],
            [made.errors(worse, gold, aligner, layer) for gold, layer in cells],
            -1,
        )


def _claim(text: str, where: str, family: str, ours: Sequence[BySeed], theirs: Sequence[BySeed], side: int) -> Claim:
    return Claim(text, where, family, partial(_judged, ours=ours, theirs=theirs, side=side))


def _judged(results: Results, ours: Sequence[BySeed], theirs: Sequence[BySeed], side: int) -> Verdict:
    return beyond(gap(ours, theirs), side)

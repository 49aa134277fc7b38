"""What XLM-Align, WEAM and PPA find of pretraining further from XLM-R or mBERT, tested as claims of another start."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from analysis.papers.xlm_align.ablations import changes
from analysis.papers.xlm_align.continued import ZERO_SHOT, Continued, set_title
from analysis.records.record import SWITCHED, TRANSLATED
from analysis.report.table import listed, percent
from analysis.results.measured import BySeed, average, gap, judge_estimate, mean
from analysis.statistics.verdicts import Claim
from analysis.tasks.catalog import PRIMARY, metric_title, task_title

TABLE_1, TABLE_2, FIGURE_2, TABLE_3 = "Table 1", "Table 2", "Figure 2", "Table 3"
ABLATED = ("nli", "pos", "ner", "mlqa")  # the tasks of Table 3
ERRORS, RETRIEVED, TRANSFER, TRANSLATIONS = "AER", "retrieval", "zero-shot transfer", "translate-train"
"""The families of claims."""
OF_PAIRS = {
    "WEAM": {"mlqa": "WEAM, Table 1", "nli": "WEAM, Table 2"},
    "PPA": {"nli": "PPA, Table 2", "mlqa": "PPA, Table 4"},
}
"""The tables of papers whose objectives read pairs alone, by the objective and the task."""
Way = tuple[str, str]
"""A model, and how it was fine-tuned."""
LAST = 4  # layers from the top on, in which the paper finds AER lowered most


def continued_claims(study: Continued) -> list[Claim]:
    """XLM-Align against its start and against the same steps without DWA, by what was measured."""
    switches = {name: changes(study.results.objective(name)) for name in study.learnt}
    whole = next((name for name, its in switches.items() if its == {}), None)
    without = next((name for name, its in switches.items() if its == {"queries": "none"}), None)
    rivals = [(whole, study.start), (whole, without), (without, study.start)]
    claims = [claim for better, worse in rivals if better and worse for claim in _claims(study, better, worse)]
    return [*claims, *_of_pairs(study), *_of_translations(study)]


def _claims(study: Continued, better: str, worse: str) -> Iterator[Claim]:
    yield from _of_links(study, better, worse) if study.sets else ()
    yield from _finds(study, better, worse)
    for task in study.tasks:
        where = TABLE_1 if worse == study.start else TABLE_3 if task in ABLATED else "ours: Table 3 has other tasks"
        yield _transfers(study, better, worse, task, where)


def _of_pairs(study: Continued) -> Iterator[Claim]:
    """WEAM and PPA against the start, in their papers' tasks and in others, and PPA against itself without TLM."""
    for kind, tables in OF_PAIRS.items():
        of_kind = {name: part for name in study.learnt if (part := study.results.objective(name).part(kind))}
        whole = [name for name, part in of_kind.items() if "beside" not in part]
        for name in whole:
            yield from _finds(study, name, study.start)
            for task in study.tasks:
                yield _transfers(study, name, study.start, task, tables.get(task, "ours: its paper has other tasks"))
            if "nli" in study.tasks:
                for other in (other for other in of_kind if other not in whole):
                    yield _transfers(study, name, other, "nli", "PPA, Table 5")


def _finds(study: Continued, better: str, worse: str) -> Iterator[Claim]:
    """That a model finds more translations, where sentences were retrieved."""
    if study.pairs:
        languages = f"mean of {len(study.pairs)} ordered pairs of languages"
        ours, theirs = ([study.found(model, pair, "cosine") for pair in study.pairs] for model in (better, worse))
        text = f"{study.title(better)} finds more translations than {study.title(worse)}, {languages}"
        verdict = judge_estimate(gap(ours, theirs))
        yield Claim(f"{text}, layer {study.layer}", "ours: the paper retrieves no sentences", RETRIEVED, verdict)


def _of_translations(study: Continued) -> Iterator[Claim]:
    """Code-switched pairs against translate-train without them, of each model."""
    for task in study.tasks:
        if {TRANSLATED, SWITCHED} <= {*study.ways(task)}:
            for model in study.models:
                text = f"{study.title(model)}: code-switched pairs add to translate-train, {task_title(task)}"
                ways = (model, SWITCHED), (model, TRANSLATED)
                yield _scores(study, task, text, "PPA, Table 5", TRANSLATIONS, *ways)


def _transfers(study: Continued, better: str, worse: str, task: str, where: str) -> Claim:
    text = f"{study.title(better)} transfers {task_title(task)} better than {study.title(worse)}"
    return _scores(study, task, text, where, TRANSFER, (better, ZERO_SHOT), (worse, ZERO_SHOT))


def _scores(study: Continued, task: str, text: str, where: str, family: str, better: Way, worse: Way) -> Claim:
    """That a model, fine-tuned in one way, scores higher than one in another, in the mean of the other languages."""
    languages, ways = study.languages(task), (better, worse)
    ours, theirs = ([study.scored(model, task, name, way=way) for name in languages] for model, way in ways)
    return Claim(f"{text}, mean of {len(languages)}", where, family, judge_estimate(gap(ours, theirs)))


def _of_links(study: Continued, better: str, worse: str) -> Iterator[Claim]:
    """Claims about AER, in the layer that is judged and in the last ones."""
    a, b, models = study.title(better), study.title(worse), (better, worse)
    cases = [(study.aligners[0], [gold], set_title(gold)) for gold in study.sets]
    cases += [(aligner, study.sets, f"mean of {len(study.sets)} gold sets") for aligner in study.aligners]
    for aligner, sets, name in cases:
        ours, theirs = ([study.errors(model, gold, aligner) for gold in sets] for model in models)
        text = f"{a} has a lower AER than {b}, {name}, by {aligner}, layer {study.layer}"
        yield Claim(text, TABLE_2, ERRORS, judge_estimate(gap(ours, theirs), -1))
    layers = range(study.layers - LAST + 1, study.layers + 1)
    for aligner in study.aligners:
        cells = [(gold, aligner, layer) for gold in study.sets for layer in layers]
        ours, theirs = ([study.errors(model, *one) for one in cells] for model in models)
        text = f"{a} has a lower mean AER than {b} in the last {LAST} layers, by {aligner}"
        yield Claim(text, FIGURE_2, ERRORS, judge_estimate(gap(ours, theirs), -1))


def continued_findings(study: Continued) -> Iterator[str]:
    """The means over gold sets, over pairs of languages and over languages, of each model."""
    for aligner in study.aligners:
        rates = _means(study, lambda model: average([study.errors(model, gold, aligner) for gold in study.sets]))  # noqa: B023
        if rates:
            yield f"Mean AER over {len(study.sets)} gold sets by {aligner}, layer {study.layer}: {rates}."
    if study.pairs:
        shares = _means(study, lambda model: average([study.found(model, pair, "cosine") for pair in study.pairs]))
        over = f"{len(study.pairs)} ordered pairs of languages, layer {study.layer}"
        yield f"Translations found by cosine, mean over {over}: {shares}."
    for task in study.tasks:
        scores = _means(study, lambda model: study.transferred(model, task))  # noqa: B023
        many = len(study.languages(task))
        over = f"mean over {many} other languages" if many > 1 else "in one other language"
        yield f"{task_title(task)} ({metric_title(PRIMARY[task])}), zero-shot, {over}: {scores}."


def _means(study: Continued, values: Callable[[str], BySeed]) -> str:
    means = ((study.title(model), mean(values(model))) for model in study.models)
    return listed([f"{title} {percent(estimate.mean)} %" for title, estimate in means if estimate])

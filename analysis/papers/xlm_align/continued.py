"""Look up the results of a released encoder and of models pretrained further from it, and test the papers'
findings on them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from statistics import fmean
from typing import Any

from calque.analysis.papers.texts import claim
from calque.analysis.papers.xlm_align.ablations import changes
from calque.analysis.records.record import (
    AER,
    MINED,
    MINED_XTREME,
    RETRIEVAL,
    Published,
)
from calque.analysis.report.table import cell, listed, percent
from calque.analysis.results.measured import BySeed, average, gap, judge_estimate, mean
from calque.analysis.results.results import Results
from calque.analysis.statistics.verdicts import Claim
from calque.analysis.tasks.catalog import PRIMARY, TASKS, metric_title, task_title

SOURCE_SCORE, ZERO_SHOT = "SRC", "ZS"  # a task's measures in the training language and in others
PAPER, SMALL = "XLM-Align", "mMiniLM-L12-H384"
"""The XLM-Align paper's model, and the released multilingual MiniLM with 12 layers and width 384."""
ABOUT_SMALL = f"{SMALL}: an encoder of 12 layers and width 384, from the page of its release"
THEIRS = "en"  # the language on which published models were fine-tuned
# Gold sets for which the paper names the languages in the opposite order.
PAPERS_NAMES = {"de-en": "en-de", "ro-en": "en-ro"}


def set_title(gold: str) -> str:
    """Return the paper's name for a gold set."""
    return PAPERS_NAMES.get(gold, gold)


def number(values: BySeed) -> str:
    """Format the mean over seeds with its interval, which for a single seed is over test items."""
    return cell(mean(values), over_items=True)


def printed_cells(values: Mapping[str, float], languages: Sequence[str]) -> list[str]:
    """Format numbers by language, followed by their means without and with the first language; a mean is
    omitted if a number is missing."""
    numbers = [values.get(name) for name in languages]
    for part in (languages[1:], languages):
        complete = part and all(name in values for name in part)
        numbers.append(fmean(values[name] for name in part) if complete else None)
    return list(map(percent, numbers))


class Continued:
    """A study's models by objective name, starting with the model that the others started from (the start),
    with methods that look up their numbers. The start was trained only once, so measures of its states apply
    to every seed; `main` contains the models' main layers."""

    def __init__(self, results: Results) -> None:
        self.results, self.source = results, results.source
        runs, records = list(results.runs.values()), results.records
        self.sets, self.aligners = (
            list(dict.fromkeys(getattr(record, field) for record in records if record.measure == AER))
            for field in ("gold_set", "aligner")
        )
        self.start = next(run.objective.name for run in runs if run.objective and run.start is None)
        self.main = {run.objective.name: run.main_layer for run in runs if run.objective}
        self.layer, self.layers = self.main[self.start], runs[0].layers
        self.learnt = [name for name in results.objectives if name != self.start]
        self.models = [self.start, *self.learnt]
        tuned = {record.run for record in records if record.measure in (SOURCE_SCORE, ZERO_SHOT)}
        self.seeds = sorted(
            {run.seed for run in runs if (run.start is not None if self.learnt else run.id in tuned)}
        )
        self.mined = [metric for metric in (MINED, MINED_XTREME) if results.has(RETRIEVAL, metric)]
        self.pairs = list(dict.fromkeys((r.first, r.language) for r in records if r.measure == RETRIEVAL))
        self._languages: dict[str, dict[str, None]] = {}
        for record in records:
            if record.measure == ZERO_SHOT:
                self._languages.setdefault(record.task, {})[record.language] = None
        self.tasks = [name for name in TASKS if name in self._languages]

    def title(self, model: str) -> str:
        return self.results.objective_title(model)

    @property
    def read_at(self) -> str:
        """Describe the main layers: one for all models, or the start's and those of the models trained from
        it."""
        others = listed(sorted({str(layer) for layer in self.main.values()} - {str(self.layer)}, key=int))
        return f"layer {self.layer} of {self.layers}{f' before and {others} after' if others else ''}"

    def errors(self, model: str, gold: str, aligner: str, layer: int | None = None) -> BySeed:
        layer = self.main[model] if layer is None else layer
        return self._scores(model, AER, "", "", "aer", layer=layer, gold_set=gold, aligner=aligner)

    def found(self, model: str, pair: tuple[str, str], metric: str, layer: int | None = None) -> BySeed:
        """Return the scores when retrieving translations of the first language's sentences from the second's,
        at a layer (default: the start's main layer)."""
        layer = self.layer if layer is None else layer
        return self._scores(model, RETRIEVAL, pair[1], "", metric, layer=layer, first=pair[0])

    def scored(self, model: str, task: str, language: str, metric: str = "") -> BySeed:
        measure = SOURCE_SCORE if language == self.source else ZERO_SHOT
        return self._scores(model, measure, language, task, metric or PRIMARY[task])

    def everywhere(self, model: str, task: str, metric: str = "") -> BySeed:
        every = (self.source, *self.languages(task))
        return average([self.scored(model, task, language, metric) for language in every])

    def languages(self, task: str) -> list[str]:
        return list(self._languages.get(task, ()))

    def printed(self, paper: str, tables: Sequence[int] = ()) -> list[Published]:
        """Return a paper's numbers from some tables (default: all); empty if models were not fine-tuned on
        the paper's language."""
        numbers = self.results.published if self.source == THEIRS else ()
        return [p for p in numbers if p.paper == paper and (not tables or p.table in tables)]

    def of_small(self, task: str) -> dict[str, Published]:
        """Return MiniLM's published scores on a task by language, and their mean under `mean`."""
        return {p.setting: p for p in self.printed("MiniLM") if (p.objective, p.task) == (SMALL, task)}

    def _scores(
        self, model: str, measure: str, language: str, task: str, metric: str, **facets: Any
    ) -> BySeed:
        scores = self.results.scores(measure, model, language, task, metric, **facets)
        if len(scores) != 1 or len(self.seeds) == 1:
            return scores
        ((seed, measured),) = scores.items()
        if model == self.start and not task:
            return dict.fromkeys(self.seeds, measured)
        # drop the error, because intervals over items are not comparable with intervals over seeds
        return {seed: replace(measured, error=None, parts=None)}


ABLATED = ("nli", "pos", "ner", "mlqa")  # the tasks in Table 3
OF_PAIRS = {
    "WEAM": {"mlqa": "WEAM, Table 1", "nli": "WEAM, Table 2"},
    "PPA": {"nli": "PPA, Table 2", "mlqa": "PPA, Table 4"},
}
"""Where papers on objectives trained only on sentence pairs report their results, by objective and task."""
LAST = 4  # number of top layers, in which the paper finds the largest reduction of AER


def continued_claims(study: Continued) -> list[Claim]:
    """Compare XLM-Align with its start and with equally long training without DWA, objectives trained only on
    sentence pairs with the start, and PPA with and without TLM."""
    claims = list[Claim]()
    switches = {name: changes(study.results.objective(name)) for name in study.learnt}
    whole = next((name for name, its in switches.items() if its == {}), None)
    without = next((name for name, its in switches.items() if its == {"queries": "none"}), None)
    for better, worse in ((whole, study.start), (whole, without), (without, study.start)):
        if better and worse:
            claims += [*_of_links(study, better, worse), *_finds(study, better, worse)]
            for task in study.tasks:
                other = "Table 3" if task in ABLATED else "ours: Table 3 has other tasks"
                claims.append(
                    _transfers(study, better, worse, task, "Table 1" if worse == study.start else other)
                )
    for kind, tables in OF_PAIRS.items():
        of_kind = {name: part for name in study.learnt if (part := study.results.objective(name).part(kind))}
        with_tlm = [name for name, part in of_kind.items() if "beside" in part]
        for name in (name for name in of_kind if name not in with_tlm):
            claims += _finds(study, name, study.start)
            wheres = {task: tables.get(task, "ours: its paper has other tasks") for task in study.tasks}
            claims += [_transfers(study, name, study.start, task, where) for task, where in wheres.items()]
            others = with_tlm if "nli" in study.tasks else []
            claims += [_transfers(study, name, other, "nli", "PPA, Table 5") for other in others]
    return claims


def _by_language(study: Continued, model: str, task: str) -> list[BySeed]:
    return [study.scored(model, task, language) for language in study.languages(task)]


def _transfers(study: Continued, better: str, worse: str, task: str, where: str) -> Claim:
    ours, theirs = (_by_language(study, model, task) for model in (better, worse))
    about = {
        "better": study.title(better),
        "worse": study.title(worse),
        "on": task_title(task),
        "many": len(ours),
    }
    return claim("transfers-task-better", judge_estimate(gap(ours, theirs)), where=where, **about)


def _finds(study: Continued, better: str, worse: str) -> Iterator[Claim]:
    if study.pairs:
        ours, theirs = (
            [study.found(model, pair, "cosine") for pair in study.pairs] for model in (better, worse)
        )
        about = {"better": study.title(better), "worse": study.title(worse), "layer": study.layer}
        yield claim("finds-more", judge_estimate(gap(ours, theirs)), many=len(study.pairs), **about)


def _of_links(study: Continued, better: str, worse: str) -> Iterator[Claim]:
    main, last = [study.layer], range(study.layers - LAST + 1, study.layers + 1)
    mean_of = f"mean of {len(study.sets)} gold sets"
    cases = [
        *(("set-aer", [gold], set_title(gold), by, main) for gold in study.sets for by in study.aligners[:1]),
        *(("set-aer", study.sets, mean_of, by, main) for by in study.aligners),
        *(("last-layers-aer", study.sets, mean_of, by, last) for by in study.aligners),
    ]
    for name, golds, sets, by, layers in cases:
        ours, theirs = (
            [study.errors(model, gold, by, layer) for gold in golds for layer in layers]
            for model in (better, worse)
        )
        about = {"better": study.title(better), "worse": study.title(worse), "sets": sets, "by": by}
        yield claim(name, judge_estimate(gap(ours, theirs), -1), layer=study.layer, last=LAST, **about)


def continued_findings(study: Continued) -> Iterator[str]:
    """Yield sentences with each model's mean AER over gold sets, mean retrieval over language pairs, and mean
    task scores over languages."""
    means: dict[str, list[BySeed]] = {}
    for by in study.aligners:
        errors = [average([study.errors(model, gold, by) for gold in study.sets]) for model in study.models]
        means[f"Mean AER over {len(study.sets)} gold sets by {by}, {study.read_at}"] = errors
    found = [average([study.found(model, pair, "cosine") for pair in study.pairs]) for model in study.models]
    means[
        f"Translations found by cosine, mean of {len(study.pairs)} pairs of languages, layer {study.layer}"
    ] = found
    for task in study.tasks:
        text = (
            f"{task_title(task)} ({metric_title(PRIMARY[task])}), mean of other languages than {study.source}"
        )
        means[text] = [average(_by_language(study, model, task)) for model in study.models]
    for text, values in means.items():
        pairs = zip(study.models, map(mean, values), strict=True)
        if numbers := [f"{study.title(model)} {percent(its.mean)} %" for model, its in pairs if its]:
            yield f"{text}: {listed(numbers)}."

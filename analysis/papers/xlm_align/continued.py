"""Look up, tabulate and judge the results of a released encoder and of models pretrained further from it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import permutations, product
from statistics import fmean
from typing import Any

from calque.analysis.aligners.methods import DEFAULT, RELEASED, SOFTMAX
from calque.analysis.papers.columns import printed_rows, score_title
from calque.analysis.papers.published import notes
from calque.analysis.papers.texts import claim, table
from calque.analysis.papers.xlm_align.ablations import changes
from calque.analysis.records.record import AER, MINED, MINED_XTREME, RETRIEVAL, Published
from calque.analysis.report.table import FLOOR, OURS, PUBLISHED, Table, cell, listed, over_seeds, percent
from calque.analysis.results.measured import BySeed, average, gap, judge_estimate, mean
from calque.analysis.results.results import Results
from calque.analysis.statistics.verdicts import Claim
from calque.analysis.tasks.catalog import PRIMARY, PRINTED, TASKS, metric_title, task_title
from calque.analysis.tasks.questions import Questions

SOURCE_SCORE, ZERO_SHOT = "SRC", "ZS"  # measures of a task in the training language and in others
PAPER, SMALL = "XLM-Align", "mMiniLM-L12-H384"  # the paper's model, and the released multilingual MiniLM
ABOUT_SMALL = f"{SMALL}: an encoder of 12 layers and width 384, from the page of its release"
THEIRS = "en"  # the language of published models' fine-tuning
PAPERS_NAMES = {"de-en": "en-de", "ro-en": "en-ro"}  # the paper's names for gold sets, if different


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
    """The results for a study's models, first the start; the others continue its training.
    The start was trained only once, so measures of its states apply to every seed. `main` contains the
    models' main layers."""

    def __init__(self, results: Results) -> None:
        self.results, self.source = results, results.source
        runs = list(results.runs.values())
        links, found = (results.keys(measure=measure) for measure in (AER, RETRIEVAL))
        self.sets = list(dict.fromkeys(key.gold_set for key in links))
        self.aligners = list(dict.fromkeys(key.aligner for key in links))
        self.pairs = list(dict.fromkeys((key.first, key.language) for key in found))
        self.mined = [metric for metric in (MINED, MINED_XTREME) if results.has(RETRIEVAL, metric)]
        self._languages: dict[str, list[str]] = {}
        tested = dict.fromkeys((key.task, key.language) for key in results.keys(measure=ZERO_SHOT))
        for task, language in tested:
            self._languages.setdefault(task, []).append(language)
        self.tasks = [name for name in TASKS if name in self._languages]
        self.start = next(run.objective.name for run in runs if run.objective and run.start is None)
        self.main = {run.objective.name: run.main_layer for run in runs if run.objective}
        self.layer, self.layers = self.main[self.start], runs[0].layers
        self.learnt = [name for name in results.objectives if name != self.start]
        self.models = [self.start, *self.learnt]
        tuned = {record.run for record in results.records if record.measure in (SOURCE_SCORE, ZERO_SHOT)}
        own = [run for run in runs if (run.start is not None if self.learnt else run.id in tuned)]
        self.seeds = sorted({run.seed for run in own})

    def title(self, model: str) -> str:
        return self.results.objective_title(model)

    @property
    def read_at(self) -> str:
        """The main layers: one for all models, or the start's and the other models'."""
        others = listed([str(layer) for layer in sorted({*self.main.values()} - {self.layer})])
        return f"layer {self.layer} of {self.layers}{f' before and {others} after' if others else ''}"

    def all_errors(self, model: str, aligner: str, layer: int | None = None) -> list[BySeed]:
        return [self.errors(model, gold, aligner, layer) for gold in self.sets]

    def all_found(self, model: str) -> list[BySeed]:
        return [self.found(model, pair, "cosine") for pair in self.pairs]

    def abroad(self, model: str, task: str) -> list[BySeed]:
        return [self.scored(model, task, language) for language in self.languages(task)]

    def errors(self, model: str, gold: str, aligner: str, layer: int | None = None) -> BySeed:
        layer = self.main[model] if layer is None else layer
        return self._scores(model, AER, "", "", "aer", layer=layer, gold_set=gold, aligner=aligner)

    def found(self, model: str, pair: tuple[str, str], metric: str, layer: int | None = None) -> BySeed:
        """Return the scores for retrieving the translations of the first language's sentences in the second
        language, at a layer (default: the start's main layer)."""
        layer = self.layer if layer is None else layer
        return self._scores(model, RETRIEVAL, pair[1], "", metric, layer=layer, first=pair[0])

    def scored(self, model: str, task: str, language: str, metric: str = "") -> BySeed:
        measure = SOURCE_SCORE if language == self.source else ZERO_SHOT
        return self._scores(model, measure, language, task, metric or PRIMARY[task])

    def everywhere(self, model: str, task: str, metric: str = "") -> BySeed:
        every = (self.source, *self.languages(task))
        return average([self.scored(model, task, language, metric) for language in every])

    def languages(self, task: str) -> list[str]:
        """Return a task's languages, except the source."""
        return self._languages.get(task, [])

    def printed(self, paper: str, tables: Sequence[int] = ()) -> list[Published]:
        """Return a paper's numbers from some tables (default: all), or none if models were not fine-tuned on
        the paper's language."""
        numbers = self.results.published if self.source == THEIRS else ()
        return [p for p in numbers if p.paper == paper and (not tables or p.table in tables)]

    def of_small(self, task: str) -> dict[str, Published]:
        """Return MiniLM's published scores on a task by language, and their mean as `mean`."""
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
        # An interval over items is not comparable with the other models' intervals over seeds.
        return {seed: replace(measured, error=None, parts=None)}


MEANS, BY_LANGUAGE = (1, range(13, 20))  # the paper's tables of XTREME's means, and of tasks by language
XTREME = ("pos", "ner", "xquad", "mlqa", "tydiqa", "nli", "paraphrase")
"""XTREME's tasks except retrieval, in the order of the paper's Table 1."""
SIMALIGN, AWESOME = ("argmax, as SimAlign printed it",), "awesome-align"
PUBLISHED_RULES = {
    RELEASED.name: (PAPER, 2, ("optimal transport",)),
    DEFAULT.name: (PAPER, 2, SIMALIGN),
    "argmax": (PAPER, 2, SIMALIGN),
    SOFTMAX.name: (AWESOME, 1, ("softmax", "statistical")),
}
"""The paper, table and settings with published error rates of the same method or a similar one."""
METRICS = {"cosine": "cosine", "csls": "CSLS"}
MINED_HEADS = {MINED: "mining F1 (mutual)", MINED_XTREME: "mining F1 (XTREME’s rule)"}
OF_LANGUAGES = ("mean of the others", "mean of all")


def continued_tables(results: Results) -> dict[str, Table | None]:
    """Return a study's tables, by file name."""
    study = Continued(results)
    return {
        "xtreme": _xtreme_table(study) if len(study.tasks) > 1 else None,
        "aer": _errors(study) if study.sets else None,
        "layers": _errors_by_layer(study) if study.sets else None,
        "retrieval": _retrieval(study) if study.pairs else None,
        **{f"task-{task}": _task_table(study, task) for task in study.tasks},
    }


def _table(
    study: Continued,
    name: str,
    labels: Sequence[str],
    heads: Iterable[str],
    rows: Iterable[tuple[str, ...]],
    **about: Any,
) -> Table:
    """Return a table from `texts.table`, filled with the values that all tables about such a study need."""
    covers = "± is half the 95 % interval over the test’s sentences, and says nothing of other runs"
    one = f"one seed ({', '.join(map(str, study.seeds))}): {covers}"
    about |= {"seeds": over_seeds(study.seeds) if len(study.seeds) > 1 else one}
    about |= {"source": study.source, "about_small": ABOUT_SMALL}
    return table(name, study.results, labels, heads, rows, **about)


def printed_errors(study: Continued, aligner: str) -> list[Published]:
    """Return the published error rates to compare with a method's."""
    paper, number, settings = PUBLISHED_RULES.get(aligner, ("", 0, ()))
    return [p for p in study.printed(paper, [number]) if p.setting in settings]


def _error_cells(study: Continued, model: str, aligner: str, layer: int | None = None) -> Iterator[str]:
    rates = study.all_errors(model, aligner, layer)
    return map(number, (*rates, average(rates)))


def _errors_by_layer(study: Continued) -> Table:
    cells = product(study.aligners, study.models, range(study.layers + 1))
    rows = [
        (study.title(model), aligner, str(layer), *_error_cells(study, model, aligner, layer))
        for aligner, model, layer in cells
    ]
    heads = [*map(set_title, study.sets), "mean"]
    return _table(study, "layers", ("model", "links by", "layer"), heads, rows)


def _errors(study: Continued) -> Table:
    rows = [
        (study.title(model), aligner, OURS, *_error_cells(study, model, aligner))
        for aligner, model in product(study.aligners, study.models)
    ]
    names = [*map(set_title, study.sets), "average"]
    theirs = [p for aligner in study.aligners for p in printed_errors(study, aligner)]
    for labels, its in printed_rows(theirs, ["objective", "setting"], "task").items():
        rows.append((*labels, PUBLISHED, *map(percent, map(its.get, names))))
    pairs = {pair for run in study.results.runs.values() for pair in run.bitexts}
    read = {"-".join(names) for pair in pairs for names in permutations(pair)}
    unread, papers = [set_title(gold) for gold in study.sets if gold not in read], {p.paper for p in theirs}
    parts = {"unread": unread, "published": PAPER in papers, "awesome": AWESOME in papers}
    about: dict[str, Any] = {"parts": parts, "read": study.read_at, "sets": listed(unread)}
    about["awesome_note"] = notes("awesome_align")[1]
    labels, heads = ("model", "links by", "source"), [*names[:-1], "mean"]
    return _table(study, "aer", labels, heads, rows, **about)


def _retrieval(study: Continued) -> Table:
    groups = {f"{a} → {b}": [(a, b)] for a, b in study.pairs if study.source in (a, b)}
    others = [pair for pair in study.pairs if study.source not in pair]
    groups |= {f"{len(others)} others, mean": others} if others else {}
    groups[f"all {len(study.pairs)}, mean"] = study.pairs
    layers = (study.layer, study.layers)
    main = f"layer {study.layer}" if len({*study.main.values()}) == 1 else "main layer"
    heads = [f"{title}, layer {layer}" for layer in layers for title in METRICS.values()]
    heads += [f"{MINED_HEADS[metric]}, {main}" for metric in study.mined]
    rows = []
    for model, (name, pairs) in product(study.models, groups.items()):
        columns = [
            [study.found(model, pair, metric, layer) for pair in pairs]
            for layer, metric in product(layers, METRICS)
        ]
        for metric in study.mined:  # in one direction, at each model's main layer
            found = (study.found(model, pair, metric, study.main[model]) for pair in pairs)
            columns.append([scores for scores in found if scores])
        rows.append((study.title(model), name, *map(number, map(average, columns))))
    parts = {"mining": study.mined, "xtreme": MINED_XTREME in study.mined}
    return _table(study, "retrieval", ("model", "languages"), heads, rows, parts=parts)


def _xtreme_table(study: Continued) -> Table:
    tasks = [name for name in XTREME if name in study.tasks]
    tasks += [name for name in study.tasks if name not in XTREME]
    columns = [(task, metric) for task in tasks for metric in printed_metrics(task)]
    rows: list[tuple[str, ...]] = []
    for model in study.models:
        means = {column: study.everywhere(model, *column) for column in columns}
        of_task = [average([its for (name, _), its in means.items() if name == task]) for task in tasks]
        rows.append((study.title(model), OURS, *map(number, (*means.values(), average(of_task)))))
    small = [its["mean"] for task in tasks if (its := study.of_small(task))]
    whole = tasks == list(XTREME)
    published = {(p.objective, p.task, p.metric): p.value for p in [*study.printed(PAPER, [MEANS]), *small]}
    for name in dict.fromkeys(name for name, _, _ in published):
        theirs = [*columns, ("average", "mean") if whole else ("", "")]
        rows.append((name, PUBLISHED, *(percent(published.get((name, *column))) for column in theirs)))
    languages = ", ".join(f"{task_title(task)} {len(study.languages(task)) + 1}" for task in tasks)
    overall = "average" if whole else f"mean of {len(tasks)} tasks"
    heads = [*(score_title(*column) for column in columns), overall]
    about: dict[str, Any] = {"parts": {"small": small}, "tasks": tasks, "languages": languages}
    return _table(study, "xtreme", ("model", "source"), heads, rows, **about)


def _task_table(study: Continued, task: str) -> Table:
    languages = [study.source, *study.languages(task)]
    metrics, floors = [metric.name for metric in TASKS[task].metrics], study.results.floors
    rows: list[tuple[str, ...]] = []
    for metric, model in product(metrics, study.models):
        scores = [study.scored(model, task, language, metric) for language in languages]
        cells = map(number, (*scores, average(scores[1:]), average(scores)))
        rows.append((study.title(model), metric_title(metric), OURS, *cells))
    baselines = floors.baselines([task])
    for metric, (name, baseline) in product(metrics, baselines.items()):
        of = {language: floors.of(task, metric, language, study.source) for language in languages}
        values = {language: its[name].value for language, its in of.items() if name in its}
        rows.append((baseline, metric_title(metric), FLOOR, *printed_cells(values, languages)))
    by_paper = [p for p in study.printed(PAPER, BY_LANGUAGE) if p.task == task]
    small = list(study.of_small(task).values())
    published = printed_rows([*by_paper, *small], ["metric", "objective"], "setting")
    order = [metric for metric, _ in published]
    for (metric, model), values in sorted(published.items(), key=lambda row: order.index(row[0][0])):
        rows.append((model, metric_title(metric), PUBLISHED, *printed_cells(values, languages)))
    tables = " and ".join(sorted({str(p.table) for p in by_paper}))
    about: dict[str, Any] = {"tasks": [task], "task": task_title(task), "tables": tables}
    about["parts"] = {"published": by_paper, "small": small, "floors": baselines}
    labels, heads = ("model", "metric", "source"), [*languages, *OF_LANGUAGES]
    return _table(study, "task", labels, heads, rows, **about)


def printed_metrics(task: str) -> list[str]:
    """Return the metrics that papers report for a task: one, or two for question answering."""
    its = TASKS[task]
    return [metric.name for metric in its.metrics] if isinstance(its, Questions) else [PRINTED[task]]


Pair = tuple[str, str]  # the better and the worse model, according to a claim
ABLATED = ("nli", "pos", "ner", "mlqa")  # the tasks in Table 3
OF_PAIRS = {
    "WEAM": {"mlqa": "WEAM, Table 1", "nli": "WEAM, Table 2"},
    "PPA": {"nli": "PPA, Table 2", "mlqa": "PPA, Table 4"},
}
"""The tables with results of objectives trained only on sentence pairs, by objective and task."""
LAST = 4  # number of top layers; the paper finds the largest reduction in AER there


def continued_claims(results: Results) -> list[Claim]:
    """Return claims with three kinds of comparisons: XLM-Align with its start, and with equally long training
    without DWA; objectives trained only on sentence pairs with their start; PPA with and without TLM."""
    study, claims = Continued(results), list[Claim]()
    start, switches = study.start, {name: changes(results.objective(name)) for name in study.learnt}
    whole = next((name for name, its in switches.items() if its == {}), "")
    without = next((name for name, its in switches.items() if its == {"queries": "none"}), "")
    for pair in ((whole, start), (whole, without), (without, start)):
        if all(pair):
            claims += [*_of_links(study, pair), *_finds(study, pair)]
            for task in study.tasks:
                where = "Table 3" if task in ABLATED else "ours: Table 3 has other tasks"
                claims.append(_transfers(study, pair, task, "Table 1" if start in pair else where))
    for kind, tables in OF_PAIRS.items():
        of_kind = {name: part for name in study.learnt if (part := results.objective(name).part(kind))}
        with_tlm = [name for name, part in of_kind.items() if "beside" in part]
        for name in (name for name in of_kind if name not in with_tlm):
            claims += _finds(study, (name, start))
            for task in study.tasks:
                where = tables.get(task, "ours: its paper has other tasks")
                claims.append(_transfers(study, (name, start), task, where))
            others = with_tlm if "nli" in study.tasks else []
            claims += [_transfers(study, (name, other), "nli", "PPA, Table 5") for other in others]
    return claims


def _claim(
    study: Continued, name: str, numbers: Mapping[str, Sequence[BySeed]], side: int = 1, **about: Any
) -> Claim:
    better, worse = map(study.title, numbers)
    verdict = judge_estimate(gap(*numbers.values()), side)
    return claim(name, verdict, better=better, worse=worse, layer=study.layer, **about)


def _transfers(study: Continued, pair: Pair, task: str, where: str) -> Claim:
    numbers = {model: study.abroad(model, task) for model in pair}
    about: dict[str, Any] = {"on": task_title(task), "many": len(study.languages(task)), "where": where}
    return _claim(study, "transfers-task-better", numbers, **about)


def _finds(study: Continued, pair: Pair) -> Iterator[Claim]:
    if study.pairs:
        numbers = {model: study.all_found(model) for model in pair}
        yield _claim(study, "finds-more", numbers, many=len(study.pairs))


def _of_links(study: Continued, pair: Pair) -> Iterator[Claim]:
    main, last = [study.layer], range(study.layers - LAST + 1, study.layers + 1)
    mean_of = f"mean of {len(study.sets)} gold sets"
    cases = [
        *(("set-aer", [gold], set_title(gold), by, main) for gold in study.sets for by in study.aligners[:1]),
        *(("set-aer", study.sets, mean_of, by, main) for by in study.aligners),
        *(("last-layers-aer", study.sets, mean_of, by, last) for by in study.aligners),
    ]
    for name, golds, sets, by, layers in cases:
        cells = list(product(golds, [by], layers))
        numbers = {model: [study.errors(model, *cell) for cell in cells] for model in pair}
        yield _claim(study, name, numbers, -1, sets=sets, by=by, last=LAST)


def continued_findings(results: Results) -> Iterator[str]:
    """Report each model's mean AER over gold sets, mean retrieval over language pairs, and mean task scores
    over languages."""
    study, numbers = Continued(results), dict[str, list[list[BySeed]]]()
    for by in study.aligners:
        text = f"Mean AER over {len(study.sets)} gold sets by {by}, {study.read_at}"
        numbers[text] = [study.all_errors(model, by) for model in study.models]
    text = f"Translations found by cosine, mean of {len(study.pairs)} pairs of languages, layer {study.layer}"
    numbers[text] = list(map(study.all_found, study.models))
    for task in study.tasks:
        score = f"{task_title(task)} ({metric_title(PRIMARY[task])})"
        text = f"{score}, mean of other languages than {study.source}"
        numbers[text] = [study.abroad(model, task) for model in study.models]
    for text, values in numbers.items():
        means = zip(study.models, map(mean, map(average, values)), strict=True)
        if cells := [f"{study.title(model)} {percent(its.mean)} %" for model, its in means if its]:
            yield f"{text}: {listed(cells)}."

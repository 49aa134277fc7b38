"""Tables, claims and figures about a released encoder and models pretrained further from it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, permutations, product
from statistics import fmean
from typing import Any

from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from calque.analysis.aligners.methods import DEFAULT, RELEASED, SOFTMAX
from calque.analysis.papers.ablations import changes
from calque.analysis.papers.columns import printed_rows, score_title, shown_records, task_columns
from calque.analysis.papers.looks import PUBLISHED as PUBLISHED_LOOKS
from calque.analysis.papers.looks import Look, keys, looks
from calque.analysis.papers.published import notes
from calque.analysis.papers.texts import chart, claim, table
from calque.analysis.records.record import AER, MINED, MINED_XTREME, RETRIEVAL, Published
from calque.analysis.report import drawing
from calque.analysis.report.drawing import INK, Plot
from calque.analysis.report.table import FLOOR, OURS, PUBLISHED, Table, cell, listed, over_seeds, percent
from calque.analysis.results import BySeed, Key, Results, average, gap, judge_estimate, mean, means
from calque.analysis.statistics import Claim
from calque.analysis.tasks.catalogue import PRIMARY, PRINTED, TASKS, metric_title, task_title
from calque.analysis.tasks.questions import Questions
from calque.derive.errors import BadInput

SOURCE_SCORE, ZERO_SHOT = "SRC", "ZS"  # a task's measures in the training language, and in other languages
PAPER, SMALL = "XLM-Align", "mMiniLM-L12-H384"  # the paper's model, and the released multilingual MiniLM
ABOUT_SMALL = f"{SMALL}: an encoder of 12 layers and width 384, from the page of its release"
THEIRS = "en"  # the language in which published models were fine-tuned
MAIN = -1  # a model's main layer
PAPERS_NAMES = {"de-en": "en-de", "ro-en": "en-ro"}  # the paper's names for gold sets, if different
Pair = tuple[str, str]  # two languages, or the better and the worse model according to a claim


class Continued:
    """The results for a study's models, beginning with the starting model. `main` contains the models' main
    layers, `pairs` the language pairs used for retrieval, `mined` those used for mining by metric, and
    `languages` each task's languages, with the source first. Raises BadInput if no model is the start."""

    def __init__(self, results: Results) -> None:
        self.results, self.source = results, results.source
        error_keys, task_keys = results.keys(measure=AER), results.keys(measure=ZERO_SHOT)
        self.sets = list(dict.fromkeys(key.gold_set for key in error_keys))
        self.aligners = list(dict.fromkeys(key.aligner for key in error_keys))
        pairs, mined = dict[Pair, None](), dict[str, list[Pair]]()
        for key in results.keys(measure=RETRIEVAL):
            pairs[key.first, key.language] = None
            mined.setdefault(key.metric, []).append((key.first, key.language))
        self.pairs = list(pairs)
        self.mined = {metric: mined[metric] for metric in MINED_HEADS if metric in mined}
        self.languages: dict[str, list[str]] = {}
        for name in TASKS:
            if targets := dict.fromkeys(key.language for key in task_keys if key.task == name):
                self.languages[name] = [self.source, *targets]
        self.tasks = list(self.languages)
        runs = list(results.runs.values())
        starts = [run.objective.name for run in runs if run.objective and run.start is None]
        if not starts:
            raise BadInput("there are no records of the starting model, which this report needs")
        self.start = starts[0]
        self.main = {run.objective.name: run.main_layer for run in runs if run.objective}
        self.layer, self.layers = self.main[self.start], runs[0].layers
        self.learnt = [name for name in results.objectives if name != self.start]
        self.models = [self.start, *self.learnt]
        tuned = {record.run for record in results.records if record.measure in (SOURCE_SCORE, ZERO_SHOT)}
        seeds = {run.seed for run in runs if (run.start is not None if self.learnt else run.id in tuned)}
        self.seeds = sorted(seeds)

    def title(self, model: str) -> str:
        return self.results.objective_title(model)

    @property
    def read_at(self) -> str:
        """The main layer of all models or, if models differ, of the starting model and of the other
        models."""
        layers = listed([str(layer) for layer in sorted({*self.main.values()} - {self.layer})])
        return f"layer {self.layer} of {self.layers}{f' before and {layers} after' if layers else ''}"

    def scores(self, task: str, metric: str = "") -> list[Key]:
        """Return the keys of a task's scores: the source's first, then those of the other languages."""
        source, *targets = self.languages.get(task, [self.source])
        about = task, metric or PRIMARY[task]
        return [
            Key(SOURCE_SCORE, "", source, *about),
            *(Key(ZERO_SHOT, "", name, *about) for name in targets),
        ]

    def values(self, model: str, keys: Iterable[Key]) -> BySeed:
        """Return the mean of a model's numbers. If there are several seeds, a number of a single seed has no
        interval, because one over items is not comparable with the other models' intervals over seeds."""
        numbers = []
        for key in keys:
            layer = self.main[model] if key.layer == MAIN else key.layer
            scores = self.results.scores(*key._replace(objective=model, layer=layer))
            if len(scores) == 1 and len(self.seeds) > 1:
                ((seed, score),) = scores.items()
                if model == self.start and not key.task:  # the starting model was trained only once
                    scores = dict.fromkeys(self.seeds, score)
                else:
                    scores = {seed: replace(score, error=None, parts=None)}
            numbers.append(scores)
        return average(numbers)

    def cells(self, model: str, columns: Iterable[Iterable[Key]]) -> list[str]:
        """Format means, whose intervals may be over test items."""
        return [number(self.values(model, keys)) for keys in columns]

    def printed(self, paper: str, tables: Sequence[int] = ()) -> list[Published]:
        """Return a paper's numbers from some tables (default: all), if our models were fine-tuned on the
        paper's language."""
        numbers = self.results.published if self.source == THEIRS else ()
        return [p for p in numbers if p.paper == paper and (not tables or p.table in tables)]

    def of_small(self, task: str) -> list[Published]:
        """Return MiniLM's published scores on a task by language, and their mean."""
        return [p for p in self.printed("MiniLM") if (p.objective, p.task) == (SMALL, task)]


def error(gold: str, aligner: str, layer: int = MAIN) -> Key:
    """Return the key of an alignment error rate."""
    return Key(AER, "", "", metric="aer", layer=layer, aligner=aligner, gold_set=gold)


def retrieval(pair: Pair, layer: int, metric: str = "cosine") -> Key:
    """Return the key for retrieving the first language's sentences in the second."""
    return Key(RETRIEVAL, "", pair[1], metric=metric, layer=layer, first=pair[0])


def set_title(gold: str) -> str:
    """Return the paper's name for a gold set."""
    return PAPERS_NAMES.get(gold, gold)


def number(values: BySeed) -> str:
    """Format a mean over seeds, whose interval is over test items."""
    return cell(mean(values), over_items=True)


def printed_cells(values: Mapping[str, float], languages: Sequence[str]) -> list[str]:
    """Format numbers by language, followed by their means without and with the first language, if no number
    is missing."""
    numbers = [values.get(name) for name in languages]
    for part in (languages[1:], languages):
        complete = part and all(name in values for name in part)
        numbers.append(fmean(values[name] for name in part) if complete else None)
    return list(map(percent, numbers))


MEANS, BY_LANGUAGE = (1, range(13, 20))  # the paper's tables of means over XTREME, and of scores by language
XTREME = ("pos", "ner", "xquad", "mlqa", "tydiqa", "nli", "paraphrase")
"""XTREME's tasks except retrieval, in the order of the paper's Table 1."""
SIMALIGN, AWESOME = ("argmax, as SimAlign printed it",), "awesome-align"
PUBLISHED_RULES = {
    RELEASED.name: (PAPER, 2, ("optimal transport",)),
    DEFAULT.name: (PAPER, 2, SIMALIGN),
    "argmax": (PAPER, 2, SIMALIGN),
    SOFTMAX.name: (AWESOME, 1, ("softmax", "statistical")),
}
"""For each method, the paper, table and settings with published error rates of that method or a similar
one."""
METRICS = {"cosine": "cosine", "csls": "CSLS"}
MINED_HEADS = {MINED: "mining F1 (mutual)", MINED_XTREME: "mining F1 (XTREME’s rule)"}
Rows = list[tuple[str, ...]]


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
    study: Continued, name: str, labels: Sequence[str], heads: Iterable[str], rows: Rows, **about: Any
) -> Table:
    """Return a table whose note describes the study's seeds and source."""
    covers = "± is half the 95 % interval over the test’s sentences, and says nothing of other runs"
    one_seed = f"one seed ({', '.join(map(str, study.seeds))}): {covers}"
    about |= {"seeds": over_seeds(study.seeds) if len(study.seeds) > 1 else one_seed}
    about |= {"source": study.source, "about_small": ABOUT_SMALL}
    return table(name, study.results, labels, heads, rows, **about)


def printed_errors(study: Continued, aligner: str) -> list[Published]:
    """Return the published error rates to compare with a method's error rates."""
    paper, number, settings = PUBLISHED_RULES.get(aligner, ("", 0, ()))
    return [p for p in study.printed(paper, [number]) if p.setting in settings]


def _and_mean(keys: Sequence[Key]) -> list[Sequence[Key]]:
    """Return the keys of one column per number, and of a last column with their mean."""
    return [*([key] for key in keys), keys]


def _errors_by_layer(study: Continued) -> Table:
    rows: Rows = []
    for aligner, model, layer in product(study.aligners, study.models, range(study.layers + 1)):
        columns = _and_mean([error(gold, aligner, layer) for gold in study.sets])
        rows.append((study.title(model), aligner, str(layer), *study.cells(model, columns)))
    heads = [*map(set_title, study.sets), "mean"]
    return _table(study, "layers", ("model", "links by", "layer"), heads, rows)


def _errors(study: Continued) -> Table:
    """Tabulate AER at main layers on each gold set and its mean, and the papers' error rates."""
    rows: Rows = []
    for aligner, model in product(study.aligners, study.models):
        columns = _and_mean([error(gold, aligner) for gold in study.sets])
        rows.append((study.title(model), aligner, OURS, *study.cells(model, columns)))
    sets = list(map(set_title, study.sets))
    published = [p for aligner in study.aligners for p in printed_errors(study, aligner)]
    for labels, rates in printed_rows(published, ["objective", "setting"], "task").items():
        rows.append((*labels, PUBLISHED, *map(percent, map(rates.get, [*sets, "average"]))))
    pairs = {pair for run in study.results.runs.values() for pair in run.bitexts}
    read = {"-".join(names) for pair in pairs for names in permutations(pair)}
    unread = [set_title(gold) for gold in study.sets if gold not in read]
    papers = {p.paper for p in published}
    parts = {"unread": unread, "published": PAPER in papers, "awesome": AWESOME in papers}
    about = {"read": study.read_at, "sets": listed(unread), "awesome_note": notes("awesome_align")[1]}
    labels = ("model", "links by", "source")
    return _table(study, "aer", labels, [*sets, "mean"], rows, parts=parts, **about)


def _retrieval(study: Continued) -> Table:
    """Tabulate the translations found, by model and language pair. Mining is at each model's main layer, and
    for each pair in one direction only."""
    groups = {f"{a} → {b}": [(a, b)] for a, b in study.pairs if study.source in (a, b)}
    if target_pairs := [pair for pair in study.pairs if study.source not in pair]:
        groups[f"{len(target_pairs)} others, mean"] = target_pairs
    groups[f"all {len(study.pairs)}, mean"] = study.pairs
    main = f"layer {study.layer}" if len({*study.main.values()}) == 1 else "main layer"
    columns = {}
    for layer, (metric, title) in product((study.layer, study.layers), METRICS.items()):
        columns[f"{title}, layer {layer}"] = layer, metric, study.pairs
    for metric, pairs in study.mined.items():
        columns[f"{MINED_HEADS[metric]}, {main}"] = MAIN, metric, pairs
    rows: Rows = []
    for model, (name, group) in product(study.models, groups.items()):
        keys = []
        for layer, metric, pairs in columns.values():
            keys.append([retrieval(pair, layer, metric) for pair in group if pair in pairs])
        rows.append((study.title(model), name, *study.cells(model, keys)))
    parts = {"mining": study.mined, "xtreme": MINED_XTREME in study.mined}
    return _table(study, "retrieval", ("model", "languages"), columns, rows, parts=parts)


def _xtreme_table(study: Continued) -> Table:
    """Tabulate each task's mean over its languages, and the mean over tasks, as in Table 1."""
    tasks = [name for name in XTREME if name in study.tasks]
    tasks += [name for name in study.tasks if name not in XTREME]
    columns = [(task, metric) for task in tasks for metric in printed_metrics(task)]
    rows: Rows = []
    for model in study.models:
        by_task: dict[str, list[BySeed]] = {}
        for task, metric in columns:
            by_task.setdefault(task, []).append(study.values(model, study.scores(task, metric)))
        overall = average([average(scores) for scores in by_task.values()])
        rows.append((study.title(model), OURS, *map(number, [*chain(*by_task.values()), overall])))
    small = [p for task in tasks for p in study.of_small(task) if p.language == "mean"]
    is_whole = tasks == list(XTREME)
    last = ("average", "mean") if is_whole else ("", "")
    published = {(p.objective, p.task, p.metric): p.value for p in [*study.printed(PAPER, [MEANS]), *small]}
    for name in dict.fromkeys(name for name, _, _ in published):
        numbers = [published.get((name, *column)) for column in (*columns, last)]
        rows.append((name, PUBLISHED, *map(percent, numbers)))
    about: dict[str, Any] = {"parts": {"small": small}, "tasks": tasks}
    about["languages"] = ", ".join(f"{task_title(task)} {len(study.languages[task])}" for task in tasks)
    heads = [score_title(*column) for column in columns]
    heads.append("average" if is_whole else f"mean of {len(tasks)} tasks")
    return _table(study, "xtreme", ("model", "source"), heads, rows, **about)


def _task_table(study: Continued, task: str) -> Table:
    """Tabulate a task's scores by language: our models', the baselines' and the papers'."""
    languages, rows = study.languages[task], list[tuple[str, ...]]()
    metrics, floors = [metric.name for metric in TASKS[task].metrics], study.results.floors
    for metric, model in product(metrics, study.models):
        keys = study.scores(task, metric)
        cells = study.cells(model, [*([key] for key in keys), keys[1:], keys])
        rows.append((study.title(model), metric_title(metric), OURS, *cells))
    baselines = floors.baselines([task])
    for metric, (name, title) in product(metrics, baselines.items()):
        scores = dict[str, float]()
        for language in languages:
            if floor := floors.of(task, metric, language, study.source).get(name):
                scores[language] = floor.value
        rows.append((title, metric_title(metric), FLOOR, *printed_cells(scores, languages)))
    by_paper = [p for p in study.printed(PAPER, BY_LANGUAGE) if p.task == task]
    small = study.of_small(task)
    published = printed_rows([*by_paper, *small], ["metric", "objective"], "language")
    order = [metric for metric, _ in published]
    for (metric, model), values in sorted(published.items(), key=lambda row: order.index(row[0][0])):
        rows.append((model, metric_title(metric), PUBLISHED, *printed_cells(values, languages)))
    tables = " and ".join(sorted({str(p.table) for p in by_paper}))
    about: dict[str, Any] = {"tasks": [task], "task": task_title(task), "tables": tables}
    about["parts"] = {"published": by_paper, "small": small, "floors": baselines}
    heads = [*languages, "mean of the others", "mean of all"]
    return _table(study, "task", ("model", "metric", "source"), heads, rows, **about)


def printed_metrics(task: str) -> list[str]:
    """Return the metrics that papers report for a task: two for question answering."""
    reader = TASKS[task]
    return [metric.name for metric in reader.metrics] if isinstance(reader, Questions) else [PRINTED[task]]


ABLATED = dict.fromkeys(("nli", "pos", "ner", "mlqa"), "Table 3")
OF_PAIRS = {
    "WEAM": {"mlqa": "WEAM, Table 1", "nli": "WEAM, Table 2"},
    "PPA": {"nli": "PPA, Table 2", "mlqa": "PPA, Table 4"},
}
"""The tables with results of objectives trained only on sentence pairs, by objective and task."""
LAST = 4  # number of top layers, where the paper finds the largest reduction in AER


def continued_claims(results: Results) -> Iterator[Claim]:
    """Yield claims that compare XLM-Align with its starting model and with training without DWA, objectives
    trained only on sentence pairs with their starting model, and PPA with and without TLM."""
    study = Continued(results)
    start, switches = study.start, {name: changes(results.objective(name)) for name in study.learnt}
    complete = next((name for name, changed in switches.items() if changed == {}), "")
    without_dwa = next((name for name, changed in switches.items() if changed == {"queries": "none"}), "")
    for pair in ((complete, start), (complete, without_dwa), (without_dwa, start)):
        if all(pair):
            yield from _of_links(study, pair)
            where = dict.fromkeys(study.tasks, "Table 1") if start in pair else ABLATED
            yield from _transfers(study, pair, where, "ours: Table 3 has other tasks")
    for kind, tables in OF_PAIRS.items():
        parts = {name: part for name in study.learnt if (part := results.objective(name).part(kind))}
        with_tlm = [name for name, part in parts.items() if "beside" in part]
        for name in (name for name in parts if name not in with_tlm):
            yield from _transfers(study, (name, start), tables, "ours: its paper has other tasks")
            for variant in with_tlm if "nli" in study.tasks else ():
                yield _transfer(study, (name, variant), "nli", "PPA, Table 5")


def _claim(study: Continued, name: str, pair: Pair, keys: Sequence[Key], side: int, **about: Any) -> Claim:
    """Claim that one model's numbers are higher (`side` +1) or lower (-1) than another's, on average."""
    better_scores, worse_scores = ([study.values(model, [key]) for key in keys] for model in pair)
    better, worse = map(study.title, pair)
    verdict = judge_estimate(gap(better_scores, worse_scores), side)
    return claim(name, verdict, better=better, worse=worse, layer=study.layer, **about)


def _transfer(study: Continued, pair: Pair, task: str, where: str) -> Claim:
    """Claim that a model's zero-shot scores on a task are higher on average."""
    keys, about = study.scores(task)[1:], {"on": task_title(task), "where": where}
    return _claim(study, "transfers-task-better", pair, keys, +1, many=len(keys), **about)


def _transfers(study: Continued, pair: Pair, where: Mapping[str, str], otherwise: str) -> Iterator[Claim]:
    """Claim that a model retrieves more translations, and is better on each task."""
    if keys := [retrieval(languages, study.layer) for languages in study.pairs]:
        yield _claim(study, "finds-more", pair, keys, +1, many=len(keys))
    for task in study.tasks:
        yield _transfer(study, pair, task, where.get(task, otherwise))


def _of_links(study: Continued, pair: Pair) -> Iterator[Claim]:
    """Claim that AER is lower: on each gold set, and on average at the main layer and at the last layers."""

    def lower(name: str, golds: Sequence[str], sets: str, aligner: str, layers: Iterable[int]) -> Claim:
        keys = [error(gold, aligner, layer) for gold, layer in product(golds, layers)]
        return _claim(study, name, pair, keys, -1, sets=sets, by=aligner, last=LAST)

    golds, mean_of = study.sets, f"mean of {len(study.sets)} gold sets"
    for aligner, gold in product(study.aligners[:1], golds):
        yield lower("set-aer", [gold], set_title(gold), aligner, [study.layer])
    for aligner in study.aligners:
        yield lower("set-aer", golds, mean_of, aligner, [study.layer])
    for aligner in study.aligners:
        last = range(study.layers - LAST + 1, study.layers + 1)
        yield lower("last-layers-aer", golds, mean_of, aligner, last)


# Figures: AER by layer, as in XLM-Align's Figure 2, and task scores by language

COLUMNS, MANY = (2, 4)  # panels per row, and the minimum number of panels in a figure as wide as a page
CLOSE = 12  # if there are more languages than this, their names are printed in a smaller font
LOWEST = 4  # layers below 1 / LOWEST of the depth are not drawn
PAPERS, PAPERS_LAYER = ("XLM-R", PAPER), 8  # the paper's encoders, and the layer (of 12) that it reports
WIDTH = 0.8  # width of one language's models, as a fraction of the distance between languages


def continued_figures(results: Results) -> Iterator[Plot | None]:
    """Yield the figures on a released encoder and on models pretrained further from it."""
    study = Continued(results)
    if look := looks(results, study.models):
        if study.tasks:
            yield _task_figure(study, look)
        for aligner in study.aligners:
            yield _error_figure(study, look, aligner)


def _published_keys(names: Iterable[str]) -> list[Any]:
    return [drawing.key(f"{name}, published", *PUBLISHED_LOOKS[name][:2], "none") for name in names]


def _error_figure(study: Continued, look: Mapping[str, Look], aligner: str) -> Plot:
    """Plot AER by layer, with one panel per gold set, one line per model, and the paper's numbers."""
    layers = range(study.layers // LOWEST, study.layers + 1)
    printed = printed_errors(study, aligner)

    def draw(panel: Axes, gold: str) -> None:
        for rank, (model, (colour, marker, dash)) in enumerate(look.items()):
            shift = 0.12 * (rank - (len(look) - 1) / 2)
            rates = ((layer + shift, study.values(model, [error(gold, aligner, layer)])) for layer in layers)
            style: dict[str, Any] = {"linestyle": dash, "linewidth": 1.2, "markersize": 4.5}
            drawing.draw_points(panel, means(rates), colour, marker, **style)
        for p in printed:
            if p.objective in PAPERS and p.task == set_title(gold):
                colour, marker, _ = PUBLISHED_LOOKS[p.objective]
                place = PAPERS_LAYER, 100 * p.value
                panel.plot(*place, marker, color=colour, fillstyle="none", markersize=7, zorder=4)
        panel.xaxis.set_major_locator(MaxNLocator(5, integer=True))

    published = [name for name in PAPERS if any(p.objective == name for p in printed)]
    plot = chart(
        "figure-aer",
        study.results,
        [(set_title(gold), gold) for gold in study.sets],
        draw,
        (COLUMNS, 1.9),
        [*keys(study.results, look, line=None), *_published_keys(published)],
        [r for r in study.results.records if r.measure == AER and r.aligner == aligner],
        printed,
        about={"aligner": aligner, "layer": PAPERS_LAYER, "seeds": study.seeds},
        labels=("layer", "AER, %"),
        sharex=True,
    )
    return replace(plot, name=f"figure-aer-{aligner}")


def _task_figure(study: Continued, look: Mapping[str, Look]) -> Plot:
    """Plot every model's score in every language and the strongest baseline, with one panel per task."""
    source, results = study.source, study.results
    metrics = {task: printed_metrics(task)[0] for task in study.tasks}
    published = {name: _published(study, metrics, name) for name in (PAPER, SMALL)}
    columns, width = (1, drawing.HALF) if len(metrics) < MANY else (COLUMNS, drawing.FULL)
    step = WIDTH / (len(look) + 1)

    def draw(panel: Axes, task: str) -> None:
        metric, languages = metrics[task], study.languages[task]
        for place, key in enumerate(study.scores(task, metric)):
            for rank, (model, (colour, marker, _)) in enumerate(look.items()):
                if value := mean(study.values(model, [key])):
                    x = place + (rank - len(look) / 2) * step
                    drawing.draw_points(panel, [(x, value)], colour, marker, markersize=4.5, zorder=3)
            if floor := results.floors.highest(task, metric, key.language, source):
                sides = [place - WIDTH / 2 - 0.05, place + WIDTH / 2 + 0.05]
                drawing.level(panel, floor.value, sides, "-", INK, linewidth=1, zorder=1)
        for name, numbers in published.items():
            colour, marker, _ = PUBLISHED_LOOKS[name]
            of_task = [p for p in numbers if p.task == task]
            places = [languages.index(p.language) + len(look) / 2 * step for p in of_task]
            panel.plot(places, [100 * p.value for p in of_task], marker, color=colour, fillstyle="none")
        panel.set_xticks(range(len(languages)), languages)
        if len(languages) > CLOSE and width == drawing.FULL:
            panel.tick_params(axis="x", labelsize="small")
        panel.set(xlim=(-0.6, len(languages) - 0.4), ylim=(-3, 103))
        panel.grid(visible=False, axis="x")
        panel.axvline(0.5, color=INK, linewidth=0.5, linestyle=":")
        panel.set_ylabel(f"{metric_title(metric)}, %")

    floors = [f for f in results.floors.all if metrics.get(f.task) == f.metric and f.learnt == source]
    handles = keys(results, look)
    handles += [drawing.key("strongest model-free baseline", INK, line="-")] if floors else []
    handles += _published_keys([name for name, numbers in published.items() if numbers])
    return chart(
        "figure-tasks",
        results,
        [(task_title(task), task) for task in metrics],
        draw,
        (columns, 1.9),
        handles,
        shown_records(results, task_columns((SOURCE_SCORE, ZERO_SHOT), metrics.items())),
        [p for numbers in published.values() for p in numbers],
        floors,
        about={"seeds": study.seeds, "source": {"en": "English"}.get(source, source)},
        width=width,
    )


def _published(study: Continued, metrics: Mapping[str, str], name: str) -> list[Published]:
    """Return a published encoder's scores by language in the figure's metrics."""
    numbers = study.printed(PAPER, BY_LANGUAGE)
    if name == SMALL:
        numbers = [p for task in metrics for p in study.of_small(task)]
    return [p for p in numbers if metrics.get(p.task) == p.metric and p.language in study.languages[p.task]]

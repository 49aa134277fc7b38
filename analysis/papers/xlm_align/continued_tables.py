"""Tables of a start and of what was pretrained further from it, with the paper's numbers marked as published."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from analysis.aligners.methods import DEFAULT, RELEASED
from analysis.papers.xlm_align.continued import Continued, together
from analysis.papers.xlm_align.link_tables import PAPERS_NAMES
from analysis.records.record import Published
from analysis.report.retained_cell import FLOOR, floor_cell
from analysis.report.table import MISSING, OURS, PUBLISHED, Table, cell, over_seeds, percent
from analysis.report.verdicts import listed
from analysis.results.measured import BySeed, mean

SIMALIGN = ("argmax, as SimAlign printed it",)
PUBLISHED_RULES = {RELEASED.name: ("optimal transport",), DEFAULT.name: SIMALIGN, "argmax": SIMALIGN}
"""What the paper's Table 2 calls a way to read links, or one of its kind: its optimal transport is the released one."""
METRICS = ("cosine", "csls")


def continued_tables(made: Continued, published: Sequence[Published], scale: str) -> Iterator[tuple[str, Table]]:
    """AER, AER by layer, retrieval and tagging, each under the name of its file."""
    runs = tuple(sorted(made.results.runs))
    yield "aer", _errors(made, [one for one in published if one.table == 2], scale, runs)
    yield "layers", _by_layer(made, scale, runs)
    if made.pairs:
        yield "retrieval", _retrieval(made, scale, runs)
    if made.languages:
        yield "tagging", _tagging(made, [one for one in published if one.table == 13], scale, runs)


def _errors(made: Continued, printed: Sequence[Published], scale: str, runs: tuple[str, ...]) -> Table:
    rows: list[tuple[str, ...]] = []
    for aligner in made.aligners:
        for model in made.models:
            by_set = [made.errors(model, gold, aligner) for gold in made.sets]
            rows.append((made.title(model), aligner, OURS, *(map(_cell, by_set)), _cell(together(by_set))))
    first = len(rows)
    rules = [rule for aligner in made.aligners for rule in PUBLISHED_RULES.get(aligner, ())]
    for rule in rules:
        for encoder in dict.fromkeys(one.objective for one in printed if one.setting == rule):
            values = {one.task: one.value for one in printed if (one.setting, one.objective) == (rule, encoder)}
            names = [*(PAPERS_NAMES.get(gold, gold) for gold in made.sets), "average"]
            shown = (percent(values[name]) if name in values else MISSING for name in names)
            rows.append((encoder, rule, PUBLISHED, *shown))
    return Table(
        f"Alignment error rate before and after, layer {made.layer} of {made.layers}, percent; {scale}",
        ("model", "links by", "source", *(PAPERS_NAMES.get(gold, gold) for gold in made.sets), "mean"),
        tuple(rows),
        f"Ours: each sentence encoded alone; {_over(made)}. {_unread(made)}Published: layer 8 of XLM-R base, both "
        "sentences in one row, and of what the paper pretrained further from it, with bitexts of en-de, en-fr and "
        "en-hi among others.",
        frozenset(range(first, len(rows))),
        runs,
        labels=3,
    )


def _by_layer(made: Continued, scale: str, runs: tuple[str, ...]) -> Table:
    rows = []
    for aligner in made.aligners:
        for model in made.models:
            for layer in range(made.layers + 1):
                by_set = [made.errors(model, gold, aligner, layer) for gold in made.sets]
                shown = (*map(_cell, by_set), _cell(together(by_set)))
                rows.append((made.title(model), aligner, str(layer), *shown))
    return Table(
        f"Alignment error rate by layer, percent, lower is better; {scale}",
        ("model", "links by", "layer", *(PAPERS_NAMES.get(gold, gold) for gold in made.sets), "mean"),
        tuple(rows),
        f"Layer 0 are the embeddings. {_over(made)}.",
        runs=runs,
        labels=3,
    )


def _retrieval(made: Continued, scale: str, runs: tuple[str, ...]) -> Table:
    groups = {f"{a} → {b}": [(a, b)] for a, b in made.pairs if made.source in (a, b)}
    others = [pair for pair in made.pairs if made.source not in pair]
    groups |= {f"{len(others)} others, mean": others} if others else {}
    groups[f"all {len(made.pairs)}, mean"] = made.pairs
    rows = []
    for model in made.models:
        for name, pairs in groups.items():
            shown = (
                _cell(together([made.found(model, pair, metric, layer) for pair in pairs]))
                for layer in (made.layer, made.layers)
                for metric in METRICS
            )
            rows.append((made.title(model), name, *shown))
    heads = [f"{title}, layer {layer}" for layer in (made.layer, made.layers) for title in ("cosine", "CSLS")]
    return Table(
        f"Sentence retrieval among translations, percent found; {scale}",
        ("model", "languages", *heads),
        tuple(rows),
        "en → fr: an English sentence finds its translation if that is nearer than all other French sentences, by the "
        f"mean of their sub-words’ states; a tie is no find. {_over(made)}; there is none where items were not kept.",
        runs=runs,
        labels=2,
    )


def _tagging(made: Continued, printed: Sequence[Published], scale: str, runs: tuple[str, ...]) -> Table:
    languages = [made.source, *made.languages]
    rows: list[tuple[str, ...]] = []
    for metric, title in (("accuracy", "accuracy"), ("f1_bare_tags", "F1 on bare tags")):
        for model in made.models:
            scores = [made.tagged(model, language, metric) for language in languages]
            rows.append((made.title(model), title, OURS, *map(_cell, scores), _cell(together(scores[1:]))))
    floors = made.results.floors
    for metric, title in (("accuracy", "accuracy"), ("f1_bare_tags", "F1 on bare tags")):
        for name, baseline in floors.baselines(["pos"]).items():
            low = [floors.of("pos", metric, language, made.source).get(name) for language in languages]
            others = [floor.value for floor in low[1:] if floor]
            average = percent(sum(others) / len(others)) if others else MISSING
            rows.append((baseline, title, FLOOR, *map(floor_cell, low), average))
    first = len(rows)
    for model in dict.fromkeys(one.objective for one in printed):
        values = {one.setting: one.value for one in printed if one.objective == model}
        shown = [percent(values[language]) if language in values else MISSING for language in languages]
        others = [values[language] for language in made.languages if language in values]
        average = percent(sum(others) / len(others)) if len(others) == len(made.languages) else MISSING
        rows.append((model, "F1 on bare tags", PUBLISHED, *shown, average))
    return Table(
        f"Part-of-speech tags, zero-shot from {made.source}, percent; {scale}",
        ("model", "metric", "source", *languages, "mean of the others"),
        tuple(rows),
        f"{made.source}: the language of the fine-tuning’s training set, tested on that treebank; the others on "
        f"treebanks of their own. {_over(made)}. Published (Table 13): all of the English training set, ten epochs, "
        "and other treebanks beside these."
        + " Floor rows are baselines without a model, learnt where models are fine-tuned."
        * bool(floors.all),
        frozenset(range(first, len(rows))),
        runs,
        labels=3,
    )


def _unread(made: Continued) -> str:
    names = listed([PAPERS_NAMES.get(name, name) for name in made.unread])
    return f"No bitext of {names} was read. " if names else ""


def _cell(values: BySeed) -> str:
    """A number with its interval over seeds, or over test items where there is one seed."""
    estimate = mean(values)
    if estimate is None or estimate.seeds > 1 or estimate.half is None:
        return cell(estimate)
    return f"{percent(estimate.mean)} ± {100 * estimate.half:.1f}"


def _over(made: Continued) -> str:
    """What stands beside the numbers."""
    if len(made.seeds) > 1:
        return over_seeds(made.seeds)
    names = ", ".join(map(str, made.seeds))
    return f"one seed ({names}): ± is half the 95 % interval over the test’s sentences, and says nothing of other runs"

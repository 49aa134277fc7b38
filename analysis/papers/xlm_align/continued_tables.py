"""Tables of a start and of what was pretrained further from it, with the paper's numbers marked as published."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from analysis.aligners.methods import DEFAULT, RELEASED
from analysis.papers.xlm_align.continued import Continued
from analysis.papers.xlm_align.link_tables import PAPERS_NAMES
from analysis.papers.xlm_align.task_tables import shown, task_table, told_over, xtreme_table
from analysis.records.record import MINED, MINED_XTREME, Published
from analysis.report.table import MISSING, OURS, PUBLISHED, Table, percent
from analysis.report.verdicts import listed
from analysis.results.together import together

SIMALIGN = ("argmax, as SimAlign printed it",)
PUBLISHED_RULES = {RELEASED.name: ("optimal transport",), DEFAULT.name: SIMALIGN, "argmax": SIMALIGN}
"""What the paper's Table 2 calls a way to read links, or one of its kind: its optimal transport is the released one."""
METRICS = {"cosine": "cosine", "csls": "CSLS"}
MINED_HEADS = {MINED: "mining F1 (mutual)", MINED_XTREME: "mining F1 (XTREME’s rule)"}
MINING = (
    " Mining: of every four sentences two have their translation in the other text. The threshold of the margin is "
    "chosen on one half of the sentences and scored on the other, once for two languages. Mutual: candidates are each "
    "other’s nearest by their margin, and the threshold is a candidate’s."
)
MINING_XTREME = (
    " XTREME’s rule: each sentence proposes the best of its four nearest by cosine, the best proposals are taken "
    "first, and the threshold lies halfway to the next."
)


def continued_tables(made: Continued, published: Sequence[Published], scale: str) -> Iterator[tuple[str, Table]]:
    """XTREME, AER, AER by layer, retrieval, and every task by language, each under the name of its file."""
    runs = tuple(sorted(made.results.runs))
    if len(made.tasks) > 1:
        yield "xtreme", xtreme_table(made, published, scale, runs)
    if made.sets:
        yield "aer", _errors(made, [one for one in published if one.table == 2], scale, runs)
        yield "layers", _by_layer(made, scale, runs)
    if made.pairs:
        yield "retrieval", _retrieval(made, scale, runs)
    for task in made.tasks:
        yield f"task-{task}", task_table(made, task, published, scale, runs)


def _errors(made: Continued, printed: Sequence[Published], scale: str, runs: tuple[str, ...]) -> Table:
    rows: list[tuple[str, ...]] = []
    for aligner in made.aligners:
        for model in made.models:
            by_set = [made.errors(model, gold, aligner) for gold in made.sets]
            rows.append((made.title(model), aligner, OURS, *(map(shown, by_set)), shown(together(by_set))))
    first = len(rows)
    rules = [rule for aligner in made.aligners for rule in PUBLISHED_RULES.get(aligner, ())]
    for rule in rules:
        for encoder in dict.fromkeys(one.objective for one in printed if one.setting == rule):
            values = {one.task: one.value for one in printed if (one.setting, one.objective) == (rule, encoder)}
            names = [*(PAPERS_NAMES.get(gold, gold) for gold in made.sets), "average"]
            rows.append(
                (encoder, rule, PUBLISHED, *(percent(values[name]) if name in values else MISSING for name in names))
            )
    return Table(
        f"Alignment error rate before and after, layer {made.layer} of {made.layers}, percent; {scale}",
        ("model", "links by", "source", *(PAPERS_NAMES.get(gold, gold) for gold in made.sets), "mean"),
        tuple(rows),
        f"Ours: each sentence encoded alone; {told_over(made)}. {_unread(made)}Published: layer 8 of XLM-R base, both "
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
                cells = (*map(shown, by_set), shown(together(by_set)))
                rows.append((made.title(model), aligner, str(layer), *cells))
    return Table(
        f"Alignment error rate by layer, percent, lower is better; {scale}",
        ("model", "links by", "layer", *(PAPERS_NAMES.get(gold, gold) for gold in made.sets), "mean"),
        tuple(rows),
        f"Layer 0 are the embeddings. {told_over(made)}.",
        runs=runs,
        labels=3,
    )


def _retrieval(made: Continued, scale: str, runs: tuple[str, ...]) -> Table:
    groups = {f"{a} → {b}": [(a, b)] for a, b in made.pairs if made.source in (a, b)}
    others = [pair for pair in made.pairs if made.source not in pair]
    groups |= {f"{len(others)} others, mean": others} if others else {}
    groups[f"all {len(made.pairs)}, mean"] = made.pairs
    columns = [(layer, metric) for layer in (made.layer, made.layers) for metric in METRICS]
    columns += [(made.layer, metric) for metric in made.mined]
    rows = []
    for model in made.models:
        for name, pairs in groups.items():
            cells = []
            for layer, metric in columns:
                by_pair = [made.found(model, pair, metric, layer) for pair in pairs]
                cells.append(shown(together([one for one in by_pair if one] if metric in MINED_HEADS else by_pair)))
            rows.append((made.title(model), name, *cells))
    heads = [f"{(METRICS | MINED_HEADS)[metric]}, layer {layer}" for layer, metric in columns]
    return Table(
        f"Sentence retrieval among translations, percent found; {scale}",
        ("model", "languages", *heads),
        tuple(rows),
        "en → fr: an English sentence finds its translation if that is nearer than all other French sentences, by the "
        f"mean of their sub-words’ states; a tie is no find. {told_over(made)}; there is none where items were not "
        f"kept.{MINING * bool(made.mined)}{MINING_XTREME * (MINED_XTREME in made.mined)}",
        runs=runs,
        labels=2,
    )


def _unread(made: Continued) -> str:
    names = listed([PAPERS_NAMES.get(name, name) for name in made.unread])
    return f"No bitext of {names} was read. " if names else ""

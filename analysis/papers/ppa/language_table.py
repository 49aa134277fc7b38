"""Translate-train by language, after Tables 2 and 4 of PPA, whose numbers stand beside ours."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from analysis.papers.xlm_align.continued import Continued
from analysis.papers.xlm_align.task_tables import THEIRS, shown, told_over
from analysis.records.record import Published
from analysis.report.table import MISSING, OURS, PUBLISHED, Table, percent
from analysis.results.together import together
from analysis.tasks.catalog import PRIMARY, metric_title, task_title

BY_LANGUAGE = (2, 4)
"""The paper's tables: of XNLI and of MLQA."""
NOTE = (
    "ZS: fine-tuned on the source alone. TT (translate-train): also on translations of its training set. TT-CS: also "
    "on the pairs whose first text is in one language and whose second in the other."
)


def language_table(
    made: Continued, task: str, published: Sequence[Published], scale: str, runs: tuple[str, ...]
) -> Table:
    """A row for each model and way to fine-tune it, in every language; the paper's after them."""
    others, metric = made.languages(task), PRIMARY[task]
    languages = [made.source, *others]
    rows: list[tuple[str, ...]] = []
    for model in made.models:
        for way in made.ways(task):
            scores = [made.scored(model, task, language, metric, way) for language in languages]
            means = (together(scores[1:]), together(scores))
            rows.append((made.title(model), way, OURS, *map(shown, (*scores, *means))))
    first = len(rows)
    printed = [
        one
        for one in published
        if one.table in BY_LANGUAGE and (one.task, one.metric) == (task, metric) and made.source == THEIRS
    ]
    for name, setting in dict.fromkeys((one.objective, _setting(one)[0]) for one in printed):
        values = {
            _setting(one)[1]: one.value for one in printed if (one.objective, _setting(one)[0]) == (name, setting)
        }
        known = (percent(values[language]) if language in values else MISSING for language in languages)
        averages = (
            percent(fmean(values[language] for language in part)) if values.keys() >= {*part} else MISSING
            for part in (others, languages)
        )
        rows.append((name, setting or "zero-shot", PUBLISHED, *known, *averages))
    return Table(
        f"{task_title(task)} with translations, from {made.source}, {metric_title(metric)}, percent; {scale}",
        ("model", "fine-tuning", "source", *languages, "mean of the others", "mean of all"),
        tuple(rows),
        f"{NOTE} {told_over(made)}."
        + " Published (PPA, Tables 2 and 4): from mBERT, with all of MultiNLI or SQuAD and its machine translation; "
        "250k, 600k and 2M are sentence pairs a language of the pretraining; its translate-train is with code-switched "
        "pairs." * bool(printed),
        frozenset(range(first, len(rows))),
        runs,
        labels=3,
    )


def _setting(one: Published) -> tuple[str, str]:
    """What was varied, and the language."""
    setting, _, language = one.setting.rpartition(": ")
    return setting, language

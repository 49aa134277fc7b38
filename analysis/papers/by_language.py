"""A task by language as a paper prints it, ours beside it: WEAM's Tables 1 and 2, PPA's 2, 4 and 5."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from analysis.papers.xlm_align.continued import ZERO_SHOT, Continued
from analysis.papers.xlm_align.task_tables import THEIRS, shown, told_over
from analysis.records.record import Published
from analysis.report.pos_units import units_note
from analysis.report.table import MISSING, OURS, PUBLISHED, Table, percent
from analysis.results.together import together
from analysis.tasks.catalog import PRIMARY, metric_title, task_title


@dataclass(frozen=True)
class ByLanguage:
    """A paper's tables of tasks by language: which they are, and what their numbers were made with."""

    paper: str
    tables: tuple[int, ...]
    made_with: str

    def among(self, published: Sequence[Published], task: str) -> list[Published]:
        """What it prints of a task, each number once: some tables repeat the rows of others."""
        here = [one for one in published if one.table in self.tables and one.task == task]
        return list({(one.objective, one.setting, one.metric): one for one in reversed(here)}.values())[::-1]


WEAM = ByLanguage(
    "WEAM",
    (1, 2),
    "from mBERT, a model for each pair of languages, two epochs of its parallel text; English of TLM and WEAM is the "
    "mean of the three",
)
PPA = ByLanguage(
    "PPA",
    (2, 4, 5),
    "from mBERT, with all of MultiNLI or SQuAD and its machine translation; 250k, 600k and 2M are sentence pairs a "
    "language; its translate-train is with code-switched pairs unless it says without",
)
WAYS = (
    "ZS: fine-tuned on the source alone. TT (translate-train): also on translations of its training set. TT-CS: also "
    "on the pairs whose first text is in one language and whose second in the other."
)


def by_language(
    made: Continued, task: str, paper: ByLanguage, published: Sequence[Published], scale: str, runs: tuple[str, ...]
) -> Table:
    """A row for each model, way to fine-tune it and metric that is printed, and the paper's rows after them.

    Languages are those of the paper that the task was tested in, so that means are over the same ones; where it has
    none of the task, they are all.
    """
    printed = paper.among(published, task) if made.source == THEIRS else []
    theirs = {_language(one) for one in printed}
    others = [name for name in made.languages(task) if name in theirs or not printed]
    languages, ways = [made.source, *others], made.ways(task)
    rows: list[tuple[str, ...]] = []
    metrics = list(dict.fromkeys(one.metric for one in printed)) or [PRIMARY[task]]
    for metric in metrics:
        for model in made.models:
            for way in ways:
                scores = [made.scored(model, task, language, metric, way) for language in languages]
                means = (together(scores[1:]), together(scores))
                rows.append((made.title(model), way, metric_title(metric), OURS, *map(shown, (*scores, *means))))
    first = len(rows)
    for metric in metrics:
        of_metric = [one for one in printed if one.metric == metric]
        for name, setting in dict.fromkeys((one.objective, _setting(one)) for one in of_metric):
            values = {
                _language(one): one.value for one in of_metric if (one.objective, _setting(one)) == (name, setting)
            }
            known = (percent(values[language]) if language in values else MISSING for language in languages)
            averages = (
                percent(fmean(values[language] for language in part)) if part and values.keys() >= {*part} else MISSING
                for part in (others, languages)
            )
            rows.append((name, setting or "zero-shot", metric_title(metric), PUBLISHED, *known, *averages))
    tables = sorted({one.table for one in printed})
    note = f"{units_note(made.results.records, [task])}{told_over(made)}."
    note = f"{WAYS} {note}" if ways != [ZERO_SHOT] else note
    if printed:
        which = " and ".join(map(str, tables))
        note += f" Published ({paper.paper}, Table{'s' * (len(tables) > 1)} {which}): {paper.made_with}."
        note += " Means are over the languages of this table, the paper’s too."
    return Table(
        f"{task_title(task)} by language, from {made.source}, beside {paper.paper}, percent; {scale}",
        ("model", "fine-tuning", "metric", "source", *languages, "mean of the others", "mean of all"),
        tuple(rows),
        note,
        frozenset(range(first, len(rows))),
        runs,
        labels=4,
    )


def _language(one: Published) -> str:
    return one.setting.rpartition(": ")[2]


def _setting(one: Published) -> str:
    """What was varied, without the language."""
    return one.setting.rpartition(": ")[0]

"""A task by language as a paper prints it, with our numbers: WEAM's Tables 1 and 2, PPA's 2, 4 and 5."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from analysis.papers.xlm_align.continued import ZERO_SHOT, Continued, printed_cells
from analysis.papers.xlm_align.continued_tables import OF_LANGUAGES, continued_table
from analysis.records.record import Published
from analysis.report.table import OURS, PUBLISHED, Table
from analysis.tasks.catalog import PRIMARY, metric_title, task_title


@dataclass(frozen=True)
class ByLanguage:
    """A paper's tables of tasks by language, and what their numbers come from."""

    paper: str
    tables: tuple[int, ...]
    about: str

    def among(self, study: Continued, task: str) -> list[Published]:
        """What it prints of a task, each number once: some tables repeat the rows of others."""
        here = [
            p for p in study.results.published if (p.paper, p.task) == (self.paper, task) and p.table in self.tables
        ]
        return list({(p.objective, p.setting, p.language, p.metric): p for p in reversed(here)}.values())[::-1]


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


def tables_by_language(study: Continued, scale: str) -> Iterator[tuple[str, Table]]:
    """The tables of each paper whose objective was learnt or, of PPA, where translations were."""
    for paper in (WEAM, PPA):
        learnt = any(name.startswith(paper.paper) for name in study.learnt)
        for task in study.tasks:
            if (paper is PPA and len(study.ways(task)) > 1) or (learnt and paper.among(study, task)):
                yield f"{paper.paper.lower()}-{task}", by_language(study, task, paper, scale)


def by_language(study: Continued, task: str, paper: ByLanguage, scale: str) -> Table:
    """A row for each model, way to fine-tune it and metric that is printed, and the paper's rows after them.

    Languages are those of the paper that the task was tested in, so that means are over the same ones; where it has
    none of the task, they are all.
    """
    printed = paper.among(study, task) if study.source == "en" else []
    theirs = {one.language for one in printed}
    languages = [study.source, *(name for name in study.languages(task) if name in theirs or not printed)]
    metrics, ways = list(dict.fromkeys(one.metric for one in printed)) or [PRIMARY[task]], study.ways(task)
    rows: list[tuple[str, ...]] = []
    for metric in metrics:
        for model in study.models:
            for way in ways:
                cells = study.cells(model, task, languages, metric=metric, way=way)
                rows.append((study.title(model), way, metric_title(metric), OURS, *cells))
    for metric in metrics:
        values: dict[tuple[str, str], dict[str, float]] = {}
        for one in printed:
            if one.metric == metric:
                values.setdefault((one.objective, one.setting), {})[one.language] = one.value
        for (name, setting), its in values.items():
            cells = printed_cells(its, languages)
            rows.append((name, setting or "zero-shot", metric_title(metric), PUBLISHED, *cells))
    tables = sorted({one.table for one in printed})
    about = {"tasks": [task], "task": task_title(task), "paper": paper.paper, "about": paper.about}
    about["tables"] = f"{'s' * (len(tables) > 1)} {' and '.join(map(str, tables))}"
    header = ("model", "fine-tuning", "metric", "source", *languages, *OF_LANGUAGES)
    parts = [*["ways"] * (ways != [ZERO_SHOT]), *["published"] * bool(printed)]
    return continued_table(study, "by-language", scale, header, rows, 4, parts, **about)

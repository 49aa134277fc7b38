"""Which objective carries most over, in a sentence or two."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.papers.align_mlm.ranking import noise, ranked
from analysis.papers.equal_terms.means import over_tasks
from analysis.report.table import percent
from analysis.results.results import Results


def equal_terms_findings(results: Results) -> Iterator[str]:
    """The best mean over tasks and the next, for each derived language."""
    for transform in results.transforms:
        found = ranked(results, lambda name: over_tasks(results, name, transform), +1)  # noqa: B023
        if found is None:
            continue
        best, following = (results.objective_title(name) for name in (found.best, found.next))
        under = f"Under {results.transform_title(transform)}"
        value, next_value = percent(found.value), percent(found.next_value)
        over = f"in the mean of {len(results.tasks)} tasks"
        if found.leads:
            yield (
                f"{under}, {best} has the highest zero-shot scores, {value} % {over}; next {following}, "
                f"{next_value} %, beyond seed noise."
            )
        else:
            yield (
                f"{under}, no objective leads in zero-shot scores {over} ({best} {value} %, {following} "
                f"{next_value} %), {noise(results)}."
            )

"""Which objective carries most over, in a sentence or two."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.papers.align_mlm.ranking import ranked
from analysis.papers.equal_terms.means import over_tasks
from analysis.report.table import percent
from analysis.results.results import Results


def equal_terms_findings(results: Results) -> Iterator[str]:
    """The best mean over tasks and the next, for each derived language."""
    for transform in results.transforms:
        found = ranked(results, lambda name: over_tasks(results, name, transform), +1)  # noqa: B023
        if found is None:
            continue
        told = "beyond seed noise" if found.decided else "not beyond seed noise"
        best, following = (results.objective_title(name) for name in (found.best, found.next))
        yield (
            f"Under {results.transform_title(transform)}, {best} has the highest zero-shot scores, "
            f"{percent(found.value)} % in the mean of {len(results.tasks)} tasks; next {following}, "
            f"{percent(found.next_value)} %, {told}."
        )

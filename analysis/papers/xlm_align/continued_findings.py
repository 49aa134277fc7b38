"""What came of pretraining further, in a few sentences."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from analysis.papers.xlm_align.continued import Continued
from analysis.report.table import percent
from analysis.report.verdicts import listed
from analysis.results.measured import BySeed, mean
from analysis.results.together import together
from analysis.tasks.catalog import PRIMARY, metric_title, task_title


def continued_findings(made: Continued) -> Iterator[str]:
    """The means over gold sets, over pairs of languages and over languages, of each model."""
    for aligner in made.aligners:
        told = _told(made, lambda model: together([made.errors(model, gold, aligner) for gold in made.sets]))  # noqa: B023
        if told:
            yield f"Mean AER over {len(made.sets)} gold sets by {aligner}, layer {made.layer}: {told}."
    if made.pairs:
        told = _told(made, lambda model: together([made.found(model, pair, "cosine") for pair in made.pairs]))
        over = f"{len(made.pairs)} ordered pairs of languages, layer {made.layer}"
        yield f"Translations found by cosine, mean over {over}: {told}."
    for task in made.tasks:
        told = _told(made, lambda model: made.transferred(model, task))  # noqa: B023
        many = len(made.languages(task))
        over = f"mean over {many} other languages" if many > 1 else "in one other language"
        yield f"{task_title(task)} ({metric_title(PRIMARY[task])}), zero-shot, {over}: {told}."


def _told(made: Continued, values: Callable[[str], BySeed]) -> str:
    known = ((made.title(model), mean(values(model))) for model in made.models)
    return listed([f"{title} {percent(estimate.mean)} %" for title, estimate in known if estimate])

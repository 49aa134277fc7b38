"""WEAM's and PPA's tables, and XLM-Align's of XTREME: their numbers and their averages."""

import pytest

from calque.analysis.papers.published import published
from calque.analysis.records.record import Published

Row = dict[str, float]


def one(task: str, metric: str) -> dict[str, float]:
    """A column of Table 1, by model."""
    rows: list[Published] = [p for p in published("xlm_align", 1) if (p.task, p.metric) == (task, metric)]
    return {p.objective: round(100 * p.value, 1) for p in rows}


@pytest.mark.parametrize("model", ["mBERT", "XLM", "XLM-R", "XLM-Align"])
def test_the_average_of_xtreme_is_that_of_seven_tasks_with_questions_by_both_metrics(model: str) -> None:
    plain = [one(task, metric)[model] for task, metric in (("pos", "f1_bare_tags"), ("ner", "f1"), ("nli", "accuracy"))]
    plain.append(one("paraphrase", "accuracy")[model])
    both = [(one(task, "f1")[model] + one(task, "exact")[model]) / 2 for task in ("xquad", "mlqa", "tydiqa")]
    assert abs(sum(plain + both) / 7 - one("average", "mean")[model]) <= 0.05 + 1e-9
    if model == "XLM-Align":
        assert round(sum(plain + both) / 7 + 1e-9, 1) == one("average", "mean")[model] == 68.9

"""The metric that stands beside the paper's numbers is the paper's, where there are any."""

import pytest

from analysis.papers.align_mlm.figures import compared_metrics
from analysis.records.record import Published
from tests.analysis.toy import joined, toy_records


@pytest.mark.parametrize(
    ("table", "measure", "metric", "compared"),
    [
        (3, "DELTA", "f1_bare_tags", "f1_bare_tags"),
        (3, "ZS", "f1_bare_tags", "accuracy"),  # no Delta to stand beside
        (8, "DELTA", "f1_bare_tags", "accuracy"),  # the table of alignment repeats some
        (3, "DELTA", "accuracy", "accuracy"),
    ],
)
def test_pos_is_compared_by_what_the_paper_prints_of_its_delta(
    table: int, measure: str, metric: str, compared: str
) -> None:
    number = Published("ALIGN-MLM", table, "MLM", "trans.inv", measure, "pos", metric, 0.4)
    found = compared_metrics(joined(toy_records(1), [number]))
    assert found == {"nli": "accuracy", "ner": "f1", "pos": compared}


def test_a_task_that_was_not_measured_is_not_compared() -> None:
    pos = [record for record in toy_records(1) if record.task == "pos"]
    assert compared_metrics(joined(pos)) == {"pos": "accuracy"}

"""A score of what examples try is that of these examples alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.tasks.diagnostics import by_diagnostic
from analysis.tasks.ner import NER
from analysis.tasks.nli import NLI

rows = st.lists(st.tuples(st.sampled_from("enc"), st.sampled_from("enc"), st.sampled_from(["", "passive", "number"])))


@given(rows)
def test_diagnostics_divide_the_examples_that_have_one(rows: list[tuple[str, str, str]]) -> None:
    gold, said, tried = ([row[i] for row in rows] for i in range(3))
    scores = by_diagnostic(NLI(), gold, said, tried)
    assert set(scores) == {f"accuracy of {name}" for name in tried if name}
    for name in ("passive", "number"):
        own = [a == b for a, b, c in rows if c == name]
        if own:
            score = scores[f"accuracy of {name}"]
            assert (score.value, score.count) == (sum(own) / len(own), len(own))
            assert score.items and sum(score.items.numbers[0]) == sum(own)


def test_a_metric_that_is_not_defined_for_what_is_tried_is_refused() -> None:
    with pytest.raises(ValueError):
        by_diagnostic(NER(), [["O"], ["B-PER"]], [["O"], ["O"]], ["none", "some"])

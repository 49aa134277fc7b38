import pytest

from analysis.records.items import Items
from analysis.tasks.score import Score, accuracy


def test_accuracy_is_over_labels_not_over_examples() -> None:
    score = accuracy([["a", "b", "c"], ["a"]], [["a", "b", "x"], ["a"]])
    assert score == Score(0.75, 4, Items.over([2, 1], [3, 1]))


def test_accuracy_of_predictions_of_another_length_is_refused() -> None:
    with pytest.raises(ValueError):
        accuracy([["a", "b"]], [["a"]])
    with pytest.raises(ValueError):
        accuracy([["a"], ["b"]], [["a"]])


def test_accuracy_of_nothing_is_not_defined() -> None:
    with pytest.raises(ValueError, match="no label"):
        accuracy([[]], [[]])

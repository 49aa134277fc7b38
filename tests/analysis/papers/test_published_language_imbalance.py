"""The numbers of Schäfer et al. that ours stand beside."""

from calque.analysis.papers.published import notes, published

PAPER = "language_imbalance"


def test_token_efficiency_is_a_ratio_as_it_is_quoted() -> None:
    numbers = {number.setting: number.value for number in published(PAPER)}
    assert numbers == {"2 languages, 50/50": 0.89, "2 languages, 90/10": 2.08, "10 languages, nine clones": 3.56}
    assert {(number.measure, number.metric, number.task) for number in published(PAPER)} == {
        ("token efficiency", "ratio", "")
    }
    assert "autoregressive" in notes(PAPER)[0]

"""Claims about imbalance, on records that decide them one way and the other."""

from dataclasses import replace

import pytest

from analysis.papers.language_imbalance.conditions import Efficiencies
from analysis.papers.language_imbalance.tables import higher_efficiency, imbalance_claims
from analysis.results.measured import Measured
from analysis.statistics.verdicts import FAILS, HOLDS, ONE_SEED, UNDECIDED
from tests.analysis.mixed import LOSSES, mixed


def verdicts(losses: dict[str, float], seeds: int = 3) -> dict[str, str]:
    """By claim, of MLM."""
    results = mixed(losses, seeds=seeds)
    claims = [claim for claim in imbalance_claims(results) if claim.text.startswith("MLM: ")]
    return {claim.text.removeprefix("MLM: "): claim.verdict.verdict for claim in claims}


EXPECTED = {
    "the token efficiency of the small is above 1 at 90/10",
    "the token efficiency of the small is above 1 at 90/5/5",
    "the token efficiency of the small is above 1 at 90/10, against a language alone that takes as many steps",
    "the token efficiency of the small is above 1 at 90/5/5, against a language alone that takes as many steps",
    "token efficiency of the small is higher at 90/10 than at 50/50",
    "token efficiency of the small is higher at 90/5/5 than at 33.33/33.33/33.33",
    "token efficiency of the small is higher with 3 languages (90/5/5) than with 2 (90/10)",
    "imbalance helps transfer to the small on POS: 90/10 against 50/50",
    "imbalance helps transfer from the small on POS: 90/10 against 50/50",
    "imbalance helps transfer to the small on POS: 90/5/5 against 33.33/33.33/33.33",
    "imbalance helps transfer from the small on POS: 90/5/5 against 33.33/33.33/33.33",
    "imbalance aligns more held-out types, 90/10 against 50/50",
    "imbalance aligns more held-out types, 90/5/5 against 33.33/33.33/33.33",
}


def test_what_the_paper_finds_holds_on_records_like_its() -> None:
    assert verdicts(LOSSES) == dict.fromkeys(EXPECTED, HOLDS)


def test_the_contrary_does_not_hold() -> None:
    turned = verdicts({"50-50": 2.75, "90-10": 3.75, "33.33-33.33-33.33": 2.5, "90-5-5": 3.9})
    efficient = {name for name in EXPECTED if "above 1" in name and "as many steps" not in name}
    assert {name for name, verdict in turned.items() if verdict == HOLDS} == efficient, "500 ids are worth 1,000 alone"
    assert {name for name, verdict in turned.items() if verdict == FAILS} == EXPECTED - efficient
    assert (
        turned[
            "the token efficiency of the small is above 1 at 90/10, against a language alone that takes as many steps"
        ]
        == FAILS
    )


def test_one_seed_decides_nothing() -> None:
    assert set(verdicts(LOSSES, seeds=1).values()) == {ONE_SEED}


@pytest.mark.parametrize(("small", "loss"), [("90-10", 4.5), ("50-50", 1.5)])
def test_nothing_rests_on_the_end_of_a_curve(small: str, loss: float) -> None:
    """A loss above the curve may have any lower efficiency, and one below it any higher one."""
    found = verdicts(LOSSES | {small: loss})
    assert found["token efficiency of the small is higher at 90/10 than at 50/50"] == UNDECIDED
    safe = verdicts({"50-50": 4.5, "90-10": 1.5})
    assert safe["token efficiency of the small is higher at 90/10 than at 50/50"] == UNDECIDED, "seeds do not differ"
    assert (found["the token efficiency of the small is above 1 at 90/10"] == UNDECIDED) == (small == "90-10")


def around(log: float, *beyond: int) -> Efficiencies:
    """Three seeds of about one efficiency."""
    logs = {seed: Measured(log + off, None) for seed, off in enumerate((-0.01, 0.0, 0.02))}
    return Efficiencies(logs, frozenset(beyond))


@pytest.mark.parametrize(
    ("ours", "theirs", "verdict"),
    [
        (around(0.5), around(1.5), FAILS),
        (around(0.5, 1), around(1.5), UNDECIDED),
        (around(0.5), around(1.5, -1), UNDECIDED),
        (around(0.5), around(1.5, 1), UNDECIDED),
        (around(1.6, 1), around(0.5), HOLDS),
        (around(1.6), around(0.5, -1), HOLDS),
        (around(1.6, -1), around(0.5), UNDECIDED),
    ],
)
def test_a_number_that_may_be_higher_fails_no_claim(ours: Efficiencies, theirs: Efficiencies, verdict: str) -> None:
    """And one that may be lower lets none hold; the seeds of both differ a little."""
    shifted = replace(theirs, logs={seed: replace(one, value=one.value * 1.02) for seed, one in theirs.logs.items()})
    assert higher_efficiency(ours, shifted).verdict == verdict

"""Tables of mixtures: our numbers, and the paper's beside them."""

from dataclasses import replace

import pytest

from calque.analysis.papers.language_imbalance.conditions import Efficiencies
from calque.analysis.papers.language_imbalance.tables import (
    higher_efficiency,
    imbalance_claims,
    imbalance_findings,
    imbalance_tables,
)
from calque.analysis.report.table import MISSING, OURS, PUBLISHED
from calque.analysis.results.measured import Measured
from calque.analysis.statistics.verdicts import FAILS, HOLDS, ONE_SEED, UNDECIDED
from tests.analysis.mixed import LOSSES, mixed


def test_efficiency_has_a_row_for_each_mixture_and_objective() -> None:
    (name, table), _ = imbalance_tables(mixed(), "toy")
    assert name == "token-efficiency"
    ours = [row for row in table.rows if row[3] == OURS]
    assert len(ours) == 2 * len(LOSSES)
    assert ours[2][:6] == ("2", "90/10", "MLM", OURS, "2", "0")
    assert ours[2][6:8] == ("2.500", "2.750 ± 0.027")
    assert ours[2][8] == "1.41", "of the main language, whose seeds do not differ"
    assert ours[2][9].startswith("4.76 [4.6")
    assert ours[2][10].startswith("2.83 [2.7")
    assert table.published == {len(ours), len(ours) + 1}
    assert [row for row in table.rows if row[3] == PUBLISHED] == [
        ("2", "50/50", "autoregressive", PUBLISHED, *[MISSING] * 5, "0.89", MISSING),
        ("2", "90/10", "autoregressive", PUBLISHED, *[MISSING] * 5, "2.08", MISSING),
    ]


def test_ends_of_curves_are_marked() -> None:
    (_, table), _ = imbalance_tables(mixed({"90-10": 4.5, "50-50": 1.5}), "toy")
    assert [row[9].split()[0] for row in table.rows if row[2] == "MLM"] == ["≤2.00", "≥8.00"]


def test_transfer_has_every_direction() -> None:
    _, (name, table) = imbalance_tables(mixed(), "toy")
    assert name == "transfer"
    row = next(row for row in table.rows if row[:3] == ("3", "90/5/5", "MLM"))
    assert [cell.split()[0] for cell in row[3:]] == ["50.0", "40.0", "95.0", "95.0", "25.0", "12.5", "6.2"]
    assert next(row for row in table.rows if row[1] == "90/10")[-1] == MISSING, "one small language has no other"
    assert len(table.header) == 3 + 4 + 3


def test_findings_say_what_tables_show() -> None:
    said = list(imbalance_findings(mixed()))
    assert said[0].startswith("With MLM the token efficiency of the small languages is 4.76 [")
    assert "at 90/10 and 2.38 [" in said[0]
    assert "zero-shot POS accuracy from the main language to the small is 45.0 % at 90/10 and 25.0 at 50/50" in said[1]


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


def test_numbers_of_languages_are_compared_where_there_are_two() -> None:
    said = "token efficiency of the small is higher with"
    two = {name: loss for name, loss in LOSSES.items() if name in ("50-50", "90-10")}
    assert any(name.startswith(said) for name in verdicts(LOSSES))
    assert "token efficiency of the small is higher at 90/10 than at 50/50" in verdicts(two)
    assert not any(name.startswith(said) for name in verdicts(two))


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

import pytest

from calque.analysis.papers.align_mlm import claims
from calque.analysis.papers.align_mlm.claims import align_mlm_claims
from calque.analysis.records.record import ALIGNMENT
from calque.analysis.statistics.verdicts import FAILS, HOLDS, UNDECIDED
from tests.analysis.runs import number
from tests.analysis.toy import joined


def scores(objective, deltas, transform="trans.inv", count=2000):
    return [
        number(transform, objective, seed, measure, "pos", "accuracy", value, count)
        for seed, delta in enumerate(deltas)
        for measure, value in (("SUP", 0.9), ("ZS", 0.9 - delta))
    ]


def aligned(objective, shares, metric="held-out", transform="trans.inv"):
    return [
        number(transform, objective, seed, ALIGNMENT, "", metric, share, 1000, 300)
        for seed, share in enumerate(shares)
    ]


def test_rho_below_the_bound_fails_and_about_it_is_undecided():
    names = [(o, t) for o in ("MLM", "XLM", "DICT-MLM", "ALIGN-MLM") for t in ("trans", "trans.inv")]

    def rho(*deltas):
        records = []
        for place, ((objective, transform), delta) in enumerate(zip(names, deltas, strict=True)):
            records += scores(objective, [delta, delta], transform)
            records += aligned(objective, [0.1 * place] * 2, "all", transform)
        return claims.correlated(joined(records), "pos", 0.7)

    falls = rho(0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1)
    rises = rho(0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
    mixed = rho(0.8, 0.5, 0.7, 0.6, 0.1, 0.4, 0.3, 0.2)
    assert [found.verdict for found in (falls, rises, mixed)] == [HOLDS, FAILS, UNDECIDED]
    assert (
        "ρ = 1.000" in falls.because
        and "ρ = -1.000" in rises.because
        and "8 cells of 2 seeds" in falls.because
    )
    assert falls.p and rises.p and mixed.p
    assert falls.p == rises.p == pytest.approx(2 / 10_000) and 0.05 < mixed.p <= 1


def test_changed_words_are_compared_with_the_unchanged_transform():
    worse = scores("MLM", [0.30, 0.31, 0.32], "trans.agg") + scores("MLM", [0.10, 0.11, 0.121], "trans")
    found = {(c.text, c.verdict.verdict) for c in align_mlm_claims(joined(worse)) if c.family == "morphology"}
    assert {verdict for _, verdict in found} == {HOLDS} and len(found) == 1
    better = scores("MLM", [0.10, 0.11, 0.121], "trans.agg") + scores("MLM", [0.30, 0.31, 0.32], "trans")
    assert [c.verdict.verdict for c in claims.changed_words(joined(better))] == [FAILS]
    assert not [*claims.changed_words(joined(scores("MLM", [0.1, 0.2], "trans.agg")))]
    assert not [
        *claims.changed_words(
            joined(scores("MLM", [0.1, 0.2], "trans.inv") + scores("MLM", [0.1, 0.2], "trans"))
        )
    ]

from dataclasses import replace
from itertools import product

import pytest

from calque.analysis.papers import align_mlm as claims
from calque.analysis.papers.primary import NAME, PrimaryClaims
from calque.analysis.records.record import ALIGNMENT, Floor
from calque.analysis.results import Results
from calque.analysis.verdicts import AT_FLOOR, FAILS, HOLDS, ONE_SEED, UNDECIDED
from tests.analysis.runs import number, runs
from tests.analysis.toy import joined
from tests.refusals import refusal

ORDER = """
text = "From ALIGN-MLM to DICT-MLM and MLM"
paper = "Table 3"
measure = "DELTA"
task = "pos"
ascending = [["ALIGN-MLM", "trans.inv"], ["DICT-MLM", "trans.inv"], ["MLM", "trans.inv"]]
"""
MORE = """
text = "ALIGN-MLM aligns more"
measure = "alignment"
types = "held-out"
ascending = [["MLM", "trans.inv"], ["ALIGN-MLM", "trans.inv"]]
"""
RHO = """
text = "They go together"
measure = "correlation"
task = "pos"
above = 0
"""
SMALL, MIDDLE, LARGE = (0.010, 0.012, 0.015), (0.110, 0.113, 0.117), (0.390, 0.410, 0.440)
NOISY = (0.0, 0.5, 0.2)


def written(folder, *claims):
    file = folder / f"{NAME}.toml"
    file.write_text("".join(f"[[claims]]{claim}" for claim in claims))
    return PrimaryClaims.read(file)


def scores(objective, deltas, transform="trans.inv", sup=0.9):
    return [
        number(transform, objective, seed, measure, "pos", "accuracy", value, 2_000)
        for seed, delta in enumerate(deltas)
        for measure, value in (("SUP", sup), ("ZS", sup - delta))
    ]


def aligned(objective, shares, metric="held-out", transform="trans.inv"):
    numbered = enumerate(shares)
    return [number(transform, objective, k, ALIGNMENT, "", metric, v, 1_000, 300) for k, v in numbered]


def rows(claims, records):
    table = claims.table(joined(records))
    assert table
    return [dict(zip(table.header, row, strict=True)) for row in table.rows]


def order(align, dictionary, mlm):
    return scores("ALIGN-MLM", align) + scores("DICT-MLM", dictionary) + scores("MLM", mlm)


@pytest.mark.parametrize(
    ("records", "verdict", "agreement"),
    [
        (order(SMALL, MIDDLE, LARGE), HOLDS, "agrees"),
        (order(SMALL, LARGE, MIDDLE), FAILS, "disagrees"),
        (order(SMALL, MIDDLE, NOISY), UNDECIDED, "undecided"),
        (order(SMALL[:1], MIDDLE[:1], LARGE[:1]), ONE_SEED, "undecided"),
    ],
)
def test_order_is_as_certain_as_its_weakest_comparison(records, verdict, agreement, tmp_path):
    (row,) = rows(written(tmp_path, ORDER), records)
    assert (row["verdict"], row["agreement"], row["source"]) == (verdict, agreement, "Table 3")


INTERVENED = """
text = "A rotation is worth more than one by shuffled pairs"
measure = "ZS"
task = "pos"
ascending = [["MLM", "trans.inv", "rotation by shuffled pairs"], ["MLM", "trans.inv", "rotation"]]
"""
ROTATED = """
text = "A rotation aligns more of MLM's held-out types"
measure = "alignment"
ascending = [["MLM", "trans.inv", "held-out"], ["MLM", "trans.inv", "held-out-rotated"]]
"""
BEYOND = """
text = "An entry is worth more with ALIGN-MLM than with MLM"
measure = "ZS"
task = "pos"
ascending = [["ALIGN-MLM", "trans.inv", "no-entry"], ["ALIGN-MLM", "trans.inv", "entry"]]
beyond = [["MLM", "trans.inv", "no-entry"], ["MLM", "trans.inv", "entry"]]
"""


def zero_shot(objective, metric, values):
    numbered = enumerate(values)
    return [number("trans.inv", objective, k, "ZS", "pos", metric, v, 2_000) for k, v in numbered]


@pytest.mark.parametrize(("low", "high", "verdict"), [(SMALL, LARGE, HOLDS), (LARGE, SMALL, FAILS)])
def test_cells_may_be_interventions_types_or_words(low, high, verdict, tmp_path):
    records = zero_shot("MLM", "accuracy after rotation by shuffled pairs", low)
    records += zero_shot("MLM", "accuracy after rotation", high)
    records += aligned("MLM", low, "held-out") + aligned("MLM", high, "held-out-rotated")
    for objective, shares in (("ALIGN-MLM", high), ("MLM", low)):
        records += zero_shot(objective, "no-entry", (0.1, 0.2, 0.3))
        entries = [0.1 * (seed + 1) + share for seed, share in enumerate(shares)]
        records += zero_shot(objective, "entry", entries)
    found = rows(written(tmp_path, INTERVENED, ROTATED, BEYOND), records)
    assert [row["verdict"] for row in found] == [verdict] * 3


@pytest.mark.parametrize(("sign", "verdict"), [(1, HOLDS), (-1, FAILS)])
def test_correlations_use_all_cells(sign, verdict, tmp_path):
    names, records = ("MLM", "XLM", "DICT-MLM", "ALIGN-MLM"), []
    for place, (objective, transform) in enumerate(product(names, ("trans", "trans.inv", "trans.perm"))):
        delta = 0.3 - sign * place / 50
        records += scores(objective, (delta, delta + 0.001), transform)
        records += aligned(objective, (place / 20, place / 20 + 0.01), "all", transform)
    (row,) = rows(written(tmp_path, RHO), records)
    assert row["verdict"] == verdict and "12 cells of 2 seeds" in row["evidence"]


def test_differences_at_the_floor_are_undecided(tmp_path):
    records = order(SMALL, MIDDLE, LARGE)
    floor = Floor("majority", "majority", "pos", "accuracy", 0.95, 2_000, "trans.inv", "source")
    table = written(tmp_path, ORDER).table(Results(runs(records), records, floors=[floor]))
    assert table.rows[0][1] == AT_FLOOR


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("[[claims]", None, "the primary claims are not valid TOML"),
        (f"seeds = 3\n[[claims]]{ORDER}", None, "nothing else"),
        (f"[[claims]]{ORDER}\n[[claims]]{ORDER}", 8, "two claims have the same text"),
        (f"\n[[claims]]{ORDER}[[ claims ]] # the next\nmeasure = 'ZS'", 8, "missing fields: text"),
        (f"[[claims]]{ORDER}".replace('"DELTA"', '"delta"'), 1, "did you mean DELTA?"),
        (f"[[claims]]{ORDER}".replace('task = "pos"', ""), 1, "DELTA needs a task"),
        (f"[[claims]]{MORE}".replace("held-out", "heldout"), 1, "held-out, dictionary, all"),
        (f"[[claims]]{ORDER}above = 0.1", 1, "no bound"),
        (f"[[claims]]{RHO}".replace("above = 0", "above = nan"), 1, "above should be a"),
        (f"[[claims]]{ORDER}".replace(', "trans.inv"', ""), 1, "expected two or more cells"),
        (f"[[claims]]{RHO}ascending = [['MLM', 'trans']]", 1, "only a bound"),
        (f"[[claims]]{INTERVENED}".replace('"rotation"', '"rotations"'), 1, "no intervention"),
        (f"[[claims]]{ROTATED}".replace("held-out-rotated", "held-out-turned"), 1, "no kind of types"),
        (f"[[claims]]{BEYOND}".replace("beyond = [[", 'beyond = [["MLM", "trans"], ['), 1, "need two cells"),
    ],
)
def test_wrong_claims_are_rejected_with_their_line(text, line, said, tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text(text)
    message = refusal(PrimaryClaims.read, file)
    assert message.startswith(f"{file}:{line}: " if line else f"{file}: ") and said in message


def test_claims_are_unchanged_if_all_runs_noted_them(tmp_path):
    claims, records = written(tmp_path, ORDER), order(SMALL, MIDDLE, LARGE)
    for noted, others in (((claims.digest,), 0), ((), 9), (("", claims.digest), 9), (("0" * 64,), 9)):
        made = [replace(run, claims=noted) for run in runs(records)]
        results = Results(made, records)
        table = claims.table(results)
        assert table and ("changed after the runs" in table.title) == bool(others)
        assert (f"{others} of 9 runs" in table.note) == bool(others) == bool(claims.change(results))


def test_correlation_claims_by_their_bound():
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
    assert falls.p == rises.p == pytest.approx(2 / 10_000) and 0.05 < mixed.p <= 1

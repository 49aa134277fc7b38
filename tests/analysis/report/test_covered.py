"""What intervals cover is said of every study."""

from __future__ import annotations

from dataclasses import replace

from analysis.papers.align_mlm.claims import align_mlm_claims
from analysis.papers.align_mlm.tables import scores_table
from analysis.report.claims_table import claims_table
from analysis.report.table import coverage, covered
from analysis.results.results import Results
from tests.analysis.runs import runs
from tests.analysis.toy import toy_records

PARTS = ("the text", "the dictionary")


def test_what_seeds_draw_and_what_they_share() -> None:
    assert covered(()) == "seeds share the corpus, the dictionary and the test items"
    assert covered(PARTS) == "each seed draws anew the text and the dictionary; the rest is shared"
    assert coverage([0, 1, 2], ()) == f"over 3 seeds of the model alone: {covered(())}"
    assert coverage([0, 1, 2], PARTS) == f"over 3 seeds of model and data: {covered(PARTS)}"
    assert coverage([4], PARTS).startswith("over test items: one seed")


def test_tables_and_claims_say_what_their_seeds_draw() -> None:
    """Only what every model's seed draws counts."""
    records = toy_records(2)
    all_runs = runs(records)
    for first, said, of_data in (
        (PARTS, "each seed draws anew the text and the dictionary", "verdicts are about other draws of these too"),
        (PARTS[:1], "each seed draws anew the text;", "verdicts are about other draws of these too"),
        ((), "seeds share the corpus", "verdicts say nothing of other data"),
    ):
        redrawn = [replace(all_runs[0], redrawn=first), *(replace(run, redrawn=PARTS) for run in all_runs[1:])]
        results = Results(redrawn, records)
        assert said in scores_table(results, "toy").note
        claims = claims_table(results, align_mlm_claims(results), "toy")
        assert claims is not None
        note = claims.note
        assert of_data in note and said[1:] in note

"""Objectives on equal terms: their table, figure and claims hold what records say."""

from dataclasses import replace

import numpy as np
import pytest

from calque.analysis.papers.equal_terms import (
    STRONGEST,
    equal_terms_claims,
    equal_terms_findings,
    equal_terms_tables,
    objectives_figure,
    objectives_table,
    over_tasks,
)
from calque.analysis.papers.looks import BY_NAME
from calque.analysis.records.record import ALIGNMENT, Floor, Record
from calque.analysis.report.drawing import INK
from calque.analysis.results.results import Results
from calque.analysis.statistics.verdicts import FAILS, HOLDS, ONE_SEED
from tests.analysis.drawn import coordinates, legend, panels, points
from tests.analysis.runs import number, runs
from tests.analysis.toy import OBJECTIVES, TRANSFORMS, joined, toy_records

GAINS = {"MLM": 0.0, "XLM": -0.1, "ALIGN-MLM": 0.2}


def scores(seeds: int = 3) -> list[Record]:
    """ZS of objectives that gain so much over MLM, on two tasks, and their alignment."""
    made = []
    for seed in range(seeds):
        for place, (objective, gain) in enumerate(GAINS.items()):
            noise = 0.001 * seed * (place + 1)
            for task, metric in (("pos", "accuracy"), ("ner", "f1")):
                for measure, value in (("ZS", 0.5 + gain + noise), ("SUP", 0.9)):
                    made.append(number("trans", objective, seed, measure, task, metric, value, 500))
            made.append(number("trans", objective, seed, ALIGNMENT, "", "held-out", 0.4 - gain + noise, 300, 400))
    return made


def test_the_mean_of_tasks_needs_every_task() -> None:
    records = scores()
    results = joined(records)
    mean = over_tasks(results, "XLM", "trans")
    assert {seed: one.value for seed, one in mean.items()} == {s: pytest.approx(0.4 + 0.002 * s) for s in range(3)}
    gone = [r for r in records if not (r.task == "ner" and r.run == "trans XLM 1")]
    assert over_tasks(joined(gone), "XLM", "trans").keys() == {0, 2}


def test_each_objective_is_held_against_mlm_by_transfer_and_by_alignment() -> None:
    results = joined(scores())
    claims = equal_terms_claims(results)
    found = {(claim.family, claim.text.split()[0]): claim.verdict.verdict for claim in claims}
    assert found["transfer", "ALIGN-MLM"] == HOLDS and found["transfer", "XLM"] == FAILS
    assert found["alignment", "ALIGN-MLM"] == FAILS and found["alignment", "XLM"] == HOLDS
    one = joined(scores(1))
    assert {claim.verdict.verdict for claim in equal_terms_claims(one) if claim.family == "transfer"} == {ONE_SEED}
    without = joined([r for r in scores() if " MLM " not in r.run])
    assert not [c for c in equal_terms_claims(without) if c.family == "transfer"]


def test_the_table_has_a_row_for_each_objective_and_one_for_the_floor() -> None:
    records = scores()
    floors = [
        Floor("majority", "majority", task, metric, value, 500, "trans", "source")
        for task, metric, value in (("pos", "accuracy", 0.2), ("ner", "f1", 0.1))
    ]
    table = objectives_table(Results(runs(records), records, (), floors), "toy")
    assert [row[0] for row in table.rows] == ["MLM", "XLM", "ALIGN-MLM", STRONGEST]
    *_, low = table.rows
    assert low[3:] == ("10.0", "20.0", "15.0", "–", "–", "–")
    zs = [100 * np.mean([0.4 + 0.002 * seed for seed in range(3)])]
    assert table.rows[1][5].startswith(f"{zs[0]:.1f} ±") and table.rows[1][6].startswith("90.0")
    assert dict(equal_terms_tables(joined(records), "toy")).keys() == {"objectives", "scores", "alignment"}


def test_a_task_that_shallow_features_learn_in_the_derived_language_is_said_to_be_one() -> None:
    records = scores()

    def note(value: float) -> str:
        shallow = Floor("shallow", "shallow features", "pos", "accuracy", value, 500, "trans", "trans", surface=True)
        return objectives_table(Results(runs(records), records, (), [shallow]), "toy").note

    assert "shallow" not in note(0.89)
    assert "shallow features that learn it there reach 93.0, and SUP of 3 of 3 objectives no more" in note(0.93)


def test_the_finding_names_the_best_and_says_whether_seeds_tell_it_from_the_next() -> None:
    (said,) = equal_terms_findings(joined(scores()))
    assert "ALIGN-MLM has the highest zero-shot scores, 70.3 %" in said and said.endswith("beyond seed noise.")
    assert "next MLM, 50.1 %, beyond" in said
    one = next(iter(equal_terms_findings(joined(scores(1)))))
    assert "has the highest" not in one and "no objective leads" in one and "(ALIGN-MLM 70.0 %, MLM 50.0 %)" in one


def test_the_figure_shows_every_task_and_their_mean() -> None:
    plot = objectives_figure(joined(toy_records()), "toy")
    assert plot is not None and len(plot.figure.axes) == 4
    assert {r.measure for r in plot.records} == {"ZS"}
    assert {(r.task, r.metric) for r in plot.records} == {("nli", "accuracy"), ("ner", "f1"), ("pos", "accuracy")}
    rows = [label.get_text() for label in plot.figure.axes[0].get_yticklabels()]
    assert len(rows) == len(OBJECTIVES) * len(TRANSFORMS) and "ALIGN-MLM, Trans + Inv" in rows
    assert objectives_figure(joined([r for r in toy_records() if not r.task]), "toy") is None


@pytest.mark.parametrize("languages", [("trans",), ("trans", "trans.inv")])
def test_scores_stand_in_their_rows_and_baselines_across_the_rows_of_their_language(languages: tuple[str, ...]) -> None:
    records = [replace(r, run=r.run.replace("trans", name), language=name) for name in languages for r in scores()]
    floors = [Floor("majority", "majority", "pos", "accuracy", 0.2, 500, name, "source") for name in languages]
    floors.append(Floor("shallow", "shallow", "pos", "accuracy", 0.9, 500, "trans", "trans", surface=True))
    plot = objectives_figure(Results(runs(records), records, (), floors), "toy")
    assert plot and list(plot.floors) == floors[: len(languages)]
    drawn = panels(plot)
    assert list(drawn) == ["NER, F1", "POS, accuracy", "mean of 2 tasks"]
    titles = [f"{objective}, {language}" for language in ("Trans", "Trans + Inv") for objective in GAINS]
    rows = [label.get_text() for label in drawn["NER, F1"].get_yticklabels()]
    assert rows == (titles if len(languages) > 1 else list(GAINS))
    for title, panel in drawn.items():
        for place, objective in enumerate(GAINS):
            mean = 100 * (0.5 + GAINS[objective] + 0.001 * (place + 1))  # of three seeds
            marks = points(panel, BY_NAME[objective].marker, BY_NAME[objective].colour)
            expected = [(mean, place + len(GAINS) * number) for number in range(len(languages))]
            assert marks == [pytest.approx(point) for point in expected]
        across = [[end.tolist() for end in coordinates(line)] for line in panel.lines if line.get_color() == INK]
        lengths = [[-0.5 + 3 * number, 2.5 + 3 * number] for number in range(len(languages))]
        assert across == ([[pytest.approx([20, 20]), length] for length in lengths] if "POS" in title else [])
    assert list(legend(plot.figure)) == [STRONGEST]

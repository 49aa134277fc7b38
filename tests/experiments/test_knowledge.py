"""A study with facts, from its languages to its report; and that no other study asks for any."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from experiments.steps.knowledge import Knowledge
from experiments.transfer_grid import TransferGrid

from analysis.records.record import BOTH, CARRIED, KNOWN
from derive.errors import BadInput
from derive.pocket.facts import Facts
from experiments.names import study
from experiments.override import override
from tests.experiments.conftest import TINY, Done, Heard, finished


@pytest.fixture(scope="module")
def facts() -> TransferGrid:
    """The study of a minute with a few facts, under MLM and PreAlign."""
    sizes = [setting for setting in TINY if not setting.startswith("source.n")]
    made = override(study("knowledge"), [*sizes, "objectives=MLM,PREALIGN", "seeds=0", "train.warmup=0"])
    return replace(made, source=replace(made.source, facts=Facts(subjects=9, values=3, mentions=40)))


@pytest.fixture(scope="module")
def done(facts: TransferGrid, tmp_path_factory: pytest.TempPathFactory) -> Done:
    return finished(Done(tmp_path_factory.mktemp("facts"), facts), 1, Heard())


def test_every_model_is_asked_and_the_report_tells(done: Done) -> None:
    for cell in done.study.cells:
        records = {(r.measure, r.metric): r for r in done.evaluations(cell)["knowledge"].read()}
        assert {measure for measure, _ in records} == {KNOWN, CARRIED, BOTH}
        assert records[KNOWN, "all"].count == records[CARRIED, "all"].count == records[BOTH, "all"].count == 18
        assert {record.step for record in records.values()} == {12}
        assert records[CARRIED, "chance"].value == pytest.approx(1 / 3)
    table = (done.report / "knowledge.md").read_text(encoding="utf-8")
    assert "| MLM " in table and "| PreAlign " in table and "| Trans + Inv " in table
    assert (done.report / "figures" / "figure-knowledge.png").is_file()
    page = (done.report / "report.html").read_text(encoding="utf-8")
    assert "Facts carried" in page and "PreAlign is MLM that first" in page


def test_both_phases_of_prealign_take_the_steps_of_mlm(done: Done) -> None:
    mlm, prealign = done.study.cells
    assert [start.objective.name for start in done.study.starts] == ["PREALIGN-FIRST"]
    assert done.step(prealign).all_steps == done.step(mlm).all_steps == 12
    shown = [done.step(cell).open().facts["shown"]["source"]["rows"] for cell in (*done.study.starts, mlm, prealign)]
    assert 0 < shown[0] <= 8 and shown[1] > shown[2]


def test_what_the_source_alone_states_is_counted(done: Done) -> None:
    told = done.study.languages(done.root).open().facts["languages"]["trans.inv"]
    assert told["left out"] == {"sentences of the source alone": 18 * 40}
    assert told["in"]["sentences"] - told["out"]["sentences"] == 18 * 40


def test_facts_are_asked_for_where_a_study_has_some(facts: TransferGrid, tiny: TransferGrid) -> None:
    for made, asked in ((facts, True), (tiny, False)):
        steps = made.steps(Path())
        assert any(step.place.name == "knowledge" for step in steps) is asked
        assert any(type(step) is Knowledge for step in steps) is asked


def test_facts_that_the_language_cannot_state_are_a_mistake_of_the_study(facts: TransferGrid) -> None:
    wrong = replace(facts, source=replace(facts.source, facts=Facts(values=500)))
    assert any("facts of 500 values and 4 relations take 2000 words" in mistake for mistake in wrong.mistakes())
    with pytest.raises(BadInput, match="source: facts of 500 values"):
        override(wrong, [])

from dataclasses import replace

import pytest

from calque.analysis.records.record import BOTH, CARRIED, KNOWN
from calque.derive.pocket.facts import Facts
from calque.experiments.settings.catalogue import study
from calque.experiments.settings.override import override
from calque.experiments.study.measuring import read_measured
from tests.experiments.conftest import TINY, finished


@pytest.fixture(scope="module")
def facts():
    sizes = [setting for setting in TINY if not setting.startswith("source.n")]
    made = override(study("knowledge"), [*sizes, "objectives=MLM,PREALIGN", "seeds=0", "train.warmup=0"])
    return with_facts(made, Facts(subjects=9, values=3, mentions=40))


def with_facts(study, facts):
    return study.changed(source=replace(study.languages.source, facts=facts))


@pytest.fixture(scope="module")
def done(facts, tmp_path_factory):
    return finished(tmp_path_factory.mktemp("facts"), facts)


@pytest.mark.slow
def test_knowledge_is_measured_and_reported(done):
    for model in done.models():
        found = read_measured(done.measures(model)["knowledge"]).records
        records = {(record.measure, record.metric): record for record in found}
        assert {measure for measure, _ in records} == {KNOWN, CARRIED, BOTH}
        assert (
            records[KNOWN, "all"].count == records[CARRIED, "all"].count == records[BOTH, "all"].count == 18
        )
        assert {record.step for record in records.values()} == {12}
        assert records[CARRIED, "chance"].value == pytest.approx(1 / 3)
    table = (done.report / "knowledge.md").read_text()
    assert "| MLM " in table and "| PreAlign " in table and "| Trans + Inv " in table
    assert (done.report / "figures" / "figure-knowledge.png").is_file()
    page = (done.report / "report.html").read_text()
    assert "Facts carried" in page and "PreAlign first trains MLM" in page

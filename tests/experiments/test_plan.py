import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calque.derive.errors import BadInput
from calque.experiments.data.recipe import inputs, read_recipe, sizes
from calque.experiments.plan import CARDS, card, describe_files, on_cards, plan
from calque.experiments.report.summary import extent
from calque.experiments.settings.catalogue import study
from calque.experiments.settings.override import override
from calque.experiments.study.models import Cost
from calque.pretrain.cost import TrainingBytes


def test_planned_time_is_proportional_to_steps(tiny):
    once, twice = plan(tiny, 1), plan(override(tiny, ["train.steps=24"]), 1)
    lines = (
        extent(override(tiny, [f"objectives={objectives}"])) for objectives in ("MLM,XLM", "WEAM-after-MLM")
    )
    assert [re.findall(r"\b[1-9]\d*", line) for line in lines] == [
        ["2", "12", "8", "32"],
        ["1", "12", "8", "32", "1"],
    ]
    assert sum(cost.flops for _, cost in twice.runs) == pytest.approx(
        2 * sum(cost.flops for _, cost in once.runs)
    )
    assert twice.seconds == pytest.approx(2 * once.seconds)
    assert once.seconds == pytest.approx(sum(once.seconds_of(cost) for _, cost in once.runs))


CARD = TrainingBytes(fixed=16e8, row=2e8, logits=1e8, most=13e9)
COST = Cost(steps=10, parameters=10**8, flops=1e18, memory=0, batch=256, card=CARD)


@given(st.sampled_from(CARDS), st.integers(1, 128))
def test_two_cards_take_half_the_time(kind, number):
    (seconds, _, pieces), (half, _, fewer) = on_cards(COST, kind, number), on_cards(COST, kind, 2 * number)
    assert half == pytest.approx(seconds / 2)
    assert fewer <= pieces


def test_too_large_models_and_too_many_cards_are_rejected():
    with pytest.raises(BadInput, match="100 M parameters does not fit on one L40S"):
        on_cards(replace(COST, card=replace(CARD, fixed=48e9)), card("L40S"), 1)
    with pytest.raises(BadInput, match="257 cards are too many for 256 rows per step"):
        on_cards(COST, card("L40S"), 257)


def test_missing_files_are_listed_with_their_command(tmp_path, monkeypatch):
    monkeypatch.setenv("CALQUE_DATA", str(tmp_path))
    monkeypatch.delenv("CALQUE_STANZA", raising=False)
    planned = study("align_mlm")
    paths = inputs(planned)
    assert tmp_path / "nli" / "xnli" / "test-en.tsv" in paths and len(paths) == 10
    said = describe_files(planned, planned.name)
    assert said.startswith("files: 10 of 10 are missing or empty\n`calque data fetch align_mlm")
    assert f"gets 10 of them ({sizes(read_recipe('align_mlm').downloads)}):" in said
    for path in paths:
        assert str(path.parent) in said and path.name in said
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("something")
    assert describe_files(planned, planned.name) == "files: 10 needed, none missing\n"

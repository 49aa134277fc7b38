"""The plan: estimates that agree with what would be built, and nothing run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from derive.errors import BadInput
from experiments.cli import app
from experiments.names import study
from experiments.override import override
from experiments.plan import describe, plan
from experiments.planning.cards import card
from experiments.study import Study
from experiments.summary import extent
from pretrain.model import build
from pretrain.objectives.dict_mlm import DictMLM
from pretrain.objectives.mlm import MLM
from pretrain.objectives.xlm import xlm


def test_parameters_are_those_of_the_models(tiny: Study) -> None:
    made = replace(tiny, objectives=(MLM(), xlm(), DictMLM()))
    for run, trained in zip(plan(made, 1).runs, made.models(Path()), strict=True):
        training = trained.training
        model = build(made.model, training.rows, 3 if training.objective.language_embeddings else 1)
        assert run.cost.parameters == sum(parameter.numel() for parameter in model.parameters())


def test_ids_operations_and_time_follow_the_steps(tiny: Study) -> None:
    once, twice = plan(tiny, 1), plan(override(tiny, ["train.steps=24"]), 1)
    assert "2 models of 12 steps of 8 x 32 ids" in extent(tiny)
    assert twice.runs[0].cost.flops == pytest.approx(2 * once.runs[0].cost.flops)
    assert twice.seconds == pytest.approx(2 * once.seconds)
    assert once.seconds == pytest.approx(sum(run.seconds for run in once.runs))


def test_jobs_share_the_time_and_add_up_in_memory(tiny: Study) -> None:
    made = override(tiny, ["seeds=0,1"])
    one, three, many = (plan(made, jobs) for jobs in (1, 3, 100))
    assert three.seconds == pytest.approx(one.seconds / 2)  # four runs in two rounds
    assert three.memory == 3 * one.memory
    assert many.jobs == 4
    assert many.seconds == pytest.approx(one.seconds / 4)


def test_a_model_that_begins_with_another_takes_its_part_of_the_time(tiny: Study) -> None:
    """A start and what begins with it take together as long as a model that begins with nothing."""
    alone, after = (plan(override(tiny, [f"objectives={name}"]), 1) for name in ("MLM", "MLM-after-MLM"))
    assert len(after.runs) == 2
    assert after.seconds == pytest.approx(alone.seconds)


def test_micro_batches_need_less_memory(tiny: Study) -> None:
    assert plan(override(tiny, ["train.grad_accumulation=4"]), 1).memory < plan(tiny, 1).memory


def test_cards_are_told_with_what_is_assumed_of_them(tiny: Study) -> None:
    text, made = describe(tiny, 1, card("A100"), 2), plan(tiny, 1)
    assert text.startswith(describe(tiny, 1)[:200])
    assert "on 2 A100: 312 TFLOP/s each in bfloat16 (NVIDIA, A100 80GB), of which 40% are assumed" in text
    assert "GiB a card with --set train.grad_accumulation=1" in text
    with pytest.raises(BadInput, match="3 cards for 2 rows a step"):
        describe(override(tiny, ["train.batch=2"]), 1, card("A100"), 3)
    assert made.runs[0].cost.card.fixed == 16 * made.runs[0].cost.parameters


def test_a_card_is_offered_on_the_command_line_and_must_be_one() -> None:
    run = CliRunner().invoke(app, ["plan", "pocket", "--kind", "H1000"])
    assert run.exit_code == 2 and "did you mean H100?" in run.output
    assert CliRunner().invoke(app, ["plan", "pocket", "--cards", "0"]).exit_code == 2


def test_the_paper_s_grid_needs_no_data_to_be_planned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CALQUE_DATA", raising=False)
    text = describe(study("align_mlm"), None)
    assert all(f"trans.inv/{name}/seed-0" in text for name in ("MLM", "XLM", "DICT-MLM", "ALIGN-MLM"))
    assert "66.79 M" in text
    assert "days" in text

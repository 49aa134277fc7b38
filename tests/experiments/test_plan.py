"""The plan: estimates that agree with what would be built, laws of cards, and files that are missing."""

import math
import os
import re
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calque.derive.errors import BadInput
from calque.experiments.data.recipe import read_recipe, sizes
from calque.experiments.models import Cost
from calque.experiments.names import study
from calque.experiments.override import override
from calque.experiments.plan import (
    CARDS,
    USABLE,
    Card,
    by_recipe,
    card,
    describe,
    describe_files,
    inputs,
    on_cards,
    plan,
)
from calque.experiments.study import Study
from calque.experiments.summary import extent
from calque.pretrain.cost import TrainingBytes
from calque.pretrain.model import build
from calque.pretrain.objectives.dict_mlm import DictMLM
from calque.pretrain.objectives.mlm import MLM
from calque.pretrain.objectives.xlm import XLM


def test_parameters_are_those_of_the_models(tiny: Study) -> None:
    made = replace(tiny, objectives=(MLM(), XLM(), DictMLM()))
    for (_, cost), trained in zip(plan(made, 1).runs, made.models(Path()), strict=True):
        training = trained.training
        model = build(made.model, training.rows, 3 if training.objective.traits.language_embeddings else 1)
        assert cost.parameters == sum(parameter.numel() for parameter in model.parameters())


def test_ids_operations_and_time_follow_the_steps(tiny: Study) -> None:
    once, twice = plan(tiny, 1), plan(override(tiny, ["train.steps=24"]), 1)
    lines = (extent(override(tiny, [f"objectives={objectives}"])) for objectives in ("MLM,XLM", "WEAM-after-MLM"))
    assert [re.findall(r"\b[1-9]\d*", line) for line in lines] == [["2", "12", "8", "32"], ["1", "12", "8", "32", "1"]]
    assert sum(cost.flops for _, cost in twice.runs) == pytest.approx(2 * sum(cost.flops for _, cost in once.runs))
    assert twice.seconds == pytest.approx(2 * once.seconds)
    assert once.seconds == pytest.approx(sum(once.seconds_of(cost) for _, cost in once.runs))


def test_jobs_share_the_time_and_add_up_in_memory(tiny: Study) -> None:
    made = override(tiny, ["seeds=0,1"])
    one, three, many = (plan(made, jobs) for jobs in (1, 3, 100))
    assert three.seconds == pytest.approx(one.seconds / 2)  # four runs in two rounds
    assert three.memory == 3 * one.memory
    assert many.jobs == 4
    assert many.seconds == pytest.approx(one.seconds / 4)


def test_a_model_that_begins_with_another_takes_its_part_of_the_time(tiny: Study) -> None:
    """A start and what begins with it take together as long as a model that begins with nothing."""
    studies = [override(tiny, [f"objectives={name}"]) for name in ("MLM", "MLM-after-MLM")]
    alone, after = (plan(study, 1) for study in studies)
    assert [" 1 more " in extent(study) for study in studies] == [False, True]
    assert len(after.runs) == 2
    assert after.seconds == pytest.approx(alone.seconds)


def test_the_paper_s_grid_needs_no_data_to_be_planned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CALQUE_DATA", raising=False)
    text = describe(study("align_mlm"), None)
    assert all(f"trans.inv/{name} " in text for name in ("MLM", "XLM", "DICT-MLM", "ALIGN-MLM"))
    assert "66.79 M" in text
    assert "days" in text


CARD = TrainingBytes(fixed=16e8, row=2e8, logits=1e8, most=13e9)
COST = Cost(steps=10, parameters=10**8, flops=1e18, memory=0, batch=256, card=CARD)


def test_time_is_worked_out_by_hand() -> None:
    """10^18 operations on two A100 at 40 % of 312 TFLOP/s."""
    assert on_cards(COST, card("A100"), 2)[0] == pytest.approx(1e18 / (2 * 0.4 * 312e12))


@given(st.sampled_from(CARDS), st.integers(1, 128))
def test_twice_the_cards_take_half_the_time_and_no_more_memory(kind: Card, number: int) -> None:
    (seconds, _, pieces), (half, _, fewer) = on_cards(COST, kind, number), on_cards(COST, kind, 2 * number)
    assert half == pytest.approx(seconds / 2)
    assert fewer <= pieces


@given(st.sampled_from(CARDS), st.integers(1, 256), st.floats(1e6, 3e9))
def test_the_fewest_micro_batches_that_fit_are_taken(kind: Card, number: int, row: float) -> None:
    on_card = replace(CARD, row=row)
    (_, memory, pieces), usable = on_cards(replace(COST, card=on_card), kind, number), USABLE * kind.memory
    assert memory <= usable
    if pieces > 1:
        assert on_card.of(math.ceil(math.ceil(COST.batch / number) / (pieces - 1))) > usable


def test_a_model_that_does_not_fit_and_more_cards_than_rows_are_refused() -> None:
    with pytest.raises(BadInput, match="100 M parameters and a row of it do not fit on L40S"):
        on_cards(replace(COST, card=replace(CARD, fixed=48e9)), card("L40S"), 1)
    with pytest.raises(BadInput, match="257 cards for 256 rows per step"):
        on_cards(COST, card("L40S"), 257)


REVISION = "0123456789abcdef" * 2 + "01234567"


@dataclass(frozen=True)
class Part:
    files: tuple[Path, ...]
    other: int = 3


@dataclass(frozen=True)
class Whole:
    parts: dict[str, tuple[Part, ...]]
    start: Path | None = None
    name: str = "whole"


def test_a_model_of_the_hub_is_no_file_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    named = Path(f"some/model@{REVISION}")
    assert inputs(Whole({}, named)) == []
    assert inputs(Whole({}, Path("some/model"))) == [Path("some/model")]
    named.mkdir(parents=True)
    assert inputs(Whole({}, named)) == [named]


def test_what_is_there_is_counted_and_what_is_not_is_told_with_its_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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
        path.write_text("something", encoding="utf-8")
    assert describe_files(planned, planned.name) == "files: all 10 are there\n"


def test_the_study_s_own_recipe_comes_first_and_then_the_one_with_the_fewest_files(tmp_path: Path) -> None:
    pud = tmp_path / "ud" / "UD_English-PUD" / "en_pud-ud-test.conllu"
    dev, encoder = tmp_path / "nli" / "xnli" / "dev-en.tsv", tmp_path / "models" / "xlm-roberta-base"
    assert by_recipe([pud], "ud") == {"ud": [pud]}
    assert by_recipe([pud, dev], "xtreme") == {"xtreme": [pud, dev]}
    assert by_recipe([dev, encoder], "nothing") == {"xlm_r_base": [encoder], "xnli": [dev]}


def test_what_cannot_be_read_counts_as_lacking(tmp_path: Path) -> None:
    """An empty file and a pipe are there, and no study can read them; a folder may be meant."""
    empty, pipe, folder, full = (tmp_path / name for name in ("empty.tsv", "pipe.tsv", "folder", "full.tsv"))
    empty.touch()
    os.mkfifo(pipe)
    folder.mkdir()
    full.write_text("a\tO\n", encoding="utf-8")
    said = describe_files(Whole({"x": (Part((empty, pipe, full)),)}, folder), "")
    assert said.splitlines()[0] == "files: 2 of 4 are missing or empty"
    assert "empty.tsv pipe.tsv" in " ".join(said.split()) and "full.tsv" not in said

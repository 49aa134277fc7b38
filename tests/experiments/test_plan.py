import pytest

from calque.experiments.data.recipe import inputs, read_recipe, sizes
from calque.experiments.plan import describe_files, plan
from calque.experiments.settings.catalogue import named_study
from calque.experiments.settings.override import override


def test_planned_time_is_proportional_to_steps(tiny):
    once, twice = plan(tiny, 1), plan(override(tiny, ["train.steps=24"]), 1)
    operations = [sum(cost.flops for _, cost in planned.runs) for planned in (once, twice)]
    assert operations[1] == pytest.approx(2 * operations[0])
    assert twice.seconds == pytest.approx(2 * once.seconds)
    assert once.seconds == pytest.approx(sum(once.seconds_of(cost) for _, cost in once.runs))


def test_encoding_a_pair_again_costs_operations(tiny):
    """PPA encodes all ids for TLM, and then half of them with gradients and half without."""
    planned = plan(override(tiny, ["objectives=MLM,PPA,PPA-alone,XLM-ALIGN"]), 1)
    mlm, *others = (cost.flops for _, cost in planned.runs)
    assert [flops / mlm for flops in others] == pytest.approx([5 / 3, 2 / 3, 1 + 10 / 36])


def test_missing_files_are_listed_with_their_command(tmp_path, monkeypatch):
    monkeypatch.setenv("CALQUE_DATA", str(tmp_path))
    monkeypatch.delenv("CALQUE_STANZA", raising=False)
    planned = named_study("align_mlm")
    paths = inputs(planned)
    assert tmp_path / "nli" / "xnli" / "test-en.tsv" in paths and len(paths) == 10
    said = describe_files(planned, planned.name)
    assert said.startswith("files: 10 of 10 are missing or empty\n`calque data fetch align_mlm")
    assert f"downloads 10 of them ({sizes(read_recipe('align_mlm').downloads)})" in said
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("something")
    assert describe_files(planned, planned.name) == "files: 10 needed, none missing\n"

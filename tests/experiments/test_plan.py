import pytest

from calque.experiments.data.recipe import inputs
from calque.experiments.plan import describe_files
from calque.experiments.settings.catalogue import named_study
from calque.experiments.settings.override import override


def operations(study):
    return [step.config.cost().flops for step in study.trained()]


def test_operations_are_proportional_to_steps(tiny):
    once, twice = operations(tiny), operations(override(tiny, ["train.steps=24"]))
    assert twice == pytest.approx([2 * flops for flops in once])


def test_encoding_a_pair_again_costs_operations(tiny):
    """PPA encodes all ids for TLM, and then half of them with gradients and half without."""
    mlm, *others = operations(override(tiny, ["objectives=MLM,PPA,PPA-alone,XLM-ALIGN"]))
    assert [flops / mlm for flops in others] == pytest.approx([5 / 3, 2 / 3, 1 + 10 / 36])


def test_missing_files_are_listed_with_their_command(tmp_path, monkeypatch):
    monkeypatch.setenv("CALQUE_DATA", str(tmp_path))
    monkeypatch.delenv("CALQUE_STANZA", raising=False)
    planned = named_study("align_mlm")
    paths = inputs(planned)
    assert tmp_path / "nli" / "xnli" / "test-en.tsv" in paths and len(paths) == 10
    said = describe_files(planned)
    recipes = ["multinli", "panx", "ud", "wikitext_103", "xnli"]
    assert said.startswith(f"files: 10 of 10 are missing or empty\n`calque data fetch {' '.join(recipes)}`")
    assert "` downloads 10 of them\n" in said
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("something")
    assert describe_files(planned) == "files: 10 needed, none missing\n"

"""A study's files: all that it names are found, and those that are missing are told with what fetches them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import pytest

from experiments.data.recipe import read_recipe
from experiments.names import study
from experiments.planning.files import by_recipe, describe_files, inputs

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


def test_paths_are_found_wherever_they_stand_and_once() -> None:
    one, two, three = Path("a/b"), Path("c"), Path("d")
    whole = Whole({"x": (Part((one, two)), Part((one,)))}, three)
    assert inputs(whole) == [one, two, three]
    assert inputs(Whole({})) == []


def test_a_model_of_the_hub_is_no_file_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    named = Path(f"some/model@{REVISION}")
    assert inputs(Whole({}, named)) == []
    assert inputs(Whole({}, Path("some/model"))) == [Path("some/model")]
    named.mkdir(parents=True)
    assert inputs(Whole({}, named)) == [named]


def test_pocket_needs_nothing() -> None:
    assert describe_files(study("pocket"), "pocket") == ""


def test_what_is_there_is_counted_and_what_is_not_is_told_with_its_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CALQUE_DATA", str(tmp_path))
    monkeypatch.delenv("CALQUE_STANZA", raising=False)
    planned = study("align_mlm")
    paths = inputs(planned)
    assert tmp_path / "nli" / "xnli" / "test-en.tsv" in paths and len(paths) == 10
    said = describe_files(planned, planned.name)
    assert said.startswith("files: 10 of 10 are missing\n`calque data fetch align_mlm")
    places = {path.relative_to(tmp_path).as_posix() for path in paths}
    wanted = [one for one in read_recipe("align_mlm").downloads if any(file.place in places for file in one.outputs)]
    assert f"gets 10 of them (about {sum(one.bytes for one in wanted) / 1e6:,.1f} MB, and beside them about " in said
    for path in paths:
        assert str(path.parent) in said and path.name in said
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("something", encoding="utf-8")
    assert describe_files(planned, planned.name) == "files: all 10 are there\n"


def test_a_file_of_no_recipe_is_told_too(tmp_path: Path) -> None:
    said = describe_files(Whole({"x": (Part((tmp_path / "mine.txt",)),)}), "whole")
    assert said.splitlines()[:2] == ["files: 1 of 1 are missing", "no recipe has 1 of them:"]
    assert said.splitlines()[2].endswith("mine.txt")


def test_of_several_recipes_the_study_s_own_comes_first_and_then_the_one_that_has_most(tmp_path: Path) -> None:
    pud = tmp_path / "ud" / "UD_English-PUD" / "en_pud-ud-test.conllu"
    dev = tmp_path / "nli" / "xnli" / "dev-en.tsv"
    assert by_recipe([pud], "ud") == {"ud": [pud]}
    assert by_recipe([pud, dev], "xtreme") == {"xtreme": [pud, dev]}
    assert by_recipe([dev], "nothing") == {"xnli": [dev]}  # that with the fewest files
    several = [tmp_path / output.place for output in read_recipe("word_alignment").outputs]
    assert by_recipe([*several, dev], "nothing") == {"word_alignment": several, "xnli": [dev]}  # and no part of it


def test_no_recipe_is_named_of_which_little_is_asked_for(tmp_path: Path) -> None:
    """XLM-Align's has hundreds of gigabytes, and the encoder too."""
    encoder = tmp_path / "models" / "xlm-roberta-base"
    assert by_recipe([encoder], "xtreme") == {"xlm_r_base": [encoder]}
    said = describe_files(Whole({"x": (Part((tmp_path / "nli" / "xnli" / "dev-en.tsv",)),)}), "xtreme")
    beside = [one for one in read_recipe("xtreme").downloads if not any("xnli" in file.place for file in one.outputs)]
    known = sum(one.bytes or one.about_bytes for one in beside) / 1e6
    assert f"gets 1 of them (about 17.9 MB, and beside them about {known:,.1f} MB):" in said


@pytest.mark.parametrize("name", ["xtreme", "xtreme_small", "xtreme_curve"])
def test_recipes_have_all_files_of_studies_of_xtreme(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoder = tmp_path / "models" / "xlm-roberta-base"
    monkeypatch.setenv("CALQUE_DATA", str(tmp_path))
    monkeypatch.setenv("CALQUE_ENCODER", str(encoder))
    missing = [path for path in inputs(study(name)) if not path.exists()]
    assert len(missing) > 30 and "" not in by_recipe(missing, "xtreme")


def test_a_folder_is_fetched_by_what_fills_it(tmp_path: Path) -> None:
    assert by_recipe([tmp_path / "align"], "word_alignment") == {"word_alignment": [tmp_path / "align"]}


@pytest.mark.parametrize("name", ["gold_alignments", "manythings"])
def test_digests_that_nobody_states_need_trust(tmp_path: Path, name: str) -> None:
    recipe = read_recipe(name)
    paths = tuple(tmp_path / output.place for output in recipe.outputs)
    said = describe_files(Whole({"x": (Part(paths),)}), name)
    pinned = all(download.pinned for download in recipe.downloads)
    assert (f"`calque data fetch {name}`" in said) == pinned
    assert (f"`calque data fetch {name} --trust`" in said) != pinned


def test_what_cannot_be_read_counts_as_lacking(tmp_path: Path) -> None:
    """An empty file and a pipe are there, and no study can read them; a folder may be meant."""
    empty, pipe, folder, full = (tmp_path / name for name in ("empty.tsv", "pipe.tsv", "folder", "full.tsv"))
    empty.touch()
    os.mkfifo(pipe)
    folder.mkdir()
    full.write_text("a\tO\n", encoding="utf-8")
    said = describe_files(Whole({"x": (Part((empty, pipe, full)),)}, folder), "")
    assert said.splitlines()[0] == "files: 2 of 4 are missing, empty or no files"
    assert "empty.tsv pipe.tsv" in said and "full.tsv" not in said

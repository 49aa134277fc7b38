"""`calque embeddings`: a picture, its numbers, and one line where something is amiss."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from derive.lexicon import read_lexicon, write_lexicon
from experiments.cli import app
from tests.analysis.aligners.conftest import roberta, sentence_pairs
from tests.analysis.measures.test_lexicon import entries

__all__ = ["roberta", "sentence_pairs"]  # fixtures


def run(*words: object) -> tuple[int, str, str]:
    ran = CliRunner().invoke(app, ["embeddings", *map(str, words)])
    return ran.exit_code, ran.stdout, ran.stderr


@pytest.fixture
def lexicon(roberta: Path, tmp_path: Path) -> Path:
    write_lexicon(tmp_path / "lexicon.tsv", entries(roberta))
    return tmp_path / "lexicon.tsv"


def test_a_picture_and_the_cosines_of_each_pair(roberta: Path, lexicon: Path, tmp_path: Path) -> None:
    out = tmp_path / "pairs.png"
    code, said, told = run(lexicon, roberta, roberta, "--title", "before", "--title", "after", "--out", out)
    assert (code, told) == (0, "") and said.splitlines()[-1] == str(out)
    assert out.is_file() and out.with_suffix(".svg").is_file()
    head, *rows = out.with_suffix(".tsv").read_text(encoding="utf-8").splitlines()
    assert head == "source\ttarget\tcount\tcosine, before\tcosine, after" and len(rows) >= 2
    assert all(row.split("\t")[3] == row.split("\t")[4] for row in rows)  # one model twice
    mean = sum(float(row.split("\t")[3]) for row in rows) / len(rows)
    assert said.startswith(f"before: mean cosine {mean:.3f}, ")


def test_what_is_amiss_is_one_line(roberta: Path, lexicon: Path, tmp_path: Path) -> None:
    stop = tmp_path / "stop"
    stop.write_text("".join(f"{entry.source}\n" for entry in read_lexicon(lexicon)), encoding="utf-8")
    for words, expected in (
        ([lexicon, roberta, roberta, "--out", tmp_path / "a.png"], "2 models need as many titles, each another"),
        ([lexicon, roberta, "--out", tmp_path / "a.svg"], "expected the name of a PNG in a folder that is there"),
        ([lexicon, roberta, "--out", tmp_path / "no" / "a.png"], "expected the name of a PNG in a folder that is"),
        ([lexicon, roberta, "--out", tmp_path / "a.png", "--without", stop], "0 entries of the lexicon have two words"),
        ([tmp_path / "none", roberta, "--out", tmp_path / "a.png"], "none: no such file"),
        ([lexicon, tmp_path, "--out", tmp_path / "a.png"], str(tmp_path)),
    ):
        code, said, told = run(*words)
        assert (code, said, told.count("\n")) == (2, "", 1) and expected in told, told
    assert not list(tmp_path.glob("*.png"))

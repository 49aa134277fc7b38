"""`calque lexicon`: from links, or from a saved aligner, to a dictionary."""

from __future__ import annotations

import os
from itertools import islice
from pathlib import Path

import pytest
from typer.testing import CliRunner

from derive.lexicon import read_lexicon
from derive.links.aligner import write_links
from derive.links.fast_align import StatisticalAligner
from derive.pocket.language import Pocket
from derive.readers.parallel import TwoFiles
from experiments.cli import app

PAIRS = 300


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`a` and, in upper case and backwards, `b`; `model`, an aligner that learnt from both, and its `links`."""
    folder = tmp_path_factory.mktemp("lexicon")
    sentences = [sentence.words for sentence in islice(Pocket().sentences(PAIRS), PAIRS)]
    (folder / "a").write_text("".join(" ".join(words) + "\n" for words in sentences), encoding="utf-8")
    turned = (" ".join(word.upper() for word in reversed(words)) for words in sentences)
    (folder / "b").write_text("".join(f"{text}\n" for text in turned), encoding="utf-8")
    pairs = TwoFiles(folder / "a", folder / "b")
    aligner = StatisticalAligner.train(pairs)
    aligner.save(folder / "model")
    write_links(folder / "links", aligner.align_scored(pairs))
    return folder


def run(here: Path, *words: object) -> tuple[int, str, str]:
    ran = CliRunner().invoke(app, ["lexicon", str(here / "a"), str(here / "b"), *map(str, words)])
    return ran.exit_code, ran.stdout, ran.stderr


def test_links_and_the_aligner_that_made_them_give_one_lexicon(here: Path, tmp_path: Path) -> None:
    code, said, told = run(here, "--links", here / "links", "--out", tmp_path / "of-links")
    assert (code, told) == (0, "") and str(tmp_path / "of-links") in said
    assert run(here, "--model", here / "model", "--out", tmp_path / "of-model")[0] == 0
    assert (tmp_path / "of-links").read_bytes() == (tmp_path / "of-model").read_bytes()
    entries = read_lexicon(tmp_path / "of-links")
    right = [entry.count for entry in entries if entry.target == entry.source.upper()]
    assert sum(right) > 0.7 * sum(entry.count for entry in entries) and len(right) > 50
    assert all(entry.count >= 2 and entry.probability >= 0.1 for entry in entries)


def test_thresholds_leave_the_surer_entries(here: Path, tmp_path: Path) -> None:
    def entries(*thresholds: object) -> dict[tuple[str, str], tuple[int, float]]:
        assert run(here, "--links", here / "links", "--out", tmp_path / "made", *thresholds)[0] == 0
        return {(e.source, e.target): (e.count, e.probability) for e in read_lexicon(tmp_path / "made")}

    every = entries("--least-count", 1, "--least-probability", 0)
    few = entries("--least-count", 9, "--least-probability", 0.5)
    assert few == {words: row for words, row in every.items() if row[0] >= 9 and row[1] >= 0.5} != every
    sure = entries("--least-count", 1, "--least-probability", 0, "--least-score", 0.9)
    assert 0 < len(sure) < len(every) and all(sure[words][0] <= every[words][0] for words in sure)


def test_mistakes_are_one_line_and_leave_nothing(here: Path, tmp_path: Path) -> None:
    (tmp_path / "short").write_text("0-0\n")
    (tmp_path / "outside").write_text("0-99\n" * PAIRS)
    os.mkfifo(tmp_path / "pipe")
    out, before = ["--out", tmp_path / "made"], sorted(tmp_path.iterdir())
    for words, expected in (
        (out, "name their file with --links, or an aligner with --model"),
        ([*out, "--links", here / "links", "--model", here / "model"], "name their file with --links"),
        ([*out, "--links", tmp_path / "short"], "short: ends before line 2"),
        ([*out, "--links", tmp_path / "outside"], "outside:1: 0-99 lies outside sentences"),
        ([*out, "--links", here / "links", "--least-count", 10**6], "no entry is left"),
        ([*out, "--model", here], "expected the manifest of fast_align"),
        (["--links", here / "links", "--out", here / "a"], "a: is an input"),
        (["--links", here / "links", "--out", tmp_path], "is a folder or a device; expected the name of a file"),
        (["--links", here / "links", "--out", tmp_path / "pipe"], "pipe: is a folder or a device; expected"),
    ):
        code, said, told = run(here, *words)
        assert (code, said, len(told.splitlines())) == (2, "", 1), told
        assert expected in told
    assert sorted(tmp_path.iterdir()) == before and (tmp_path / "pipe").is_fifo()

"""`calque lexicon`: from links to a dictionary."""

import os
from itertools import islice
from pathlib import Path

import pytest
from typer.testing import CliRunner

from calque.derive.dictionary import read_lexicon, write_lexicon
from calque.derive.links.aligner import line_of, write_lines
from calque.derive.links.fast_align import StatisticalAligner
from calque.derive.pocket.language import Pocket
from calque.derive.readers.parallel import TwoFiles
from calque.experiments.cli import app
from tests.analysis.aligners.conftest import roberta, sentence_pairs
from tests.analysis.measures.test_lexicon import entries as entries_of

__all__ = ["roberta", "sentence_pairs"]  # fixtures

PAIRS = 300


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`a` and, in upper case and backwards, `b`; and the `links` of an aligner that learnt from both."""
    folder = tmp_path_factory.mktemp("lexicon")
    sentences = [sentence.words for sentence in islice(Pocket().sentences(PAIRS), PAIRS)]
    (folder / "a").write_text("".join(" ".join(words) + "\n" for words in sentences), encoding="utf-8")
    turned = (" ".join(word.upper() for word in reversed(words)) for words in sentences)
    (folder / "b").write_text("".join(f"{text}\n" for text in turned), encoding="utf-8")
    pairs = TwoFiles(folder / "a", folder / "b")
    write_lines(folder / "links", map(line_of, StatisticalAligner.train(pairs).align_scored(pairs)))
    return folder


def run(here: Path, *words: object) -> tuple[int, str, str]:
    ran = CliRunner().invoke(app, ["lexicon", str(here / "a"), str(here / "b"), *map(str, words)])
    return ran.exit_code, ran.stdout, ran.stderr


def test_links_give_a_lexicon(here: Path, tmp_path: Path) -> None:
    code, said, told = run(here, "--links", here / "links", "--out", tmp_path / "of-links")
    assert (code, told) == (0, "") and str(tmp_path / "of-links") in said
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
        ([*out, "--links", tmp_path / "short"], "short: has only 1 lines"),
        ([*out, "--links", tmp_path / "outside"], "outside:1: 0-99 is outside sentences"),
        ([*out, "--links", here / "links", "--least-count", 10**6], "no entry is left"),
        (["--links", here / "links", "--out", here / "a"], "a: is an input"),
        (["--links", here / "links", "--out", tmp_path], "is a folder or a device; expected the name of a file"),
        (["--links", here / "links", "--out", tmp_path / "pipe"], "pipe: is a folder or a device; expected"),
    ):
        code, said, told = run(here, *words)
        assert (code, said, len(told.splitlines())) == (2, "", 1), told
        assert expected in told
    assert sorted(tmp_path.iterdir()) == before and (tmp_path / "pipe").is_fifo()


def draw(*words: object) -> tuple[int, str, str]:
    ran = CliRunner().invoke(app, ["embeddings", *map(str, words)])
    return ran.exit_code, ran.stdout, ran.stderr


@pytest.fixture
def lexicon(roberta: Path, tmp_path: Path) -> Path:
    write_lexicon(tmp_path / "lexicon.tsv", entries_of(roberta))
    return tmp_path / "lexicon.tsv"


def test_a_picture_and_the_cosines_of_each_pair(roberta: Path, lexicon: Path, tmp_path: Path) -> None:
    out = tmp_path / "pairs.png"
    code, said, told = draw(lexicon, roberta, roberta, "--title", "before", "--title", "after", "--out", out)
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
        code, said, told = draw(*words)
        assert (code, said, told.count("\n")) == (2, "", 1) and expected in told, told
    assert not list(tmp_path.glob("*.png"))


def test_the_numbers_beside_a_figure_do_not_replace_the_lexicon(tmp_path: Path) -> None:
    lexicon = tmp_path / "lexicon.tsv"
    lexicon.write_text("a\tb\t0.5\t3\n", encoding="utf-8")
    words = ["embeddings", str(lexicon), str(tmp_path / "model"), "--out", str(tmp_path / "lexicon.png")]
    ran = CliRunner().invoke(app, words)
    assert (ran.exit_code, ran.stderr.count("\n")) == (2, 1) and str(lexicon) in ran.stderr
    assert lexicon.read_text(encoding="utf-8") == "a\tb\t0.5\t3\n" and [*tmp_path.iterdir()] == [lexicon]

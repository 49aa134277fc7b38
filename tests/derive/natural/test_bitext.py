"""Sentences and their translations: in columns, in two files."""

import gzip
from collections import Counter
from pathlib import Path

import pytest

from derive.errors import BadInput
from derive.natural.bitext import BitextFiles
from tests.derive.natural.made import written

PAIRS = [("Good day.", "Bonjour."), ("I do.", "Moi aussi."), ("Hi", "Salut")]


def read(files: BitextFiles) -> tuple[list[tuple[str, str]], dict[str, int]]:
    """The pairs of files, and what was left out."""
    left_out, pairs = Counter[str](), []
    for piece in files.pieces():
        pairs += list(zip(*piece.columns(left_out), strict=True))
    return pairs, dict(+left_out)


def test_columns_between_tabs_are_pairs(tmp_path: Path) -> None:
    rows = [f"{i}\t{fr} \t{en}\tCC BY" for i, (en, fr) in enumerate(PAIRS)]
    path = written(tmp_path / "pairs.tsv", [rows[0], "", *rows[1:], "9\t \tAlone.\t"])
    assert read(BitextFiles(path, columns=(2, 1))) == (PAIRS, {"blank lines": 1, "pairs with an empty side": 1})
    with pytest.raises(BadInput, match=r"pairs\.tsv:1: 4 columns between tabs; expected at least 6"):
        read(BitextFiles(path, columns=(2, 5)))
    with pytest.raises(BadInput, match="two different columns, counted from 0, not 1 and 1"):
        BitextFiles(path, columns=(1, 1))


def test_two_files_are_pairs_line_by_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sides = [[*side, "", "", "x" * (not i)] for i, side in enumerate(zip(*PAIRS, strict=True))]
    first = written(tmp_path / "a.en", sides[0])
    second = tmp_path / "a.fr.gz"
    second.write_bytes(gzip.compress("".join(f"{line}\n" for line in sides[1]).encode()))
    for many in (2, 1000):
        monkeypatch.setattr("derive.natural.bitext.MANY", many)
        assert read(BitextFiles(first, second)) == (PAIRS, {"blank lines": 2, "pairs with an empty side": 1})


def test_a_bitext_out_of_step_is_told_with_what_can_be_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = written(tmp_path / "a.en", ["a", "b", "", "d", "e"])
    monkeypatch.setattr("derive.natural.bitext.MANY", 2)
    with pytest.raises(BadInput, match=r"a\.fr: 6 lines for the 5 of \S+a\.en; expected a translation a line$"):
        read(BitextFiles(first, written(tmp_path / "a.fr", ["a", "b", "", "d", "e", "f"])))
    told = r"a\.fr: 4 lines for the 5 .*; line 3 is the first that is blank in one of them only"
    with pytest.raises(BadInput, match=told):
        read(BitextFiles(first, written(tmp_path / "a.fr", ["a", "b", "d", "e"])))


def test_the_head_of_a_bitext(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sides = [written(tmp_path / f"a.{i}", [f"{'long ' * 100}{n}" for n in range(5_000)]) for i in range(2)]
    monkeypatch.setattr("derive.natural.bitext.MANY", 500)
    pairs, _ = read(BitextFiles(*sides, megabytes=1))
    assert len(pairs) == 2_000  # a quarter of a megabyte each 500
    with pytest.raises(BadInput, match="megabytes is 0"):
        BitextFiles(*sides, megabytes=-1)

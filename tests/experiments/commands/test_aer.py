from pathlib import Path

import pytest

from calque.experiments.commands.models import aer

FILES = {
    "gold": "0 1 1 S\n0 2 2 P\n0 3 9 S\n1 1 1 S\n",
    "links": "0-0 1-1\n0-1\n",
    "source": "ein rotes Haus\nja\n",
    "target": "a red house\nyes indeed\n",
}


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        Path(name).write_text(text)
    return tmp_path


def rows(said):
    return [
        [cell.strip() for cell in line.split("|")[1:-1]]
        for line in said.splitlines()
        if line.startswith("| ")
    ]


# A = 3, S = 2, A and S = 1, A and P = 2.
SCORED = ["links", "2", "40.00", "66.67", "50.00", "57.14", "3", "2"]


def test_table_and_exclusions(here, capsys):
    aer(Path("gold"), Path("links"), Path("source"), Path("target"))
    said, told = capsys.readouterr()
    assert rows(said)[1:] == [SCORED]
    assert "1 links outside their sentences" in said
    assert told.startswith("left out: gold:3: the link 3 9, counted from 1")
    assert told.count("\n") == 1


def test_all_links_count_without_sentences(here, capsys):
    aer(Path("gold"), Path("links"))
    said, told = capsys.readouterr()
    assert rows(said)[1:] == [["links", "2", "50.00", "66.67", "33.33", "44.44", "3", "3"]]
    assert told == ""


def test_empty_lines_are_pairs_without_words(here, capsys):
    for name, line in (("source", ""), ("target", "oh"), ("links", "")):
        Path(name).write_text(FILES[name] + line + "\n")
    aer(Path("gold"), Path("links"), Path("source"), Path("target"))
    said, _ = capsys.readouterr()
    assert rows(said)[1:] == [["links", "3", *SCORED[2:]]]
    assert "1 sentence pairs without a link" in said

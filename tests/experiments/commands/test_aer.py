from pathlib import Path

import pytest

from calque.experiments.commands.alignment import aer

FILES = {
    "gold": "0 1 1 S\n0 2 2 P\n0 3 9 S\n1 1 1 S\n",
    "talp": "1-1 2p2 3-9\n1-1\n",
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


@pytest.mark.parametrize("gold", ["gold", "talp"])
def test_table_and_exclusions(here, capsys, gold):
    aer(Path(gold), Path("links"), Path("source"), Path("target"), from_one=True)
    said, told = capsys.readouterr()
    assert rows(said)[1:] == [SCORED]
    assert "1 links outside their sentences" in said
    assert told.startswith(f"left out: {gold}:{3 if gold == 'gold' else 1}: the link 3 9, counted from 1")
    assert told.count("\n") == 1


@pytest.mark.parametrize(("links", "from_one"), [(FILES["links"], None), ("1-1 2-2\n1-2\n", True)])
def test_all_links_count_without_sentences(here, capsys, links, from_one):
    Path("links").write_text(links)
    aer(Path("gold"), Path("links"), links_from_one=from_one)
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

import re
import shutil
import subprocess

import pytest

from calque.analysis.report.table import Table, escaped, latex
from docs.update import table_of
from tests.experiments.committed import ROOT


@pytest.mark.parametrize("start", ["[", "*", " ["])
def test_cells_that_look_like_options_are_protected(start):
    table = Table("title", (f"{start}aaa {start}bbb", "x"), ((f"{start}0.1, 0.2]", "1"), ("b", "2")))
    text = latex(table, "a}b%c d")
    assert text.count("{") == text.count("}")
    assert not re.search(r"(\\\\|rule)\s*[*\[]", text) and "{}" + escaped(start) + "0.1, 0.2] & 1" in text
    assert r"\label{tab:a-b-c-d}" in text


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="no TeX is installed")
@pytest.mark.parametrize(("columns", "rows"), [(2, 15), (20, 15), (2, 60)])
def test_large_tables_compile_and_fit_the_page(columns, rows, tmp_path):
    words = "Δ is −1.3 ± 2.1 points, 95 % [≤ 2], of “MLM’s” ρ → a_b {c} ~ ^ \\ # $ & × "
    header = ("claim", "evidence", *[f"POS F1 on bare tags {i}" for i in range(columns)])
    table = Table(words, header, rows * ((words, 2 * words, *columns * ["34.6 ± 2.1"]),), words)
    packages = latex(table, "a_b").split("\n")[0].removeprefix("% needs ")
    document = tmp_path / "table.tex"
    body = f"\\begin{{document}}\n{latex(table, 'a_b')}\\end{{document}}\n"
    document.write_text(f"\\documentclass{{article}}\n{packages}\n{body}")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", document.name]
    told = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, check=True, errors="replace"
    ).stdout
    assert [line for line in told.splitlines() if "Overfull" in line or "too large" in line] == []


@pytest.mark.parametrize("path", sorted(ROOT.glob("control/*.md")), ids=lambda path: path.stem)
def test_every_row_is_in_latex(path):
    table = table_of(path.read_text())
    text = latex(table, "table")
    assert sum(line.endswith(r"\\") for line in text.splitlines()) == len(table.rows) + 1
    assert text.isascii() or not set(text) & set("±Δ−–ρ")

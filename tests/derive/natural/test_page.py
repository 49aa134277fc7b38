"""The Python of docs/formats.md runs as a script, with two workers and a file of each of its formats."""

import gzip
import lzma
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.derive.natural.made import EN, XX, vocabulary, written

ROOT = Path(__file__).parents[3]
pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed: pip install pyarrow")


def test_the_snippet_of_the_page_runs(tmp_path: Path) -> None:
    from pyarrow import parquet

    page = (ROOT / "docs" / "formats.md").read_text(encoding="utf-8")
    (snippet,) = re.findall(r"```python\n(.*?)```", page, re.S)
    vocabulary(tmp_path / "xlm-r")
    tree = [f"{i}\t{word}\t_\tX\t_\t_\t{i - 1}\t{'dep' if i > 1 else 'root'}\t_\t_" for i, word in enumerate("abc", 1)]
    written(tmp_path / "ud" / "fr.conllu", [*tree, ""])
    written(tmp_path / "panx" / "train-fr.tsv", ["fr:Ana\tB-PER", "fr:dort\tO", ""])
    written(tmp_path / "manythings.tsv", [f"{a}\t{b}\tCC BY" for a, b in zip(EN[:50], XX, strict=False)])
    (tmp_path / "wiki").mkdir()
    (tmp_path / "wiki" / "en.txt.xz").write_bytes(lzma.compress("".join(f"{line}\n" for line in EN).encode()))
    for name, lines in (("en", EN), ("fr", XX)):
        text = "".join(f"{line}\n" for line in lines)
        (tmp_path / f"europarl.{name}.gz").write_bytes(gzip.compress(text.encode()))
    parquet.write_table(pa.table({"content": XX}), tmp_path / "zh.parquet")
    (tmp_path / "snippet.py").write_text(snippet, encoding="utf-8")
    ran = subprocess.run(
        [sys.executable, "snippet.py"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert ran.returncode == 0, ran.stderr
    assert re.fullmatch(r"\{'en': [1-9]\d*, 'fr': [1-9]\d*, 'zh': [1-9]\d*\}\n", ran.stdout)

import re
import subprocess
import sys
from pathlib import Path

import pytest

from calque.derive.pocket.language import Pocket
from tests.experiments.conftest import calque, sets

PAGE = (Path(__file__).parents[2] / "docs" / "own-data.md").read_text()
FILE = re.compile(r"^`([\w.]+)`:\n\n```\n(.*?)^```", re.MULTILINE | re.DOTALL)
STUDY = re.compile(r"^```python\n# (\w+\.py)\n(.*?)^```", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^```console\n(.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.mark.slow
def test_page_shows_its_commands_output(tmp_path):
    for name, text in (*FILE.findall(PAGE), *STUDY.findall(PAGE)):
        (tmp_path / name).write_text(text)
    assert len(STUDY.findall(PAGE)[0][1].strip().splitlines()) <= 15
    for block in COMMAND.findall(PAGE.replace("\\\n    ", "")):  # a continued command is one line
        commands = re.findall(r"^\$ (.*)$", block, re.MULTILINE)
        script = f'calque() {{ "{sys.executable}" -m calque "$@"; }}\n' + "\n".join(commands)
        ran = subprocess.run(
            ["bash", "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        shown = "".join(line for line in block.splitlines(keepends=True) if not line.startswith("$ "))
        assert ran.returncode == 0, ran.stderr
        printed = re.sub(r"^(?:(?:\w+: )?\d.* steps?\b|aligning ).*\n", "", ran.stdout, flags=re.MULTILINE)
        assert re.sub(r"-[0-9a-f]{12}", "-…", printed) == shown


def test_labels_missing_from_training_fail_before_training(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    sentences = list(Pocket(types=300).sentences(400))
    Path("text.txt").write_text("".join(f"{sentence.text}\n" for sentence in sentences))
    labelled = [f"{s.text}\t{'long' if len(s) > 10 else 'short'}\n" for s in sentences[:90]]
    Path("texts.tsv").write_text("".join(["text\tlabel\n", *labelled]))
    Path("other.tsv").write_text("text\tlabel\nIt rains .\tunseen\n")
    settings = ["source=text.txt", "source.text_labels=texts.tsv+other.tsv", "source.text_labels.held_out=20"]
    words = sets(*settings, "tasks=text_labels", "vocabulary=400")
    code, _, err = calque("run", "pocket", "--jobs", "1", *words)
    (error,) = (line for line in err.splitlines() if "error" in line)
    assert code == 2 and "other.tsv" in error and "'unseen'" in error and "long, short" in error
    assert not Path("runs/pocket/trans.inv").exists()

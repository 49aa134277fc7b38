import re
import subprocess
import sys
from pathlib import Path

import pytest

from calque.derive.pocket.language import Pocket
from tests.experiments.conftest import TINY, calque, sets

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
        script = f'calque() {{ "{sys.executable}" -m calque.experiments "$@"; }}\n' + "\n".join(commands)
        ran = subprocess.run(
            ["bash", "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        shown = "".join(line for line in block.splitlines(keepends=True) if not line.startswith("$ "))
        assert ran.returncode == 0, ran.stderr
        printed = re.sub(r"^(?:(?:\w+: )?\d.* steps?\b|aligning ).*\n", "", ran.stdout, flags=re.MULTILINE)
        assert re.sub(r"-[0-9a-f]{12}", "-…", printed) == shown


def label(sentence):
    return "long" if len(sentence) > 10 else "short"


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    sentences = list(Pocket(types=300).sentences(400))
    tables = {
        "text.txt": [s.text for s in sentences],
        "texts.tsv": ["text\tlabel", *(f"{s.text}\t{label(s)}" for s in sentences[:90])],
        "pairs.tsv": [
            "sentence1\tsentence2\tlabel",
            *(f"{s.text}\t{s.text}\t{label(s)}" for s in sentences[:90]),
        ],
        "words.tsv": [
            "\n".join(f"{word}\tL{min(len(word), 5)}" for word in s.words) + "\n" for s in sentences[:90]
        ],
        "other.tsv": ["text\tlabel", "It rains .\tunseen"],
    }
    for name, rows in tables.items():
        (tmp_path / name).write_text("".join(f"{row}\n" for row in rows))
    return tmp_path


KINDS = {"text_labels": "texts.tsv", "pair_labels": "pairs.tsv", "word_labels": "words.tsv"}
OWN = ["source=text.txt", "tasks=text_labels,pair_labels,word_labels"]
for kind, file in KINDS.items():
    OWN[1:1] = [f"source.{kind}={file}", f"source.{kind}.held_out=20"]


@pytest.mark.slow
def test_user_tasks_are_reported(here):
    tiny = [one for one in TINY if not one.startswith(("source", "tasks"))]
    settings = sets(*OWN, *tiny, "objectives=MLM")
    code, _, err = calque("run", "pocket", "--jobs", "1", *settings)
    assert code == 0, err
    (report,) = Path("runs/pocket").glob("report-*")
    page = (report / "report.html").read_text()
    assert all(title in page for title in ("Text labels", "Pair labels", "Word labels", "bag of words"))


def test_labels_missing_from_training_fail_before_training(here):
    other = ["source.text_labels=texts.tsv+other.tsv", "source.text_labels.held_out=20", "vocabulary=400"]
    settings = sets(*OWN, *other)
    code, _, err = calque("run", "pocket", "--jobs", "1", *settings)
    (error,) = (line for line in err.splitlines() if "error" in line)
    assert code == 2 and "other.tsv" in error and "'unseen'" in error and "long, short" in error
    assert not Path("runs/pocket/trans.inv").exists()

"""Stanza from the command line: trained offline, parsing text into shards that outlive a kill."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from itertools import islice
from pathlib import Path

import pytest
from typer.testing import CliRunner

from derive.pocket.language import Pocket
from derive.sources.parsed import SHARD
from derive.treebank import read_treebank, write_treebank
from experiments.cli import app

ROOT = Path(__file__).parents[3]


def parser(*words: str | Path) -> tuple[int, str, str]:
    """Exit code, standard output and standard error of `calque parser ...`."""
    ran = CliRunner().invoke(app, ["parser", *map(str, words)])
    assert ran.exception is None or isinstance(ran.exception, SystemExit), ran.exception
    return ran.exit_code, ran.stdout, ran.stderr


@pytest.fixture
def treebank(tmp_path: Path) -> Path:
    folder = tmp_path / "treebank"
    folder.mkdir()
    write_treebank(folder / "x-train.conllu", islice(Pocket().sentences(40, 1), 40))
    return folder


def test_training_needs_a_treebank(tmp_path: Path, treebank: Path) -> None:
    code, _, told = parser("train", tmp_path, tmp_path / "out")
    assert (code, len(told.splitlines())) == (2, 1)
    assert f"{tmp_path}: no *train*.conllu in it" in told
    write_treebank(treebank / "x-train.conllu", islice(Pocket().sentences(1, 1), 1))
    code, _, told = parser("train", treebank, tmp_path / "out")
    assert code == 2 and "only one sentence; expected more" in told
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_a_training_that_fails_is_one_line_and_a_log(tmp_path: Path, treebank: Path) -> None:
    pytest.importorskip("stanza", reason="Stanza is not installed")
    log = tmp_path / "out.tagger.log"
    (treebank / "x-dev.conllu").write_text("1\tIt\t_\tPRON\t_\t_\t0\troot\t_\t_\n\n")
    (folder := tmp_path / "torch").mkdir()  # a torch that breaks, before Stanza's own
    (folder / "torch.py").write_text("raise RuntimeError('this torch is broken')")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(folder))
        code, _, told = parser("train", treebank, tmp_path / "out")
    assert (code, len(told.splitlines())) == (2, 1)
    assert f"{log}: training Stanza's tagger failed with code 1: RuntimeError: this torch is broken" in told
    assert "Traceback" in log.read_text()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.tagger.log", "torch", "treebank"]


@pytest.mark.slow
def test_fetching_without_a_network_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("stanza", reason="Stanza is not installed")
    for scheme in ("http", "https"):
        monkeypatch.setenv(f"{scheme}_proxy", "http://127.0.0.1:9")  # nobody listens there
    code, _, told = parser("fetch", "en", tmp_path / "out")
    assert (code, len(told.splitlines())) == (2, 1)
    assert "Stanza's models" in told and "cannot be downloaded" in told
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_no_text_and_models_that_are_none_are_refused(tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text("It rains.\n")
    code, _, told = parser("parse", tmp_path / "absent.txt", tmp_path / "out", "--models", tmp_path)
    assert (code, told.split(": ", 1)[1]) == (2, f"{tmp_path / 'absent.txt'}: no such file\n")
    code, _, told = parser("parse", tmp_path / "text.txt", tmp_path / "out", "--models", tmp_path)
    assert code == 2 and "expected a folder of Stanza models" in told
    assert [path.name for path in tmp_path.iterdir()] == ["text.txt"]


@pytest.mark.slow
def test_training_tells_how_good_the_models_are(stanza_models: Path) -> None:
    about = json.loads((stanza_models / "about.json").read_text())
    assert about["training sentences"] == 300
    assert about["dev"]["tags"] > 0.6
    assert about["dev"]["heads (UAS)"] >= about["dev"]["heads and relations (LAS)"] > 0.3


KILLED = """
import os, signal, sys
from pathlib import Path
from derive.parser import StanzaParser
from derive.sources.files import Files
from derive.sources.parsed import Parsed

class KilledAfterOneShard(StanzaParser):
    def trees(self, sentences):
        if list(shards.glob("*.json")):
            os.kill(os.getpid(), signal.SIGKILL)
        return super().trees(sentences)

text, models, shards = map(Path, sys.argv[1:])
source = Parsed(Files((text,)), KilledAfterOneShard(models), shards)
for chunk in source.chunks():
    source.sentences(chunk)
"""


@pytest.mark.slow
def test_a_killed_run_goes_on_and_every_sentence_is_accounted_for(stanza_models: Path, tmp_path: Path) -> None:
    text, out, whole = tmp_path / "text.txt", tmp_path / "out.conllu", tmp_path / "whole.conllu"
    too_long = "very " * 600
    text.write_text(
        "".join(f"Sara saw {i}.\n" for i in range(SHARD)) + f"It rains.\nIt rains.\nIt is {too_long} wet.\n"
    )
    words = ["parse", str(text), str(out), "--models", str(stanza_models)]
    shards = tmp_path / "out.conllu.shards"
    killed = [sys.executable, "-c", KILLED, text, stanza_models, shards]
    assert subprocess.run(killed, cwd=ROOT, check=False).returncode == -signal.SIGKILL
    assert not out.exists()
    (account,) = shards.glob("*.json")
    before = account.stat().st_mtime_ns
    code, told, _ = parser(*words)
    assert code == 0
    assert account.stat().st_mtime_ns == before
    table = dict(reversed(line.split(maxsplit=1)) for line in told.splitlines() if line[0] == " ")
    assert table == {
        "sentences in": "2,003",
        "words in": f"{4 * SHARD + 6 + 604:,}",
        "sentences out": "2,002",
        "words out": f"{4 * SHARD + 6:,}",
        "sentences without a tree: more than 500 words": "1",
    }
    assert [len(s) for s in read_treebank(out)] == [4] * SHARD + [3, 3]
    code, _, _ = parser("parse", text, whole, "--models", stanza_models, "--jobs", "2")
    assert whole.read_bytes() == out.read_bytes()
    names = {path.name for path in shards.iterdir()}
    assert names == {path.name for path in (tmp_path / "whole.conllu.shards").iterdir()}

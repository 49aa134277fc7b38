"""Stanza's models fetched, and text parsed into shards that outlive a kill."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from calque.derive.parser import SHARD, ParsedTrees, StanzaParser
from calque.derive.sources.files import Files
from calque.experiments.cli import app

ROOT = Path(__file__).parents[3]


def parser(*words: str | Path) -> tuple[int, str, str]:
    """Exit code, standard output and standard error of `calque parser ...`."""
    ran = CliRunner().invoke(app, ["parser", *map(str, words)])
    assert ran.exception is None or isinstance(ran.exception, SystemExit), ran.exception
    return ran.exit_code, ran.stdout, ran.stderr


@pytest.mark.slow
def test_fetching_without_a_network_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("stanza", reason="Stanza is not installed")
    for scheme in ("http", "https"):
        monkeypatch.setenv(f"{scheme}_proxy", "http://127.0.0.1:9")  # nobody listens there
    code, _, told = parser("fetch", "en", tmp_path / "out")
    assert (code, len(told.splitlines())) == (2, 1)
    assert "Stanza's models" in told and "cannot be downloaded" in told
    assert list(tmp_path.iterdir()) == []


KILLED = """
import os, signal, sys
from pathlib import Path
from calque.derive.parser import StanzaParser
from calque.derive.sources.files import Files
from calque.derive.parser import ParsedTrees

class KilledAfterOneShard(StanzaParser):
    def trees(self, sentences):
        if list(shards.glob("*.json")):
            os.kill(os.getpid(), signal.SIGKILL)
        return super().trees(sentences)

text, models, shards = map(Path, sys.argv[1:])
source = Files((text,), trees=ParsedTrees(KilledAfterOneShard(models), shards))
for chunk in source.chunks():
    source.sentences(chunk)
"""


@pytest.mark.slow
def test_a_killed_run_goes_on_and_every_sentence_is_accounted_for(stanza_models: Path, tmp_path: Path) -> None:
    text, shards = tmp_path / "text.txt", tmp_path / "shards"
    too_long = "very " * 600
    text.write_text(
        "".join(f"Sara saw {i}.\n" for i in range(SHARD)) + f"It rains.\nIt rains.\nIt is {too_long} wet.\n"
    )
    killed = [sys.executable, "-c", KILLED, text, stanza_models, shards]
    assert subprocess.run(killed, cwd=ROOT, check=False).returncode == -signal.SIGKILL
    (account,) = shards.glob("*.json")
    before = account.stat().st_mtime_ns
    source = Files((text,), trees=ParsedTrees(StanzaParser(stanza_models), shards))
    (chunk,) = source.chunks()
    sentences, left_out = source.sentences(chunk)
    assert account.stat().st_mtime_ns == before
    assert [len(sentence) for sentence in sentences] == [4] * SHARD + [3, 3, 604]
    assert [bool(sentence.heads) for sentence in sentences] == [True] * (SHARD + 2) + [False]
    assert left_out == {"sentences without a tree: more than 500 words": 1}
    whole = Files((text,), trees=ParsedTrees(StanzaParser(stanza_models), tmp_path / "whole"))
    assert whole.sentences(chunk) == (sentences, left_out)
    assert {path.name for path in shards.iterdir()} == {path.name for path in (tmp_path / "whole").iterdir()}

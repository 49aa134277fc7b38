"""Text is parsed into shards that outlive a kill."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from calque.derive.parser import SHARD, ParsedTrees, StanzaParser
from calque.derive.sources.files import Files

ROOT = Path(__file__).parents[2]


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

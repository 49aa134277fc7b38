"""Where grammars come from, and that they are learnt once."""

import shutil
from pathlib import Path

import pytest

from derive.errors import BadInput
from derive.pocket.language import Pocket
from derive.readers.conllu import write_treebank
from derive.reorder import GrammarFile, PocketTreebank, TreebankFiles


@pytest.fixture(scope="module")
def treebank(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("treebank") / "xx_made-ud-train.conllu"
    write_treebank(path, Pocket(order="romance").sentences(300))
    return path


def test_a_grammar_is_learnt_once(treebank: Path, tmp_path: Path) -> None:
    files = TreebankFiles("xx", (treebank,))
    first = files.grammar(tmp_path)
    (kept,) = tmp_path.iterdir()
    stamp = kept.stat().st_mtime_ns
    assert files.grammar(tmp_path).weights == first.weights
    assert kept.stat().st_mtime_ns == stamp


def test_contents_count_and_places_do_not(treebank: Path, tmp_path: Path) -> None:
    shutil.copy(treebank, tmp_path / "elsewhere.conllu")
    here, there = TreebankFiles("xx", (treebank,)), TreebankFiles("xx", (tmp_path / "elsewhere.conllu",))
    assert here.fingerprint() == there.fingerprint() == TreebankFiles("xx", (tmp_path,)).fingerprint()
    assert TreebankFiles("yy", (treebank,)).fingerprint() != here.fingerprint()
    write_treebank(tmp_path / "elsewhere.conllu", Pocket(order="romance").sentences(301))
    assert there.fingerprint() != here.fingerprint()


def test_treebank_and_sister_give_the_same_grammar(treebank: Path, tmp_path: Path) -> None:
    sister = PocketTreebank("romance", size=300, stream=0)
    assert sister.grammar(tmp_path).weights == TreebankFiles("romance", (treebank,)).grammar(tmp_path).weights
    assert sister.fingerprint() != PocketTreebank("romance", size=301, stream=0).fingerprint()


def test_a_file_holds_a_grammar(treebank: Path, tmp_path: Path) -> None:
    grammar = TreebankFiles("xx", (treebank,)).grammar(tmp_path)
    grammar.save(tmp_path / "mine.json")
    file = GrammarFile("mine", tmp_path / "mine.json")
    before = file.fingerprint()
    assert file.grammar(tmp_path).weights == grammar.weights
    (tmp_path / "mine.json").write_bytes((tmp_path / "mine.json").read_bytes() + b"\n")
    assert file.fingerprint() != before


def test_an_unknown_sister_is_refused(tmp_path: Path) -> None:
    with pytest.raises((BadInput, ValueError), match="romance"):
        PocketTreebank("klingon").grammar(tmp_path)
    assert not list(tmp_path.iterdir())

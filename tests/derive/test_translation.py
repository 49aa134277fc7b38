"""Translations as a pair of languages: lines stay paired, the vocabulary is one, and pretraining reads them."""

import json
from pathlib import Path

import numpy as np
import pytest

from calque.derive.build import Pairs, translation_fingerprint, write_translation
from calque.derive.corpus import NOWHERE
from calque.derive.errors import BadInput
from calque.derive.files import MANIFEST
from calque.derive.fingerprint import sha256
from calque.derive.languages import Languages

SIZE = 300


def made(count: int = 300, seed: int = 0) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Sentences of made words and their word by word translations, a word longer, in another order."""
    random = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        words = random.integers(0, 40, random.integers(1, 9)).tolist()
        found.append((tuple(f"ab{word}" for word in words), (*(f"cd{word}" for word in words[::-1]), "!")))
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_translation(made(), "xx", SIZE, tmp_path_factory.mktemp("made") / "pair")


def test_every_line_is_paired_with_its_translation(folder: Path) -> None:
    languages = Languages.open(folder, ["xx"])
    (bitext,), vocabulary = languages.bitexts, languages.vocabulary
    assert len(bitext) == 300 and not bitext.gold
    for line, pair in enumerate(made()):
        assert tuple(map(vocabulary.text, bitext.ids(line))) == tuple(map(" ".join, pair))
        assert bitext.first.corpus.order(line).tolist() == list(range(len(pair[0])))
        assert (bitext.second.corpus.order(line) == NOWHERE).all()


def test_both_languages_share_one_vocabulary_and_no_dictionary(folder: Path) -> None:
    languages = Languages.open(folder, ["xx"])
    vocabulary = languages.vocabulary
    assert languages.rows == languages.size == vocabulary.size == SIZE
    assert (languages.tables == np.arange(SIZE)).all()
    assert languages.dictionary("source", "xx").shape == (0, 2)
    assert languages.letters("xx") == {}  # a translation is spelt as it stands, so its tokenizer is the vocabulary's
    ids = np.concatenate([language.corpus.tokens for language in languages.languages])
    assert np.bincount(ids, minlength=SIZE).tolist() == vocabulary.counts.tolist()


def test_the_manifest_knows_every_file_and_comes_last(folder: Path) -> None:
    manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    files = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()} - {MANIFEST}
    assert manifest["files"] == {name: sha256(folder / name) for name in files}
    assert manifest["languages"]["xx"]["fingerprint"] == translation_fingerprint(made(), SIZE)
    assert manifest["languages"]["xx"]["out"]["sentences"] == 300


def test_same_sentences_same_bytes(folder: Path, tmp_path: Path) -> None:
    again = write_translation(made(), "xx", SIZE, tmp_path / "again")
    assert (again / MANIFEST).read_bytes() == (folder / MANIFEST).read_bytes()
    assert translation_fingerprint(made(seed=1), SIZE) != translation_fingerprint(made(), SIZE)
    assert translation_fingerprint(made(), SIZE + 1) != translation_fingerprint(made(), SIZE)


@pytest.mark.parametrize(
    ("pairs", "size", "message"),
    [
        ([], SIZE, "no words"),
        ([(("a",), ("b",)), (("a",), ())], SIZE, "sentence pair 2 has a side without words"),
        (made(5), 4000, "more than the corpus supports"),
        (made(5), 100, "expected at least"),
    ],
)
def test_what_cannot_be_used_leaves_nothing(tmp_path: Path, pairs: Pairs, size: int, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        write_translation(pairs, "xx", size, tmp_path / "pair")
    assert list(tmp_path.iterdir()) == []


def test_a_translation_has_no_gold_links(folder: Path) -> None:
    bitext = Languages.open(folder, ["xx"]).bitext("source", "xx")
    assert not bitext.gold and not len(bitext.links(0))

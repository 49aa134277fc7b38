"""Natural languages on disk: exactly the tokenizer's ids, and the same bytes for any number of workers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tokenizers import Tokenizer

from derive.artefact import Artefact
from derive.bpe import SMALLEST, learn
from derive.files import sha256
from derive.languages import KIND, Languages
from derive.natural.bitext import BitextFiles
from derive.natural.build import derive_natural, natural_fingerprint
from derive.natural.text import TextFiles
from derive.vocabulary import GivenVocabulary
from tests.derive.natural.made import EN, XX, inputs, vocabulary, written


def contents(folder: Path) -> dict[str, str]:
    return {path.relative_to(folder).as_posix(): sha256(path) for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module", params=["unigram", "wordpiece"])
def given(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the inputs, the tokenizer and, as `made`, what was made of them."""
    folder = tmp_path_factory.mktemp("natural")
    derive_natural(*inputs(folder), vocabulary(folder / "given", request.param), folder / "made")
    return folder


def test_every_line_has_the_ids_that_the_tokenizer_gives_it(given: Path) -> None:
    languages = Languages.open(given / "made", ["en", "xx"])
    tokenizer = Tokenizer.from_file(str(given / "given" / "tokenizer.json"))
    assert languages.kept is not None and languages.rows == languages.size == len(languages.kept)
    for name, lines in (("en", EN), ("xx", XX)):
        corpus = languages[name].corpus
        assert len(corpus) == len(lines)
        for number, line in enumerate(lines):
            ids = tokenizer.encode(line, add_special_tokens=False).ids
            assert corpus[number].tolist() == ids
            assert languages.kept[languages[name].ids(corpus[number])].tolist() == ids
            assert len(corpus.line_pieces(number)) == len(line.split())
            assert corpus.line_pieces(number).sum() == len(ids)


def test_a_bitext_pairs_lines_of_its_own(given: Path) -> None:
    languages = Languages.open(given / "made", ["xx", "en"])
    (bitext,) = languages.bitexts
    assert (bitext.first.name, bitext.second.name, len(bitext)) == ("en", "xx", 400) and not bitext.linked
    vocabulary, kept, turned = languages.vocabulary, languages.kept, languages.bitext("xx", "en")
    assert kept is not None
    for pair in (0, 99, 100, 399):
        ids = bitext.ids(pair)
        for side, lines in zip(ids, (EN, XX), strict=True):
            assert kept[side].tolist() == vocabulary.encode_all(lines[pair].split())[0].tolist()
        assert all(map(np.array_equal, turned.ids(pair), ids[::-1]))


def test_kept_rows_are_those_of_types_that_occur_and_of_special_ones(given: Path) -> None:
    languages = Languages.open(given / "made", ["en", "xx"])
    whole = languages.whole
    assert languages.kept is not None and whole.kept is None
    corpora = [side.corpus for bitext in whole.bitexts for side in (bitext.first, bitext.second)]
    used = {i for corpus in [*(one.corpus for one in whole.languages), *corpora] for i in corpus.tokens.tolist()}
    assert set(languages.kept.tolist()) == used | set(whole.specials.ids)
    assert languages.kept[list(languages.specials.ids)].tolist() == list(whole.specials.ids)
    assert whole.rows == whole.size == whole.vocabulary.size
    assert np.array_equal(languages.kept[languages["xx"].ids(corpora[1].tokens)], whole["xx"].ids(corpora[1].tokens))


def test_output_does_not_depend_on_the_number_of_workers(given: Path, tmp_path: Path) -> None:
    texts, bitexts = inputs(given)
    vocabulary = GivenVocabulary(given / "given")
    derive_natural(texts, bitexts, vocabulary, tmp_path / "made", workers=3)
    assert contents(tmp_path / "made") == contents(given / "made")
    facts = Artefact.open(tmp_path / "made", KIND).facts
    assert facts["fingerprint"] == natural_fingerprint(texts, bitexts, vocabulary)


def test_a_lexicon_becomes_a_dictionary_of_the_types_that_occur(tmp_path: Path) -> None:
    """As rows of a model; the other way round too."""
    learn([tuple(line.split()) for line in EN], SMALLEST + 300).save(tmp_path / "given")
    given = GivenVocabulary(tmp_path / "given")
    opened = given.open()
    sides = {name: written(tmp_path / name, lines[:1]) for name, lines in (("en", EN), ("xx", XX))}
    texts = {name: TextFiles((path,)) for name, path in sides.items()}
    bitexts = {("en", "xx"): (BitextFiles(sides["en"], sides["xx"]),)}
    here = {opened.encode(word) for line in EN[:1] for word in line.split()}
    single = [word for line in EN for word in line.split() if len(opened.encode(word)) == 1]
    used = list(dict.fromkeys(word for word in single if opened.encode(word) in here))
    pieces = {piece for word in here for piece in word}
    unused = next(word for word in single if opened.encode(word)[0] not in pieces)
    lines = [f"{used[0]}\t{used[1]}\t0.9\t12\n", f"{used[1]}\t{used[2]}\t0.5\t2\n", f"{used[2]}\t{unused}\n"]
    (tmp_path / "lexicon").write_text("".join([*lines, "qqzzxx\tjjqq\t1\t3\n"]), encoding="utf-8")
    derive_natural(texts, bitexts, given, tmp_path / "made", dictionaries={("en", "xx"): tmp_path / "lexicon"})
    facts = Artefact.open(tmp_path / "made", KIND).facts["bitexts"]["en-xx"]["dictionary"]
    assert facts == {
        "entries": 2,
        "left out": {
            "entries with a word of several sub-words, or of an unknown one": 1,
            "entries of a type that no text has": 1,
        },
    }
    languages = Languages.open(tmp_path / "made", ["en", "xx"])
    assert languages.kept is not None and languages.dictionaries == (("en", "xx"),)
    expected = [[opened.encode(used[i])[0], opened.encode(used[j])[0]] for i, j in ((0, 1), (1, 2))]
    assert languages.kept[languages.dictionary("en", "xx")].tolist() == sorted(expected)
    assert languages.kept[languages.dictionary("xx", "en")][:, ::-1].tolist() == sorted(expected)

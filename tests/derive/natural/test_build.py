"""Natural languages on disk: exactly the tokenizer's ids, and the same bytes for any number of workers."""

import gzip
import json
import os
import shutil
import tracemalloc
from collections import Counter
from importlib import import_module
from itertools import chain, islice
from pathlib import Path
from typing import Any

import hypothesis
import numpy as np
import pytest
from hypothesis import example
from hypothesis import strategies as st
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers

from calque.derive.artefact import Artefact
from calque.derive.corpus import Shard
from calque.derive.errors import BadInput
from calque.derive.fingerprint import sha256
from calque.derive.folder import KIND
from calque.derive.languages import Languages
from calque.derive.natural.build import derive_natural, encode_lines, natural_fingerprint
from calque.derive.natural.files import BitextFiles, FileSet, TextFiles
from calque.derive.types import Specials
from calque.derive.vocabulary import SMALLEST, GivenVocabulary, Vocabulary
from tests.derive.natural.made import EN, XX, inputs, vocabulary, written
from tests.derive.test_spelling import PIECES, given_vocabulary
from tests.vocabularies import learn


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
    facts = Artefact.open(tmp_path / "made", KIND).facts["pairs"][0]["dictionary"]
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


def test_a_lexicon_of_words_that_no_text_has_is_refused(given: Path, tmp_path: Path) -> None:
    texts, bitexts = inputs(given)
    (tmp_path / "lexicon").write_text("qqzzxx\tjjqq\nvvkkjj\txxqq\n", encoding="utf-8")
    with pytest.raises(
        BadInput, match=r"lexicon: no entry is left: 2 entries with a word of several .* expected words"
    ):
        derive_natural(
            texts,
            bitexts,
            GivenVocabulary(given / "given"),
            tmp_path / "made",
            dictionaries={("en", "xx"): tmp_path / "lexicon"},
        )
    assert not (tmp_path / "made").exists()


def accounted(folder: Path, name: str) -> dict[str, Any]:
    """What the manifest of a folder says of a language, but for its fingerprint."""
    facts = dict(Artefact.open(folder, KIND).facts["languages"][name])
    del facts["fingerprint"]
    return facts


def test_what_a_corpus_cannot_hold_is_left_out_and_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_module("calque.derive.corpus"), "LONGEST", 40)
    lines = ["a b", "", "c " * 41, "d" * 41, "e" * 39, "\ue000", "a b", "f " * 40]
    kept = [lines[i] for i in (0, 4, 6, 7)]
    given = vocabulary(tmp_path / "given")
    state = json.loads((given.folder / "tokenizer.json").read_text(encoding="utf-8"))
    normalizers = [state["normalizer"], {"type": "Replace", "pattern": {"String": "\ue000"}, "content": ""}]
    state["normalizer"] = {"type": "Sequence", "normalizers": normalizers}
    state["pre_tokenizer"]["prepend_scheme"] = "first"
    (given.folder / "tokenizer.json").write_text(json.dumps(state), encoding="utf-8")
    path = written(tmp_path / "a.txt", lines)
    derive_natural({"en": TextFiles((path,))}, {}, given, tmp_path / "made")
    corpus, opened = Languages.open(tmp_path / "made", ["en"]).whole["en"].corpus, given.open()
    assert [corpus[i].tolist() for i in range(len(corpus))] == [opened.encode_texts([k.strip()])[0].ids for k in kept]
    assert accounted(tmp_path / "made", "en") == {
        "in": {"lines": 7},
        "out": {"lines": 4, "words": 2 + 1 + 2 + 40, "tokens": len(corpus.tokens)},
        "left out": {"blank lines": 1, "lines without a type": 1, "too long lines": 2},
    }


def test_hyphens_in_names_do_not_mix_up_pairs(tmp_path: Path) -> None:
    names = ("zh", "tw-en", "zh-tw", "en")
    texts = {name: TextFiles((written(tmp_path / f"{name}.txt", ["a b"]),)) for name in names}
    files = [written(tmp_path / f"{number}.tsv", ["a\tb"] * number) for number in (1, 2)]
    bitexts = {pair: (BitextFiles(path),) for pair, path in zip((names[:2], names[2:]), files, strict=True)}
    derive_natural(texts, bitexts, vocabulary(tmp_path / "given"), tmp_path / "made")
    languages = Languages.open(tmp_path / "made", names)
    assert {bitext.names: len(bitext) for bitext in languages.bitexts} == {names[:2]: 1, names[2:]: 2}
    assert len(languages.bitext("en", "zh-tw")) == 2


def test_bytes_do_not_depend_on_where_files_are_cut(
    given: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(import_module("calque.derive.readers.lines"), "SIZE", 100)
    monkeypatch.setattr(import_module("calque.derive.natural.files"), "MANY", 7)
    told: list[tuple[str, int, int]] = []
    derive_natural(
        *inputs(given), GivenVocabulary(given / "given"), tmp_path / "made", progress=lambda *step: told.append(step)
    )
    assert contents(tmp_path / "made") == contents(given / "made")
    for stage in ("encoding en", "encoding xx", "encoding en-xx"):
        steps = [(done, of) for name, done, of in told if name == stage]
        assert steps == sorted(steps) and steps[0][0] == 0 and steps[-1][0] == steps[-1][1] and len(steps) > 10


def test_memory_does_not_grow_with_the_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of whatever is read; each file of the second round is four times as long."""
    monkeypatch.setattr(import_module("calque.derive.readers.lines"), "SIZE", 20_000)
    monkeypatch.setattr(import_module("calque.derive.readers.lines"), "SIZE", 20_000)
    monkeypatch.setattr(import_module("calque.derive.natural.files"), "MANY", 200)
    peaks: list[list[int]] = []
    for times in (50, 200):
        contents_ = {
            "a.txt": "\n".join(EN) * times,
            "b.txt": "\n".join(XX) * times,
            "c.tsv": "\n".join(f"{a}\t{b}" for a, b in zip(EN, XX, strict=True)) * times,
            "e.jsonl": "".join(f'{{"text": "{a}"}}\n' for a in EN) * times,
        }
        paths = {name: tmp_path / f"{times}-{name}.gz" for name in contents_}
        for name, text in contents_.items():
            paths[name].write_bytes(gzip.compress(text.encode()))
        files: list[FileSet] = [TextFiles((paths["a.txt"],)), TextFiles((paths["e.jsonl"],))]
        files += [BitextFiles(paths["a.txt"], paths["b.txt"]), BitextFiles(paths["c.tsv"])]
        peaks.append([])
        for one in files:
            tracemalloc.start()
            lines = sum(len(piece.columns(Counter())[0]) for piece in one.pieces())
            peaks[-1].append(tracemalloc.get_traced_memory()[1])
            tracemalloc.stop()
            assert lines >= (len(EN) - 1) * times
    assert all(long < 1.3 * short for short, long in zip(*peaks, strict=True)), peaks


def test_one_sentence_is_a_language_and_none_is_not(tmp_path: Path) -> None:
    given = vocabulary(tmp_path / "given")
    one, none = written(tmp_path / "one.txt", ["the"]), written(tmp_path / "none.txt", ["\u3000 "])
    derive_natural({"en": TextFiles((one,))}, {}, given, tmp_path / "made")
    languages = Languages.open(tmp_path / "made", ["en"])
    assert len(languages["en"].corpus) == 1 and not languages.bitexts and not languages.dictionaries
    assert languages.tables.shape == (1, languages.rows)
    with pytest.raises(BadInput, match=r"none\.txt: contains only white space"):
        derive_natural({"en": TextFiles((none,))}, {}, given, tmp_path / "none")
    shorter = written(tmp_path / "shorter.txt", ["\ta"])
    with pytest.raises(BadInput, match=r"en-xx: no line of text is left; all are empty or left out"):
        texts = {name: TextFiles((one,)) for name in ("en", "xx")}
        derive_natural(texts, {("en", "xx"): (BitextFiles(shorter),)}, given, tmp_path / "none")
    assert not (tmp_path / "none").exists()


def test_what_cannot_be_put_together_is_told(tmp_path: Path) -> None:
    given, text = vocabulary(tmp_path / "given"), TextFiles((written(tmp_path / "a.txt", ["a"]),))
    pair = (BitextFiles(written(tmp_path / "a.tsv", ["a\tb"])),)
    texts = {"en": text, "xx": text, "zh-min": text, "min": text}
    cases: list[tuple[dict[str, Any], Any, Any, str]] = [
        ({}, {}, {}, "no language; expected the text of at least one"),
        ({"source": text}, {}, {}, "a language called 'source'; "),
        ({"e/n": text}, {}, {}, "a language called 'e/n'"),
        (texts, {("en", "fr"): pair}, {}, "a bitext of en and fr, but no text of fr"),
        (texts, {("en", "en"): pair}, {}, "a bitext of en and en; expected two languages"),
        (texts, {("en", "xx"): ()}, {}, "expected two languages and at least one file"),
        (texts, {("en", "xx"): pair, ("xx", "en"): pair}, {}, "two bitexts en-xx; expected one"),
        (texts, {}, {("en", "xx"): tmp_path / "d"}, "a dictionary of en and xx, but no bitext of them"),
        (texts, {("en", "xx"): pair}, {("en", "xx"): tmp_path / "d"}, "d: no such file"),
        (texts, {("en", "xx"): pair}, {("en", "xx"): tmp_path / "a.txt"}, r"a\.txt:1: 'a': expected a word"),
    ]
    for some, bitexts, dictionaries, told in cases:
        with pytest.raises(BadInput, match=told):
            derive_natural(some, bitexts, given, tmp_path / "made", dictionaries=dictionaries)
    with pytest.raises(BadInput, match="a language without text: no file is named"):
        TextFiles(())
    with pytest.raises(BadInput, match=r"no\.txt: no such file"):
        derive_natural({"en": TextFiles((tmp_path / "no.txt",))}, {}, given, tmp_path / "made")
    path = given.folder / "tokenizer.json"
    path.write_text(path.read_text(encoding="utf-8").replace("<mask>", "<blank>"), encoding="utf-8")
    with pytest.raises(BadInput, match=r"without the special types <mask> or \[MASK\] \(mask\)"):
        derive_natural(texts, {}, given, tmp_path / "made")
    with pytest.raises(BadInput, match=r"none/tokenizer\.json: no such file"):
        natural_fingerprint(texts, {}, GivenVocabulary(tmp_path / "none"))
    assert not (tmp_path / "made").exists()


def test_what_a_folder_lacks_is_told(given: Path) -> None:
    with pytest.raises(BadInput, match="no language yy, zz; there are en, xx"):
        Languages.open(given / "made", ["yy", "en", "zz"])
    with pytest.raises(BadInput, match="no language is named; there are en, xx"):
        Languages.open(given / "made", [])
    languages = Languages.open(given / "made", ["en", "xx"])
    with pytest.raises(BadInput, match="no dictionary of en and xx; there are none"):
        languages.dictionary("en", "xx")
    assert not Languages.open(given / "made", ["xx"]).bitexts
    with pytest.raises(BadInput, match="no bitext of en and en; there are en-xx"):
        languages.bitext("en", "en")


@pytest.mark.parametrize("name", ["kept.npy", "en/corpus.json", "bitexts/en/xx/second/corpus.json", "manifest.json"])
def test_a_changed_byte_is_refused(name: str, given: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(given / "made", tmp_path / "made")
    data = bytearray((copy / name).read_bytes())
    data[len(data) // 2] ^= 1
    (copy / name).write_bytes(data)
    with pytest.raises(BadInput, match=rf"{name.rpartition('/')[2]}: "):
        Languages.open(copy, ["en", "xx"])


REAL = {
    "en": "nli/xnli/dev-en.tsv",
    "fr": "ud/UD_French-PUD/fr_pud-ud-test.conllu",
    "zh": "nli/xnli/dev-zh.tsv",
    "ja": "ner/panx/dev-ja.tsv",
    "hi": "ud/UD_Hindi-PUD/hi_pud-ud-test.conllu",
    "th": "nli/xnli/dev-th.tsv",
    "ar": "nli/xnli/dev-ar.tsv",
    "ko": "ud/UD_Korean-PUD/ko_pud-ud-test.conllu",
}
SPECIALS = Specials(0, 1, 2, 3, 4)
ODD = "a bé ́x ﾞy  ︎z a\u00a0b c\u3000d \u0600e f\u200bg <s> ''' ... ｶﾞ ﷺ है ¨ ´u ‾ ` \U0001f44d \U0001f3fd"
"""Marks that join what stands before them, white space of other kinds, and a special type's name."""


def byte_level(spaced: bool) -> Vocabulary:
    """A tokenizer as RoBERTa's, to which a line's first word may be another than the same word after a space."""
    names = ["<s>", "<pad>", "</s>", "<unk>", "<mask>", *sorted(pre_tokenizers.ByteLevel.alphabet())]
    ids = {name: i for i, name in enumerate([*names, "Ġa", "Ġb", "th", "Ġth"])}
    merges = [("Ġ", "a"), ("Ġ", "b"), ("t", "h"), ("Ġ", "th")]
    tokenizer = Tokenizer(models.BPE(ids, merges))
    tokenizer.pre_tokenizer, tokenizer.decoder = pre_tokenizers.ByteLevel(spaced), decoders.ByteLevel()
    tokenizer.add_special_tokens(names[:5])
    return Vocabulary(tokenizer, np.zeros(len(ids), np.int64), SPECIALS)


def of_kind(kind: str) -> Vocabulary:
    tokenizer = given_vocabulary(kind)
    ids = [tokenizer.token_to_id(name) for name in ("<s>", "<pad>", "</s>", "<unk>", "<mask>")]
    if kind == "wordpiece":
        ids = [tokenizer.token_to_id(f"[{name}]") for name in ("CLS", "PAD", "SEP", "UNK", "MASK")]
    return Vocabulary(tokenizer, np.zeros(tokenizer.get_vocab_size(), np.int64), Specials(*ids))


def across_words() -> Vocabulary:
    """A tokenizer that does not part text at spaces: `b▁a` is a type."""
    pieces = [("<s>", 0.0), ("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0), ("<mask>", 0.0), ("b▁a", -0.5), ("▁", -2.0)]
    tokenizer = Tokenizer(models.Unigram([*pieces, *((piece, -3.0) for piece in PIECES)], 3, False))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(split=False)
    tokenizer.add_special_tokens(["<s>", "<pad>", "</s>", "<unk>", "<mask>"])
    return Vocabulary(tokenizer, np.zeros(tokenizer.get_vocab_size(), np.int64), SPECIALS)


def with_spaces() -> Vocabulary:
    """A tokenizer that writes a space for U+FFFD, and one for several, as XLM-R's."""
    vocabulary = of_kind("unigram")
    tokenizer = Tokenizer.from_str(vocabulary._tokenizer.to_str())
    written = (normalizers.Replace("\ufffd", " "), normalizers.Replace(Regex(" {2,}"), " "))
    tokenizer.normalizer = normalizers.Sequence(list(written))
    return Vocabulary(tokenizer, vocabulary.counts, vocabulary.specials)


ALL = {
    "bytes": byte_level(False),
    "spaced bytes": byte_level(True),
    "unigram": of_kind("unigram"),
    "wordpiece": of_kind("wordpiece"),
    "across words": across_words(),
    "spaces": with_spaces(),
}


def expected(vocabulary: Vocabulary, lines: list[str]) -> list[list[int]]:
    """Each line's ids, by the tokenizer alone."""
    made = [encoding.ids for encoding in vocabulary.encode_texts(lines)]
    return [vocabulary.as_text(np.array(ids, np.int64)).tolist() for ids in made]


def lengths(made: Shard) -> np.ndarray:
    """How many ids each line has, (N,)."""
    ends = np.concatenate([[0], np.cumsum(made.pieces)])
    return np.diff(ends[np.concatenate([[0], np.cumsum(made.words)])])


@pytest.mark.parametrize("kind", ALL)
@example(lines=["< \u3000<", "", "a  b"])
@example(lines=["a b\ufffd", "b\ufffd a", "a \ufffd"])
@hypothesis.given(lines=st.lists(st.text(st.sampled_from(ODD + "abth   "), max_size=30), max_size=8))
def test_lines_have_the_ids_of_the_whole_line(kind: str, lines: list[str]) -> None:
    lines = [line.strip() for line in lines]
    made = encode_lines(ALL[kind], lines)
    ends = np.cumsum(lengths(made))
    assert [ids.tolist() for ids in np.split(made.ids, ends[:-1])][: len(lines)] == expected(ALL[kind], lines)
    assert made.pieces.sum() == len(made.ids) and (made.pieces > 0).all()
    assert all(words <= len(line.split()) for words, line in zip(made.words.tolist(), lines, strict=True))


def test_ids_belong_to_the_words_that_white_space_separates() -> None:
    made = encode_lines(ALL["bytes"], ["a th\u3000b", "thth"])
    assert (made.pieces.tolist(), made.words.tolist()) == ([1, 1, 4, 2], [3, 1])
    across = encode_lines(ALL["across words"], ["b a"])  # `▁`, and `b▁a`, which ends in the second word
    assert (across.pieces.tolist(), across.words.tolist()) == ([1, 1], [2])


@pytest.fixture(scope="module")
def real() -> tuple[Vocabulary, Any]:
    """The encoder's tokenizer, ours and that of transformers."""
    folder = os.environ.get("CALQUE_ENCODER")
    if not folder or not (Path(folder) / "tokenizer.json").is_file():
        pytest.skip("CALQUE_ENCODER names no folder of an encoder")
    from transformers import AutoTokenizer

    return GivenVocabulary(Path(folder)).open(), AutoTokenizer.from_pretrained(folder)


def test_what_the_tokenizer_takes_for_a_space_ends_a_line_otherwise_than_a_word(real: tuple[Vocabulary, Any]) -> None:
    """XLM-R's normalizer writes a space for U+FFFD, which web text is full of, and for its own mark of a space."""
    vocabulary, tokenizer = real
    lines = [line.format(mark) for mark in "\ufffd\u2581" for line in ("a b{}", "b{} a", "a {}", "{}b a", "a {}\u0301")]
    made = encode_lines(vocabulary, lines)
    assert made.ids.tolist() == list(chain.from_iterable(tokenizer(lines, add_special_tokens=False).input_ids))


def test_an_unknown_word_is_the_special_token_of_transformers(real: tuple[Vocabulary, Any]) -> None:
    """Except that transformers reads the space before a special token as an empty word."""
    vocabulary, tokenizer = real
    lines = ["The \0 cat sat on the \0", "\0 \0 slept well", "\0"]
    theirs = [tokenizer(line.replace("\0", tokenizer.unk_token), add_special_tokens=False).input_ids for line in lines]
    made = encode_lines(vocabulary, lines)
    space = tokenizer.convert_tokens_to_ids("▁")
    assert made.ids.tolist() == [i for i in chain.from_iterable(theirs) if i != space]
    assert made.words.tolist() == [len(line.split()) for line in lines]


@pytest.mark.parametrize("language", REAL)
def test_real_text_has_the_ids_that_transformers_gives_it(
    language: str, real: tuple[Vocabulary, Any], calque_data: Path
) -> None:
    vocabulary, tokenizer = real
    path = calque_data / REAL[language]
    pieces = (BitextFiles(path) if path.parent.name == "xnli" else TextFiles((path,))).pieces()
    lines = list(islice((line for piece in pieces for line in piece.columns(Counter())[0]), 400))
    made, theirs = encode_lines(vocabulary, lines), tokenizer(lines, add_special_tokens=False).input_ids
    assert made.ids.tolist() == list(chain.from_iterable(theirs))
    assert lengths(made).tolist() == list(map(len, theirs))
    assert made.words.tolist() == [len(line.split()) for line in lines]
    (printed,) = tokenizer.batch_decode([theirs[0]])
    assert "".join(printed.split()) == "".join(tokenizer.backend_tokenizer.normalizer.normalize_str(lines[0]).split())

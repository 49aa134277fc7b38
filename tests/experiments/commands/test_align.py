import shutil
from collections import Counter
from itertools import islice
from pathlib import Path

import pytest

from calque.analysis.aligners import BY_NAME
from calque.derive.pocket.language import Pocket
from calque.derive.readers.parallel import read_links
from calque.derive.vocabulary import SMALLEST
from tests.encoders import small_roberta
from tests.experiments.conftest import calque, refused
from tests.vocabularies import learn, read_as_saved

PAIRS = 60


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    folder = tmp_path_factory.mktemp("align")
    short = (sentence.words for sentence in Pocket().sentences(10 * PAIRS) if len(sentence) <= 12)
    sentences = list(islice(short, PAIRS))
    for name, step in (("a.txt", 1), ("b.txt", -1)):
        text = "".join(" ".join(words[::step]) + "\n" for words in sentences)
        (folder / name).write_text(text)
    vocabulary = learn(sentences, SMALLEST + 60)
    model = small_roberta(vocabulary.size, 64)
    model.roberta.embeddings.position_embeddings.weight.data.zero_()
    model.save_pretrained(folder / "model")
    vocabulary.save(folder / "model")
    read_as_saved(folder / "model")
    return folder


@pytest.mark.parametrize("method", ["fast-align", *BY_NAME])
def test_links_are_written_one_line_per_pair(here, tmp_path, method):
    of_model = [] if method == "fast-align" else ["--model", here / "model", "--layer", 1]
    code, out, told = calque("align", "--method", method, *of_model, here / "a.txt", here / "b.txt")
    assert (code, told) == (0, "")
    (tmp_path / "links").write_text(out)
    found = read_links(tmp_path / "links", Counter())
    lengths = [len(line.split()) for line in (here / "a.txt").read_text().splitlines()]
    gold = [{(i, n - 1 - i) for i in range(n)} for n in lengths]
    right = sum(len(known & set(links)) for known, links in zip(gold, found, strict=True))
    if method != "fast-align":  # a word is most similar to itself
        assert right / sum(lengths) > 0.8


@pytest.mark.parametrize("method", ["ot", "fast-align"])
def test_empty_and_long_lines_are_counted(here, tmp_path, method):
    a, b = tmp_path / "a", tmp_path / "b"
    a.write_text("Sara ate .\n\n" + "apple " * 1100 + "\nSara\n")
    b.write_text("Sara ate .\nSara\n" + "apple " * 1000 + "\n\n")
    of_model = [] if method == "fast-align" else ["--model", here / "model", "--layer", 1]
    code, out, told = calque("align", "--method", method, *of_model, a, b)
    assert code == 0
    first, no_source, long, no_target, end = out.split("\n")
    assert first and not (no_source or no_target or end)
    assert bool(long) == (method == "ot")
    assert "without links: 2 sentence pairs with an empty side" in told.splitlines()
    cut = "words beyond the 64 ids that the model takes"
    more = "1 sentence pairs with more than 1,024 words on a side"
    assert (cut if method == "ot" else more) in told
    assert len(told.splitlines()) == 2


WRONG = {
    "--model M A short": "1 lines, but",
    "--model M --layer 8 A B": "no layer 8",
    "--model M --layer -1 A B": "no layer -1",
    "--method ot A B": "--model",
    "--method itermx A B": "itermax",
    "--model . A B": "no model here",
    "--model no/such/folder A B": "no model here",
    "--layer 0 A B": "--layer",
    "--method fast-align --model M A B": "--model",
    "--model M A none": "no such file",
    "two latin": "latin:2: byte 0xe9",
    "--model bare A B": "tokenizer.json",
    "A": "Missing argument",
}


def test_wrong_align_commands_are_one_line_and_leave_nothing(here, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("short").write_text("Sara .\n")
    Path("two").write_text("Sara .\nSara .\n")
    Path("latin").write_bytes(b"Sara .\n\xe9t\xe9\n")
    Path("bare").mkdir()
    for name in ("config.json", "model.safetensors"):
        shutil.copy(here / "model" / name, "bare")
    before = sorted(tmp_path.rglob("*"))
    paths = {"A": here / "a.txt", "B": here / "b.txt", "M": here / "model"}
    for words, said in WRONG.items():
        assert said in refused("align", *(paths.get(word, word) for word in words.split())), words
    assert sorted(tmp_path.rglob("*")) == before

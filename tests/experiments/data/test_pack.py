"""Packing a recipe's text: whole or absent, made once, and opened as languages."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from derive.errors import BadInput
from derive.languages import Languages
from experiments.cli import app
from experiments.data.pack import pack
from experiments.data.reading import read_recipe
from experiments.data.recipe import Recipe
from experiments.data.store import Store
from tests.derive.natural.made import EN, XX, vocabulary, written

HEAD = 'about = "Two languages"\nlicence = "free"\nterms = "https://x.org/l"\n'
FILES = "".join(
    f'[[file]]\nurl = "https://x.org/{place}"\nplace = "{place}"\nsource = "none"\n'
    for place in (
        "text/en.txt",
        "text/xx.txt",
        "text/pairs.tsv",
        "text/some.en",
        "text/some.xx",
        "tokenizer/tokenizer.json",
    )
)
TEXTS = """
[pack]
tokenizer = "tokenizer"
[[pack.text]]
language = "en"
files = ["text/en.txt"]
[[pack.text]]
language = "xx"
files = ["text/xx.txt"]
"""
BITEXTS = """
[[pack.bitext]]
languages = ["en", "xx"]
files = ["text/pairs.tsv"]
first = 1
second = 0
[[pack.bitext]]
languages = ["en", "xx"]
files = ["text/some.en", "text/some.xx"]
"""


def recipe(folder: Path, text: str = HEAD + FILES + TEXTS + BITEXTS) -> Recipe:
    (folder / "two.toml").write_text(text, encoding="utf-8")
    return read_recipe(str(folder / "two.toml"))


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data folder with the recipe's files."""
    folder = tmp_path / "data"
    written(folder / "text" / "en.txt", EN)
    written(folder / "text" / "xx.txt", XX)
    written(folder / "text" / "pairs.tsv", [f"{b}\t{a}" for a, b in zip(EN[:50], XX[:50], strict=True)])
    for name, lines in (("en", EN[50:80]), ("xx", XX[50:80])):
        written(folder / "text" / f"some.{name}", lines)
    vocabulary(folder / "tokenizer")
    return folder


def test_what_is_packed_is_what_languages_open(data: Path, tmp_path: Path) -> None:
    heard: list[str] = []
    two = recipe(tmp_path)
    folder = pack(two, Store(data), None, tmp_path / "out", 1, lambda what, done, of: heard.append(what))
    languages = Languages.open(folder, ("en", "xx"))
    assert len(languages["en"].corpus) == len(EN)
    assert len(languages["xx"].corpus) == len(XX)
    (bitext,) = languages.bitexts
    assert (bitext.names, len(bitext)) == (("en", "xx"), 80)
    heard.clear()
    assert pack(two, Store(data), None, tmp_path / "out", 1, lambda what, done, of: heard.append(what)) == folder
    assert heard == []  # it is there


def test_the_command_says_what_it_packed(data: Path, tmp_path: Path) -> None:
    recipe(tmp_path)
    ran = CliRunner().invoke(app, ["data", "pack", str(tmp_path / "two.toml"), "--to", str(data)])
    assert ran.exit_code == 0, ran.output
    *_, en, xx, folder = ran.stdout.splitlines()
    assert [line.split()[:3] for line in (en, xx)] == [["en", f"{len(EN):,}", "lines"], ["xx", f"{len(XX):,}", "lines"]]
    assert Path(folder).parent == data / "packed" and (Path(folder) / "manifest.json").is_file()


def test_what_cannot_be_packed(data: Path, tmp_path: Path) -> None:
    two, out = recipe(tmp_path), tmp_path / "out"

    def refused(changed: Recipe, said: str) -> None:
        with pytest.raises(BadInput, match=said):
            pack(changed, Store(data), None, out, 1, lambda *_: None)
        assert not [path for path in out.rglob("*") if path.is_file() and path.name != "digests.json"]

    refused(replace(two, packing=None), "the recipe two says nothing of packing")
    assert two.packing is not None
    refused(replace(two, packing=replace(two.packing, tokenizer="")), "names no tokenizer; name the folder of one")
    (data / "text" / "some.xx").write_text("only one line\n", encoding="utf-8")
    refused(two, "1 lines for the 30 of")
    (data / "text" / "xx.txt").unlink()
    refused(two, r"xx\.txt: no such file; `calque data fetch two` gets it")
    (data / "tokenizer" / "tokenizer.json").unlink()
    (data / "text" / "xx.txt").mkdir()
    refused(two, "not as the recipe says; remove it")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[pack]\ntokenizer = 'tokenizer'", "pack: expected the text of at least one language"),
        (TEXTS + TEXTS.replace('[pack]\ntokenizer = "tokenizer"\n', ""), "pack: expected the text of .* of each once"),
        (TEXTS.replace("text/en.txt", "text/fr.txt"), "pack, text 1: files: the recipe puts no file at 'text/fr.txt'"),
        (TEXTS.replace('files = ["text/en.txt"]', ""), "pack, text 1: files is missing"),
        (TEXTS + BITEXTS.replace('["en", "xx"]', '["en", "yy"]'), "a bitext of en and yy, and no text of yy"),
        (TEXTS + BITEXTS.replace('["en", "xx"]', '["en"]'), "pack, bitext 1: a bitext is of two languages"),
        (TEXTS + BITEXTS.replace("first", "frist"), "pack, bitext 1: no key 'frist' is known here; did you mean first"),
        (TEXTS.replace('= "tokenizer"', '= "tokens"'), "tokenizer is a folder that the recipe fills, not 'tokens'"),
        (TEXTS.replace("[pack]", "[pack]\nx = 1"), "pack: no key 'x' is known here"),
    ],
)
def test_what_a_recipe_may_not_say(text: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=said):
        recipe(tmp_path, HEAD + FILES + text)

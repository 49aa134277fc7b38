"""Recipes as they are read: what they may say, and what is refused."""

from pathlib import Path

import pytest

from calque.derive.errors import BadInput
from calque.experiments.data.recipe import Output, names, read_recipe

HEAD = 'about = "A"\nlicence = "L"\nterms = "https://x.org/l"\n'
FILE = HEAD + '[[file]]\nurl = "https://x.org/f"\nsource = "s"\nplace = "a/b"\n'
ZIP = HEAD + '[[file]]\nurl = "https://x.org/f.zip"\nsource = "s"\n'
MEMBER = ZIP + '[[file.unpack]]\nplace = "a/{}"\n'
DIGEST = "0" * 64


def written(folder: Path, **recipes: str) -> None:
    for name, text in recipes.items():
        (folder / f"{name}.toml").write_text(text, encoding="utf-8")


def test_a_file_and_what_is_known_of_it(tmp_path: Path) -> None:
    written(tmp_path, one=FILE + f'bytes = 7\nsha256 = "{DIGEST}"\nlicence = "M"\nnote = "n"')
    (download,) = read_recipe("one", tmp_path).downloads
    assert (download.url, download.name) == ("https://x.org/f", "f")
    assert (download.bytes, download.sha256, download.pinned) == (7, DIGEST, True)
    assert (download.licence, download.terms, download.source, download.note) == ("M", "https://x.org/l", "s", "n")
    assert download.outputs == (Output("a/b", bytes=7, sha256=DIGEST),)


def test_members_for_every_language(tmp_path: Path) -> None:
    text = ZIP + (
        '[[file.unpack]]\nfor = ["en", "fr"]\nplace = "a/{}"\ninside = ["{}.tgz", "train"]\nwhere = { l = "{}" }\n'
        f'[[file.unpack]]\nplace = "b"\ninside = ["x"]\nsha256 = "{DIGEST}"'
    )
    written(tmp_path, one=text)
    (download,) = read_recipe("one", tmp_path).downloads
    assert download.outputs == (
        Output("a/en", ("en.tgz", "train"), where={"l": "en"}),
        Output("a/fr", ("fr.tgz", "train"), where={"l": "fr"}),
        Output("b", ("x",), sha256=DIGEST),
    )
    assert not download.pinned


def test_a_download_whose_files_all_have_digests_is_pinned(tmp_path: Path) -> None:
    gz = ZIP.replace(".zip", ".gz")
    written(tmp_path, one=f'{gz}about_bytes = 9\n[[file.unpack]]\nplace = "a"\nsha256 = "{DIGEST}"')
    (download,) = read_recipe("one", tmp_path).downloads
    assert (download.pinned, download.about_bytes) == (True, 9)
    assert download.outputs == (Output("a", decompress=True, sha256=DIGEST),)


def test_recipes_include_each_other_once(tmp_path: Path) -> None:
    other = FILE.replace("a/b", "c")
    written(
        tmp_path,
        one='about = "All"\nincludes = ["two", "three"]',
        two=FILE.replace("[[file]]", 'includes = ["three", "one"]\n[[file]]', 1),
        three=other,
    )
    assert [output.place for output in read_recipe("one", tmp_path).outputs] == ["a/b", "c"]
    assert names(tmp_path) == ["one", "three", "two"]


def test_a_recipe_of_one_s_own(tmp_path: Path) -> None:
    """It may include Calque's."""
    written(tmp_path, mine=FILE.replace("[[file]]", 'includes = ["squad"]\n[[file]]', 1))
    recipe = read_recipe(str(tmp_path / "mine.toml"))
    assert recipe.name == "mine"
    assert [output.place for output in recipe.outputs][::2] == ["a/b", "qa/squad/dev-v1.1.json"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("\nabout = = 1", "cannot be read as TOML: .*line 2"),
        ('about = "\ud800"', "cannot be read as TOML"),
        (FILE + "a = 1\na = 2", "cannot be read as TOML: .*overwrite a value"),
        (HEAD, "expected files"),
        ("licence = 'L'", "about is missing; expected a text"),
        (FILE.replace('"A"', "1"), "about is a text, not '1'"),
        (FILE.replace('"A"', '" "'), "about is a text, not ' '"),
        (FILE + "byts = 1", "file 1: unknown key 'byts'; did you mean bytes"),
        (FILE + '[[text]]\nlanguag = "en"', "text 1: unknown key 'languag'; did you mean language"),
        (FILE + '[[bitext]]\nlanguages = ["en", "fr"]', "bitext 1: files is missing"),
        (FILE + "bytes = -1", "file 1: bytes is a whole number from 0 on, not '-1'"),
        (FILE + "bytes = true", "file 1: bytes is a whole number from 0 on, not 'True'"),
        (FILE + "bytes = 1.5", "file 1: bytes is a whole number from 0 on, not '1.5'"),
        (FILE + f'sha256 = "{DIGEST[1:]}"', "sha256 is 64 hexadecimal digits"),
        (FILE + f'sha256 = "{"A" * 64}"', "sha256 is 64 hexadecimal digits"),
        (FILE.replace('source = "s"', ""), "file 1: source is missing"),
        (FILE.replace('licence = "L"\n', ""), "file 1: licence is missing"),
        (FILE.replace('terms = "https://x.org/l"\n', ""), "file 1: terms is missing"),
        (FILE.replace("https://x.org/f", "http://x.org/f"), "file 1: http://x.org/f: only https is fetched"),
        (FILE.replace("https://x.org/f", "ftp://x.org/f"), "only https is fetched"),
        (FILE.replace("https://x.org/f", "x.org/f"), "is not an address"),
        (FILE.replace("https://x.org/f", "https://x.org:x/f"), "is not an address"),
        (FILE.replace("https://x.org/f", f"https://{'a' * 70}.org/f"), "is not an address: "),
        (f"x = {'[' * 10_000}", "cannot be read as TOML: maximum recursion depth"),
        (FILE.replace("https://x.org/f", "https://me:pass@x.org/f"), "a user's name in it, at x.org;"),
        (MEMBER + 'for = "a"', "for is a list of texts, each once"),
        (ZIP, "expected either the place of the file, or what is unpacked"),
        (FILE + '[[file.unpack]]\nplace = "b"', "expected either the place"),
        (FILE + "[file.unpack]\nplace = 'b'", "unpack is a list"),
        (MEMBER + 'for = ["a", "a"]', "file 1, unpack 1: for is a list of texts, each once"),
        (MEMBER.replace("{}", "x") + 'for = ["a"]', "file 1, unpack 1: with for, place has {}"),
        (MEMBER + f'for = ["a"]\nsha256 = "{DIGEST}"', "size and digest are left out"),
        (MEMBER + "where = { a = 1 }", "where is a table of texts"),
        (MEMBER + 'inside = ["../x"]', "inside is a path below a folder"),
        (MEMBER + 'for = ["..", "x"]', "place is a path below a folder"),
        *(
            (FILE.replace('"a/b"', f"'{place}'"), "place is a path below a folder")
            for place in ("/a", "a/", "a//b", "../a", "a/../b", ".a", "a\\b", "C:a", "a*", "a\u200b")
        ),
        (FILE.replace("a/b", "fetched.json"), "digests"),
        (FILE.replace("a/b", "Fetched.JSON"), "digests"),
        (FILE.replace("a/b", "fetched.json/a"), "digests"),
        (MEMBER.replace("a/{}", "{}") + 'for = ["fetched.json", "x"]', "digests"),
        (FILE.replace("a/b", "/".join("a" * 2_000)), "at most 1,000 bytes, 200 between slashes"),
        (FILE.replace("a/b", "ä" * 101), "at most 1,000 bytes, 200 between slashes"),
        (FILE + FILE.removeprefix(HEAD), "a/b is the place of two files, or of a file and a folder"),
        (FILE + FILE.removeprefix(HEAD).replace("a/b", "a/b/c"), "a/b/c is the place of two files, or of a file"),
        (FILE + FILE.removeprefix(HEAD).replace("a/b", "a"), "a is the place of two files, or of a file and a folder"),
        ('about = "A"\nincludes = ["tow"]', "no recipe is called 'tow'; did you mean two?"),
    ],
)
def test_what_is_refused(text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "one.toml").write_bytes(text.encode("utf-8", "surrogatepass"))
    written(tmp_path, two=FILE)
    with pytest.raises(BadInput, match=said):
        read_recipe("one", tmp_path)


def test_a_place_may_be_as_long_as_file_systems_allow(tmp_path: Path) -> None:
    longest = "/".join(["a" * 200] * 4 + ["b" * 196])
    written(tmp_path, one=FILE.replace("a/b", longest))
    assert [output.place for output in read_recipe("one", tmp_path).outputs] == [longest]
    for longer in (longest + "b", "a" * 201):
        written(tmp_path, one=FILE.replace("a/b", longer))
        with pytest.raises(BadInput, match="at most 1,000 bytes, 200 between slashes"):
            read_recipe("one", tmp_path)


def test_a_recipe_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no recipe is called 'xnil'; did you mean xnli\\?"):
        read_recipe("xnil")
    with pytest.raises(BadInput, match="there is no such file; expected a recipe"):
        read_recipe(str(tmp_path / "mine.toml"))
    (tmp_path / "folder.toml").mkdir()
    with pytest.raises(BadInput, match="cannot be read as TOML"):
        read_recipe(str(tmp_path / "folder.toml"))

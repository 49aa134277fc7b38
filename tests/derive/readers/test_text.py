import bz2
import gzip
import lzma
import re
import time
from collections import Counter
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calque.derive.errors import BadInput
from calque.derive.readers.conllu import read_conllu
from calque.derive.readers.text import UNKNOWN_WORDS, Kind, chunks, detect, is_heading, sentences

WIKITEXT = """ \n = Lobster = \n \n The well @-@ known lobster weighs 0 @.@ 7 kg . It costs 1 @,@ 000 <unk> .
 \n = = Size = = \n \n It is big = large .\n"""
DOC = """<doc id="1" url="u" title="Apple">
Apple

The apple is a fruit that grows on a tree. It is eaten by many people.
Growing apples.
</dl>
In the north, apples grow well and are picked in autumn.
</doc>
<doc id="2" url="u" title="Nothing">
Nothing

</doc>
"""
PLAIN = "One sentence. Two sentences!\n\nThree of them\n"
TREES = """\
# text = It's raining
1-2\tIt's\t_\t_\t_\t_\t_\t_\t_\t_
1\tIt\tit\tPRON\t_\t_\t3\texpl\t_\t_
2\t's\tbe\tAUX\t_\t_\t3\taux\t_\t_
3\training\train\tVERB\t_\t_\t0\troot\t_\t_

1\tSnow\tsnow\tNOUN\t_\t_\t0\troot\t_\t_

"""
ROWS = '{"text": "One sentence. Two sentences!\\n\\nThree of them", "id": 1}\n{"text": null}\n'


def read(path: Path, size: int = 1 << 22, kind: Kind | None = None) -> tuple[list[str], Counter[str]]:
    found, left_out = [], Counter[str]()
    for chunk in chunks(path, size, kind):
        words, counts = sentences(chunk)
        found += [sentence.text for sentence in words]
        left_out += counts
    return found, left_out


def write(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_wikitext(tmp_path: Path) -> None:
    path = write(tmp_path / "a.txt", WIKITEXT)
    assert detect(path) == "wikitext"
    found, left_out = read(path)
    assert found == ["The well-known lobster weighs 0.7 kg .", "It costs 1,000 <unk> .", "It is big = large ."]
    assert left_out == {"headings": 2, "words of headings": 8, UNKNOWN_WORDS: 1}


def test_documents(tmp_path: Path) -> None:
    path = write(tmp_path / "a.txt", DOC)
    assert detect(path) == "doc"
    found, left_out = read(path)
    assert found == [
        "The apple is a fruit that grows on a tree .",
        "It is eaten by many people .",
        "In the north , apples grow well and are picked in autumn .",
    ]
    assert left_out == {
        "titles": 2,
        "words of titles": 2,
        "headings and fragments": 1,
        "words of headings and fragments": 2,
        "tags": 1,
        "words of tags": 1,
    }


def test_plain_text(tmp_path: Path) -> None:
    path = write(tmp_path / "a.txt", PLAIN)
    assert detect(path) == "plain"
    assert read(path) == (["One sentence .", "Two sentences !", "Three of them"], {})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("\n1-2\tdu\t_\t_\t_\t_\t_\t_\t_\t_\n", ":2: "),
        ("Anna\tB-PER\nLee\tI-PER\n", ":1: words with the tags of entities"),
        ('{"premise": "A.", "hypothesis": "B."}\n', ":1: no column 'text'"),
        ('{"text": "A."}\n{"text": 1}\n', ":2: 'text' is 1"),
        ('[{"text": "A."}]\n', ":1: a JSON list"),
        ('{"text": "A.", "text": "B."}\n', ":1: not JSON"),
    ],
)
def test_annotated_files_are_no_text(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        read(write(tmp_path / "a.txt", text))


@pytest.mark.parametrize("text", ["# A title\n\nOne.\n", "#only #tags\n", "1\tone\n", "{ a }\n", "Vitamin\tO and K.\n"])
def test_what_only_resembles_them_is_text(tmp_path: Path, text: str) -> None:
    assert detect(write(tmp_path / "a.txt", text)) == "plain"


HEADING = re.compile(r" ?((?:= )+)(?!=)\S.*?((?: =)+) ?")
"""What a heading is, as an expression that takes quadratic time."""


@given(st.text(alphabet="= ab", max_size=16))
def test_a_heading_has_as_many_equals_signs_on_either_side(line: str) -> None:
    match = HEADING.fullmatch(line)
    assert is_heading(line) == (match is not None and match[1].count("=") == match[2].count("="))


def test_time_is_linear_in_a_line_of_equals_signs(tmp_path: Path) -> None:
    before = time.process_time()
    assert detect(write(tmp_path / "a.txt", "= a = " + "= " * 100_000 + "\n")) == "plain"
    assert time.process_time() - before < 5


def test_the_kind_can_be_said_and_a_name_can_say_it(tmp_path: Path) -> None:
    path = write(tmp_path / "a.tokens", "No heading here .\n")
    assert detect(path) == "wikitext"
    assert {chunk.kind for chunk in chunks(path, kind="plain")} == {"plain"}


def test_treebanks_keep_their_words_tags_and_trees(tmp_path: Path) -> None:
    path = write(tmp_path / "a.conllu", TREES * 3)
    whole, left_out = sentences(next(chunks(path)))
    assert whole == list(read_conllu(path)) and left_out == {"multiword tokens": 3}
    assert [sentence for chunk in chunks(path, 1) for sentence in sentences(chunk)[0]] == whole
    plus = "# global.columns = ID FORM UPOS\n" + "1\tSnow\tNOUN\n\n" * 4
    assert read(write(tmp_path / "b.conllup", plus), size=1)[0] == ["Snow"] * 4


def test_json_lines_have_their_text_in_a_column(tmp_path: Path) -> None:
    found, left_out = read(write(tmp_path / "a.jsonl", ROWS))
    assert found == read(write(tmp_path / "a.txt", PLAIN))[0] and left_out["rows without text"] == 1
    (chunk,) = chunks(write(tmp_path / "b.jsonl", '{"body": "Snow falls ."}\n'))
    assert [sentence.text for sentence in sentences(chunk, column="body")[0]] == ["Snow falls ."]


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
@pytest.mark.parametrize("text", [WIKITEXT, DOC, PLAIN, TREES, ROWS])
def test_compressed_text_is_read_as_what_is_in_it(tmp_path: Path, pack: Callable[[bytes], bytes], text: str) -> None:
    plain, packed = write(tmp_path / "a.txt", text * 3), write(tmp_path / "b", pack((text * 3).encode()))
    for size in (1, 1 << 22):
        assert read(packed, size) == read(plain, size)
    pieces = list(chunks(packed, 1))
    assert [sentences(piece) for piece in reversed(pieces)] == [sentences(piece) for piece in pieces][::-1]
    write(packed, pack(text.encode()))  # changed: what is kept open is not read
    assert read(packed) == read(write(plain, text))
    with pytest.raises(BadInput, match=r"truncated|damaged"):
        read(write(packed, packed.read_bytes()[:-9]))


@pytest.mark.parametrize("text", [WIKITEXT, DOC, PLAIN])
def test_crlf_a_byte_order_mark_and_a_missing_last_line_end_change_nothing(tmp_path: Path, text: str) -> None:
    expected = read(write(tmp_path / "a.txt", text))
    altered = b"\xef\xbb\xbf" + text.rstrip("\n").replace("\n", "\r\n").encode()
    assert read(write(tmp_path / "b.txt", altered)) == expected


@settings(max_examples=50)
@given(text=st.sampled_from([WIKITEXT * 3, DOC * 3, PLAIN * 3]), size=st.integers(1, 900))
def test_where_a_file_is_cut_changes_nothing(tmp_path_factory: pytest.TempPathFactory, text: str, size: int) -> None:
    path = write(tmp_path_factory.mktemp("cut") / "a.txt", text)
    pieces, data = list(chunks(path, size)), text.encode()
    place = 0
    for chunk in pieces:
        assert chunk.offset == place
        assert chunk.line == 1 + data[:place].count(b"\n")
        place += chunk.length
    assert place == len(data)
    assert read(path, size) == read(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (DOC.removesuffix("</doc>\n"), ":9: no </doc> for this <doc>: the file is truncated"),
        (DOC.replace("</doc>\n", "", 1), ":8: <doc> inside the document of line 1"),
        (DOC + "\nmore\n", ":14: text outside of <doc>"),
        (DOC + "</doc>\n", ":13: </doc> without <doc>"),
        (DOC.encode()[:-4] + b"\xe9\n", ":12: byte 0xe9 is not UTF-8"),
        ("One.\nTw\0o.\n", ":2: a NUL byte"),
        (b"One.\n\xff\xd8\xff\n", ":2: byte 0xff is not UTF-8"),
        (b"One.\nTwo\rthree.\n", ":2: a carriage return inside a line"),
        (" \n\n", "only white space"),
        ("", "is empty"),
    ],
)
@pytest.mark.parametrize("size", [1, 1 << 22])
def test_bad_text_is_refused_with_its_line(tmp_path: Path, text: str | bytes, message: str, size: int) -> None:
    with pytest.raises(BadInput, match=message):
        read(write(tmp_path / "a.txt", text), size)


def test_a_missing_file_and_a_directory_are_refused(tmp_path: Path) -> None:
    for path, message in ((tmp_path / "absent", "no such file"), (tmp_path, "is a directory")):
        with pytest.raises(BadInput, match=message):
            read(path, kind="plain")
        with pytest.raises(BadInput, match=message):
            detect(path)


def test_a_file_without_a_place_to_cut_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_module("calque.derive.readers.text"), "LIMIT", 1000)
    with pytest.raises(BadInput, match="no line end within"):
        read(write(tmp_path / "a.txt", "word " * 1000), size=100)


@pytest.mark.parametrize(
    ("name", "count", "headings"),
    [
        ("wikitext-103.valid.tokens", 8023, 620),
        ("wikitext-103.test.tokens", 9331, 706),
        ("wikitext-2.valid.txt", 8024, 620),
        ("wikitext-2.test.txt", 9331, 706),
    ],
)
def test_real_wikitext(calque_data: Path, name: str, count: int, headings: int) -> None:
    found, left_out = read(calque_data / "wikitext" / name, size=100_000)
    assert (len(found), left_out["headings"]) == (count, headings)
    assert not any("@-@" in sentence for sentence in found)
    # Every letter is in a sentence or in a heading.
    lines = (calque_data / "wikitext" / name).read_text(encoding="utf-8").split("\n")
    body = "".join("".join(line.split()) for line in lines if not (line.startswith(" = ") and line.endswith(" = ")))
    for mark in "-,.":
        body = body.replace(f"@{mark}@", mark)
    assert "".join(found).replace(" ", "") == body


def test_real_text_is_not_taken_for_annotated(calque_data: Path) -> None:
    paths = [*calque_data.glob("parallel/multi30k/*.??"), *calque_data.glob("align/*/test.??")]
    paths += [*calque_data.glob("ud/*/README.md"), *calque_data.glob("ud/*/LICENSE.txt")]
    assert len(paths) > 30 and {detect(path) for path in paths} == {"plain"}


def test_real_wikipedia(calque_data: Path, tmp_path: Path) -> None:
    whole = next(chunks(calque_data / "wikipedia" / "wikipedia-1.txt"))
    with whole.path.open("rb") as file:
        head = write(tmp_path / "head.txt", file.read(whole.length))
    found, left_out = read(head, size=300_000)
    assert found == read(head)[0]
    text = head.read_text(encoding="utf-8")
    assert left_out["titles"] == text.count("\n</doc>")
    # All text is accounted for: letters in sentences, and words of lines left out.
    kept = sum(len(sentence.replace(" ", "")) for sentence in found)
    assert kept > 0.97 * len("".join(text.split()))
    with pytest.raises(BadInput, match="truncated"):
        read(write(tmp_path / "cut.txt", head.read_bytes()[:-5000]))

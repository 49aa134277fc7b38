import bz2
import gzip
import lzma
from collections import Counter

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from calque.derive.errors import BadInput
from calque.derive.readers.text import UNKNOWN_WORDS, chunks, detect, sentences

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


def read(path, size=1 << 22):
    found, left_out = [], Counter()
    for chunk in chunks(path, size):
        words, counts = sentences(chunk)
        found += [sentence.text for sentence in words]
        left_out += counts
    return found, left_out


def write(path, text):
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_wikitext(tmp_path):
    path = write(tmp_path / "a.txt", WIKITEXT)
    assert detect(path) == "wikitext"
    found, left_out = read(path)
    assert found == [
        "The well-known lobster weighs 0.7 kg .",
        "It costs 1,000 <unk> .",
        "It is big = large .",
    ]
    assert left_out == {"headings": 2, "words of headings": 8, UNKNOWN_WORDS: 1}


@pytest.mark.parametrize("name", ["wiki.train.tokens", "wiki.train.tokens.gz"])
def test_wikitext_is_known_by_its_name(tmp_path, name):
    text = b"It costs a lot .\n"
    assert detect(write(tmp_path / name, gzip.compress(text) if name.endswith("gz") else text)) == "wikitext"


def test_documents(tmp_path):
    path = write(tmp_path / "a.txt", DOC)
    assert detect(path) == "doc"
    found, left_out = read(path)
    assert found == [
        "The apple is a fruit that grows on a tree .",
        "It is eaten by many people .",
        "In the north , apples grow well and are picked in autumn .",
    ]
    words = {"words of titles": 2, "words of headings and fragments": 2, "words of tags": 1}
    assert left_out == {"titles": 2, "headings and fragments": 1, "tags": 1} | words


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
@pytest.mark.parametrize("text", [WIKITEXT, DOC, PLAIN, TREES])
def test_compressed_text_is_read_like_plain_text(tmp_path, pack, text):
    plain, packed = write(tmp_path / "a.txt", text * 3), write(tmp_path / "b", pack((text * 3).encode()))
    for size in (1, 1 << 22):
        assert read(packed, size) == read(plain, size)
    with pytest.raises(BadInput, match=r"truncated|damaged"):
        read(write(packed, packed.read_bytes()[:-9]))


@settings(max_examples=50)
@given(text=st.sampled_from([WIKITEXT * 3, DOC * 3, PLAIN * 3, TREES * 3]), size=st.integers(1, 900))
@example(text=TREES * 3, size=TREES.index("\n1\t"))  # before the line ending of a word
def test_chunk_size_changes_nothing(tmp_path_factory, text, size):
    path = write(tmp_path_factory.mktemp("cut") / "a.txt", text)
    pieces, data = list(chunks(path, size)), text.encode()
    place = 0
    for chunk in pieces:
        assert chunk.offset == place
        assert chunk.line == 1 + data[:place].count(b"\n")
        place += len(chunk.data)
    assert place == len(data)
    assert read(path, size) == read(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (DOC.removesuffix("</doc>\n"), ":9: no </doc> for this <doc>: the file is truncated"),
        (DOC.replace("</doc>\n", "", 1), ":8: misplaced"),
        (DOC + "\nmore\n", ":14: misplaced"),
        (DOC + "</doc>\n", ":13: misplaced"),
        (DOC.encode()[:-4] + b"\xe9\n", ":12: byte 0xe9 is not UTF-8"),
        ("One.\nTw\0o.\n", ":2: this line contains a NUL byte"),
        (b"One.\n\xff\xd8\xff\n", ":2: byte 0xff is not UTF-8"),
        (b"One.\nTwo\rthree.\n", ":2: a carriage return inside a line"),
        (" \n\n", "only white space"),
        ("", "is empty"),
    ],
)
@pytest.mark.parametrize("size", [1, 1 << 22])
def test_bad_text_is_refused_with_its_line(tmp_path, text, message, size):
    with pytest.raises(BadInput, match=message):
        read(write(tmp_path / "a.txt", text), size)

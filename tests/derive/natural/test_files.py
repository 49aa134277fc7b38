import gzip
from collections import Counter
from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calque.derive import natural
from calque.derive.errors import BadInput
from calque.derive.natural import HEAD, WHY, BitextFiles, Sentences, TextFiles, letters, read_all, sentences
from calque.derive.readers import lines
from tests.derive.natural.made import written

LONG = "The committee did not agree on the second proposal ."
SHORT = "Thank you ."


@given(
    st.lists(st.text("ab", min_size=1, max_size=3 * HEAD), min_size=1, max_size=4),
    st.text("ab ", max_size=5 * HEAD),
)
def test_withheld_sentences_equal_brute_force(tests, line):
    known, bare = [letters(test) for test in tests], letters(line)
    slow = bare in known or any(len(one) >= HEAD and one in bare for one in known)
    assert Sentences(iter(tests)).within(line) == slow


def test_pairs_are_withheld_by_either_side(tmp_path):
    tests = TextFiles((written(tmp_path / "tests.txt", [LONG, SHORT]),))
    pairs = ["good morning\tbonjour", "thank you\tmerci", "a\tThank you.", "good night\tbonne nuit"]
    tabs = BitextFiles(written(tmp_path / "pairs.tsv", pairs))
    counts = Counter()
    kept = ["good morning", "good night"], ["bonjour", "bonne nuit"]
    assert list(read_all(tabs, counts, tests)) == [kept]
    assert counts[WHY] == 2
    whole = TextFiles((written(tmp_path / "all.txt", [SHORT, LONG]),))
    assert list(read_all(whole, counts, tests)) == [([],)]
    written(whole.paths[0], [LONG])
    assert list(read_all(whole, counts, tests)) == [([],)]
    written(tests.paths[0], [SHORT])
    assert list(read_all(whole, counts, tests)) == [([LONG],)]  # the changed test file is read again
    with pytest.raises(BadInput, match="no sentence"):
        sentences(TextFiles((written(tmp_path / "none.txt", ["..."]),)))


CONLLU = "# text = Au revoir!\n1\tÀ\t_\tADP\t_\t_\t0\troot\t_\t_\n\n1\tOui\t_\tINTJ\t_\t_\t0\troot\t_\t_\n\n"
TEXTS = {
    "plain": ("  Two  spaces.\n\n\t\n私は 学生。 \nlast\n", ["Two  spaces.", "私は 学生。", "last"]),
    "wiki.tokens": (" = Title = \n\n It has 3 @,@ 000 <unk>s . \n", ["It has 3,000 \0 s ."]),
    "treebank": (CONLLU, ["Au revoir!", "Oui"]),
    "entities": ("# a\nen:Paris\tB-LOC\nen:is\tO\n\nen:#\tO\nen:1\tO\n\n", ["Paris is", "# 1"]),
}


@pytest.mark.parametrize("name", TEXTS)
def test_text_does_not_depend_on_chunk_size(name, tmp_path, monkeypatch):
    text, expected = TEXTS[name]
    path, packed = tmp_path / name, tmp_path / f"{name}.gz"
    path.write_text(text * 3)
    packed.write_bytes(gzip.compress((text * 3).encode()))
    for size in (1, 1 << 20):
        monkeypatch.setattr(lines, "SIZE", size)
        for each in (path, packed):
            assert (len(list(TextFiles((each,)).chunks())) > 1) == (size == 1 and name != "entities")
            columns = read_all(TextFiles((each,)), Counter())
            assert [line for (column,) in columns for line in column] == expected * 3


def test_parallel_chunks_have_the_same_lines(tmp_path, monkeypatch):
    monkeypatch.setattr(natural, "MANY", 3)
    sides = [list("abcdexy"), list("fghijkz")]
    pair = BitextFiles(*(written(tmp_path / str(number), side) for number, side in enumerate(sides)))
    assert [chunk.line for chunk, _ in pair.chunks()] == [1, 4, 7]
    assert [list(chain(*side)) for side in zip(*read_all(pair, Counter()), strict=True)] == sides
    for size in (3, 4):
        written(pair.path, sides[0][:size])
        with pytest.raises(BadInput, match=f"0: this file has {size} lines; the other"):
            list(pair.chunks())


def test_megabytes_limit_the_text_that_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr(lines, "SIZE", 499_995)  # chunks end with the next line
    path = written(tmp_path / "text", ["123456789"] * 160_000)  # 10 bytes a line
    for megabytes, read in ((1, 100_000), (0, 160_000)):
        columns = read_all(TextFiles((path,), megabytes), Counter())
        assert sum(len(column) for (column,) in columns) == read


def test_parquet_columns(tmp_path):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    path, counts = tmp_path / "rows", Counter()
    table = pa.table({"text": ["One.\n\nTwo.", None, "私"], "id": [1, 2, 3]})
    parquet.write_table(table, path, row_group_size=2)
    columns = read_all(TextFiles((path,)), counts)
    assert list(columns) == [(["One.", "Two."],), (["私"],)]
    assert +counts == {"rows without text": 1, "blank lines": 1}
    parquet.write_table(pa.table({"id": [1, 2, 3]}), tmp_path / "ids")
    with pytest.raises(BadInput, match="no column text"):
        list(read_all(TextFiles((tmp_path / "ids",)), counts))
    path.write_bytes(path.read_bytes()[:4] + b"\xff" * 40 + path.read_bytes()[44:])
    with pytest.raises(BadInput, match="damaged"):
        list(read_all(TextFiles((path,)), counts))
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(BadInput, match="damaged"):
        list(TextFiles((path,)).chunks())

from collections import Counter
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calque.derive.errors import BadInput
from calque.derive.readers.iob2 import read_iob2
from calque.derive.sentence import Sentence, Span, iob2


def read(path: Path, text: str | bytes) -> tuple[list[Sentence], Counter[str]]:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    counts: Counter[str] = Counter()
    return list(read_iob2(path, counts)), counts


ANNA = Sentence(("Anna", "Lee", "left", "Rome", "."), spans=(Span(0, 2, "PER"), Span(3, 4, "LOC")))
NO = Sentence(("No", "!"))
PANX = "Anna\tB-PER\nLee\tI-PER\nleft\tO\nRome\tB-LOC\n.\tO\n\nNo\tO\n!\tO\n"


def prefixed(text: str) -> str:
    return "\n".join(f"en:{line}" if line else "" for line in text.removesuffix("\n").split("\n")) + "\n"


@pytest.mark.parametrize(
    "text",
    [
        PANX,
        PANX + "\n\n",
        PANX.replace("\n\n", "\n \t \n"),
        PANX.replace("\n", "\r\n"),
        "\ufeff" + PANX,
        prefixed(PANX),
        PANX.replace("\t", " "),
        PANX.replace("\t", "   "),
        PANX.replace("\t", " NN I-NP "),
        PANX.replace("\t", "\tNN\t"),
        PANX.removesuffix("\n"),
        PANX.replace("\n", "\r\n").removesuffix("\r\n"),
        prefixed(PANX).replace("en:", "simple:"),
        prefixed(PANX).replace("en:", "zh-min-nan:"),
    ],
)
def test_the_usual_shapes(tmp_path: Path, text: str) -> None:
    assert read(tmp_path / "a", text) == ([ANNA, NO], {})


def test_docstart_lines_are_left_out_and_counted(tmp_path: Path) -> None:
    text = "-DOCSTART- -X- O O\n\n" + PANX.replace("\t", " NN I-NP ")
    assert read(tmp_path / "a", text) == ([ANNA, NO], {"-DOCSTART- lines": 1})


def test_a_last_line_without_its_end_is_whole_where_its_type_is_known(tmp_path: Path) -> None:
    assert read(tmp_path / "a", "Anna\tB-PER\nLee\tI-PER")[0][0].spans == (Span(0, 2, "PER"),)
    assert read(tmp_path / "a", "Anna\tB-PER\n\nLee\tB-PER")[0][1].spans == (Span(0, 1, "PER"),)


def test_words_of_white_space_alone_are_left_out_and_counted(tmp_path: Path) -> None:
    """As in Broad Twitter; an entity that begins with one begins with the next word."""
    blanks = PANX.replace("left\tO", "\tO\nleft\tO\n\u00a0\tO").replace("Anna\tB-PER", "Anna\tB-PER\n \tI-PER")
    assert read(tmp_path / "a", blanks) == ([ANNA, NO], {"words of white space alone, left out": 3})
    begun = "Lee\tB-PER\n\u3000\tB-PER\nRome\tI-PER\n"
    assert read(tmp_path / "a", begun + "\n\tO\n") == (
        [Sentence(("Lee", "Rome"), spans=(Span(0, 1, "PER"), Span(1, 2, "PER")))],
        {"words of white space alone, left out": 2, "I- tags that begin an entity": 1},
    )
    assert read(tmp_path / "a", begun.replace("\t", " "))[1] == read(tmp_path / "a", begun)[1]


def test_universal_ner(tmp_path: Path) -> None:
    text = (
        "# sent_id = 1\n# text = Anna Lee left Rome.\n1\tAnna\tB-PER\t-\tx\n2\tLee\tI-PER\t-\tx\n3\tleft\tO\n"
        "4\tRome\tB-LOC\t-\tx\n5\t.\tB-O\t-\tx\n\n# text = this ends in O\n1\tNo\tB-OTH\t-\tx\n2\t!\tI-OTH\t-\tx\n\n"
    )
    counts = {"B-O tags read as O": 1, "B-OTH tags read as O": 1, "I-OTH tags read as O": 1}
    assert read(tmp_path / "a", text) == ([ANNA, NO], counts)


def test_marks_of_other_formats_are_words(tmp_path: Path) -> None:
    assert read(tmp_path / "a", "# O\n#tag O\nre: O\n")[0] == [Sentence(("#", "#tag", "re:"))]
    assert read(tmp_path / "a", "#\tO\nen:\tO\n1\tO\n")[0] == [Sentence(("#", "en:", "1"))]
    assert read(tmp_path / "a", "en:en:x O\nen:: O\n")[0] == [Sentence(("en:x", ":"))]


def test_an_i_that_continues_nothing_begins_an_entity_and_is_counted(tmp_path: Path) -> None:
    found, counts = read(tmp_path / "a", "a I-LOC\nb I-LOC\nc I-PER\nd O\ne I-PER\n\nf I-PER\n")
    assert found[0].spans == (Span(0, 2, "LOC"), Span(2, 3, "PER"), Span(4, 5, "PER"))
    assert found[1].spans == (Span(0, 1, "PER"),)
    assert counts == {"I- tags that begin an entity": 4}


def test_white_space_inside_a_word_goes_and_is_counted(tmp_path: Path) -> None:
    found, counts = read(tmp_path / "a", "20 000\tO\n")
    assert (found, counts) == ([Sentence(("20000",))], {"words that lost white space": 1})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "a: is empty"),
        ("\n\n", "a: no sentence in this file"),
        ("# only a comment\twith a tab\n", ":1: tag 'with a tab'"),
        ("Anna\tB-PER\nLee\n", ":2: 1 tab-separated columns; expected 2"),
        ("Anna NN B-PER\nLee I-PER\n", ":2: 2 space-separated columns; expected 3"),
        ("Anna B-PER\nLee NN I-PER\n", ":2: 3 space-separated columns; expected 2"),
        ("Anna\n", ":1: 1 space-separated columns; expected at least 2"),
        ("\tO\n \tO\n", "a: no sentence in this file"),
        ("Anna\tB-PER\n\tPER\n", ":2: tag 'PER'"),
        ("Anna\tB-PER\nLee\tPER\n", ":2: tag 'PER'"),
        ("en:Anna\tB-PER\n\nfr:Lee\tO\n", ":3: 'fr:Lee' lacks the prefix 'en:'"),
        ("1\tAnna\tO\n2\tLee\tO\n\n1\tOh\tO\n3\tno\tO\n", ":5: word number '3'; expected 2"),
        ("1\tAnna\tO\n2\tLee\n", ":2: 2 tab-separated columns; expected 3"),
        ("1\tAnna\tO\n\n1\tLee\n", ":3: 2 tab-separated columns; expected at least 3"),
        ("Anna PER\n", ":1: tag 'PER'; expected O, B-type, I-type"),
        ("Anna M-PER\n", ":1: tag 'M-PER'"),
        ("Anna U-O\n", ":1: tag 'U-O'"),
        ("Anna B-\n", ":1: tag 'B-'"),
        ("Anna B-O\n", ":1: tag 'B-O'"),
        ("Anna o\n", ":1: tag 'o'"),
        (
            "Anna\tB-PER\nLee\tB-PE",
            ":2: the last line has no line end: the file is truncated, or add one if it is whole",
        ),
        ("Anna\tB-PER\nLee\tI-PE", ":2: the last line has no line end: the file is truncated"),
        (b"Ann\xe9\tO\n", ":1: byte 0xe9 is not UTF-8"),
        (b"\x7fELF\0\0\n", ":1: a NUL byte"),
    ],
)
def test_a_malformed_file_is_refused_with_its_line(tmp_path: Path, text: str | bytes, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        read(tmp_path / "a", text)


def test_a_missing_file_and_a_directory_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no such file"):
        list(read_iob2(tmp_path / "absent"))
    with pytest.raises(BadInput, match="is a directory"):
        list(read_iob2(tmp_path))


TAGS = st.lists(st.sampled_from(["O", "B-PER", "I-PER", "B-LOC", "I-LOC"]), min_size=1, max_size=8)


@given(TAGS)
def test_tags_come_back_but_for_repairs(tmp_path_factory: pytest.TempPathFactory, tags: list[str]) -> None:
    path = tmp_path_factory.getbasetemp() / "tags.tsv"
    (sentence,), counts = read(path, "".join(f"w\t{tag}\n" for tag in tags))
    changed = [(old, new) for old, new in zip(tags, iob2(sentence), strict=True) if old != new]
    assert len(changed) == counts["I- tags that begin an entity"]
    assert all(old == f"I{new[1:]}" for old, new in changed)


def test_real_files(calque_data: Path) -> None:
    """The first 2,100 sentences of each file."""
    repairs, sizes = {}, {}
    patterns = ("panx/*.tsv", "uner-en_ewt/*.iob2", "wnut17/*.conll", "wnut17/*.annotated")
    for path in sorted(path for pattern in patterns for path in (calque_data / "ner").glob(pattern)):
        counts: Counter[str] = Counter()
        sizes[path.name] = sum(1 for _ in islice(read_iob2(path, counts), 2_100))
        if counts:
            repairs[path.name] = dict(counts)
    assert len(sizes) == 24
    assert (sizes["train-en.tsv"], sizes["dev-hi.tsv"], sizes["wnut17train.conll"]) == (2100, 1000, 2100)
    assert (sizes["en_ewt-ud-dev.iob2"], sizes["en_ewt-ud-test.iob2"]) == (2001, 2077)
    assert repairs == {
        "dev-ja.tsv": {"I- tags that begin an entity": 119},
        "dev-zh.tsv": {"I- tags that begin an entity": 94},
        "train-ja.tsv": {"I- tags that begin an entity": 85},
        "train-zh.tsv": {"I- tags that begin an entity": 91},
        "en_ewt-ud-train.older.iob2": {
            "B-OTH tags read as O": 404,
            "I-OTH tags read as O": 31,
            "B-O tags read as O": 25,
        },
    }

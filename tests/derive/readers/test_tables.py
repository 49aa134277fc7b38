"""Tables as spreadsheets, pandas and people write them: quotation marks, headers, blank lines and comments."""

import csv
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calque.derive.dictionary import read_lexicon
from calque.derive.errors import BadInput
from calque.derive.natural.files import BitextFiles
from calque.derive.readers.iob2 import read_word_labels
from calque.derive.readers.nli import OWN_PAIRS, OWN_TEXTS, read_nli
from calque.derive.readers.tables import HEADERS, QUOTED, Table
from calque.derive.sentence import word_labels

Rows = list[tuple[str, ...]]
Reader = Callable[[Path, Counter[str]], Rows]


def file(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def refusal(path: Path, line: int) -> str:
    return f"{path}:{line}: "


def texts(path: Path, counts: Counter[str]) -> Rows:
    return [(*(text[0].text for text in e.texts), e.label) for e in read_nli(path, counts, whole, columns=OWN_TEXTS)]


def pairs(path: Path, counts: Counter[str]) -> Rows:
    return [(*(text[0].text for text in e.texts), e.label) for e in read_nli(path, counts, whole, columns=OWN_PAIRS)]


def whole(text: str, counts: Counter[str]) -> list[list[str]]:
    return [text.split()]


def words(path: Path, counts: Counter[str]) -> Rows:
    found = read_word_labels(path, counts)
    return [pair for s in found for pair in zip(s.words, word_labels(s), strict=True)]


def bitext(path: Path, counts: Counter[str]) -> Rows:
    columns = [piece.columns(counts) for piece in BitextFiles(path).pieces()]
    return [pair for first, second in columns for pair in zip(first, second, strict=True)]


def lexicon(path: Path, counts: Counter[str]) -> Rows:
    return [(entry.source, entry.target) for entry in read_lexicon(path, counts)]


fields, quoting = st.text(st.sampled_from('ab" ,'), max_size=6), st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL])


@settings(max_examples=500)
@given(st.lists(st.tuples(fields, fields), min_size=2, max_size=6), quoting)
def test_what_a_writer_quotes_is_read_as_before(
    tmp_path_factory: pytest.TempPathFactory, rows: Rows, quoting: int
) -> None:
    path = tmp_path_factory.getbasetemp() / "rows.tsv"
    with path.open("w", encoding="utf-8", newline="") as out:
        csv.writer(out, delimiter="\t", quoting=quoting, lineterminator="\n").writerows(rows)
    counts: Counter[str] = Counter()
    assert [line for _, line in Table(path, counts)] == ["\t".join(row) for row in rows]
    marked = sum(quoting == csv.QUOTE_ALL or '"' in field for row in rows for field in row)
    assert +counts == +Counter({QUOTED: marked})


@pytest.mark.parametrize(
    ("read", "text", "rows", "quoted"),
    [
        (texts, '"She said ""no""."\ttalk\nIt rains.\tsky\n', [('She said "no".', "talk"), ("It rains.", "sky")], 1),
        (texts, '"text"\t"label"\n"It rains."\t"sky"\n', [("It rains.", "sky")], 4),
        (pairs, 'A.\t"""B"" c."\tno\nA.\tC.\tno\n', [("A.", '"B" c.', "no"), ("A.", "C.", "no")], 1),
        (words, '""""\tX\nno\tY\n""""\tX\n', [('"', "X"), ("no", "Y"), ('"', "X")], 2),
        (bitext, '"a ""b"""\tc\nd\te\n', [('a "b"', "c"), ("d", "e")], 1),
        (lexicon, 'inch\t""""\ncat\tchat\n', [("inch", '"'), ("cat", "chat")], 1),
        (texts, '"Yes," he said.\tp\n"No ""no"""\tn\n', [('"Yes," he said.', "p"), ('"No ""no"""', "n")], 0),
        (bitext, '"Go."\tVa !\nStop.\t"Halte"\n', [('"Go."', "Va !"), ("Stop.", '"Halte"')], 0),
        (words, '"\tX\nno\tY\n"\tX\n', [('"', "X"), ("no", "Y"), ('"', "X")], 0),
        (lexicon, '"the" "el"\n', [('"the"', '"el"')], 0),
    ],
)
def test_quotation_marks_of_a_writer_are_undone_and_others_stay(
    read: Reader, text: str, rows: Rows, quoted: int, tmp_path: Path
) -> None:
    counts: Counter[str] = Counter()
    assert read(file(tmp_path / "a.tsv", text), counts) == rows
    assert +counts == +Counter({QUOTED: quoted})


@pytest.mark.parametrize(
    ("read", "text", "rows", "headers"),
    [
        (words, "word\tlabel\nThe\tD\n\na\tD\n", [("The", "D"), ("a", "D")], 1),
        (words, "Token\tTag\n\nThe\tD\na\tD\n", [("The", "D"), ("a", "D")], 1),
        (words, "no\ten\noui\tfr\n", [("no", "en"), ("oui", "fr")], 0),
        (texts, "Label\tTEXT\nsky\tIt rains.\n", [("It rains.", "sky")], 0),
        (texts, "Text\tLabel\nIt rains.\tsky\n", [("It rains.", "sky")], 0),
        (pairs, "Sentence1\tSentence2\tLabel\nA.\tB.\tno\n", [("A.", "B.", "no")], 0),
        (texts, "Great\tpos\nBad day.\tneg\n", [("Great", "pos"), ("Bad day.", "neg")], 0),
        (texts, "fig\tfruit\nkale\tleaf\nchard\tleaf\n", [("fig", "fruit"), ("kale", "leaf"), ("chard", "leaf")], 0),
        (words, "हम\tP\nकिताब\tN\nमेज़\tN\nसोते\tV\nहैं\tV\n", [*zip("हम किताब मेज़ सोते हैं".split(), "PNNVV", strict=True)], 0),
        (bitext, "en\tfr\nthe cat\tle chat\n", [("the cat", "le chat")], 1),
        (bitext, "source\tsource\nthe cat\tle chat\n", [("source", "source"), ("the cat", "le chat")], 0),
        (lexicon, "word\ttranslation\ncat\tchat\n", [("cat", "chat")], 1),
        (lexicon, "cat\tchat\nword\ttranslation\n", [("cat", "chat"), ("word", "translation")], 0),
        (lexicon, "English French\ncat chat\n", [("cat", "chat")], 1),
    ],
)  # fmt: skip
def test_a_header_is_no_row(read: Reader, text: str, rows: Rows, headers: int, tmp_path: Path) -> None:
    counts: Counter[str] = Counter()
    assert read(file(tmp_path / "a.tsv", text), counts) == rows
    assert +counts == +Counter({HEADERS: headers})


@pytest.mark.parametrize(
    ("read", "text"),
    [
        (texts, "review\tsentiment\nGood food.\tpos\nBad day.\tneg\nFine cat.\tpos\n"),
        (texts, "Wetter\tArt\nEs regnet.\tnass\nEs schneit.\tnass\n"),
        (texts, "label\tbody\nsky\tIt rains.\nsky\tIt snows.\n"),
        (pairs, "first\tsecond\trelation\nA cat.\tA dog.\tno\nA cat.\tOne cat.\tno\n"),
        (words, "surface\ttag\nThe\tD\na\tD\n"),
        (texts, "टिप्पणी\tभाव\nखाना अच्छा था।\tp\nदिन बुरा था।\tn\nअच्छा।\tp\nबुरा।\tn\n"),
    ],
)
def test_a_first_row_that_seems_to_be_a_header_is_refused(read: Reader, text: str, tmp_path: Path) -> None:
    path = file(tmp_path / "a.tsv", text)
    with pytest.raises(BadInput) as refused:
        read(path, Counter())
    assert str(refused.value).startswith(refusal(path, 1)) and repr(text.split()[0]) in str(refused.value)

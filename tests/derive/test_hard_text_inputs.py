"""Inputs that users of other tools reported: each gives the right value, or one line that says what is wrong."""

import bz2
import gzip
import lzma
from collections import Counter
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from calque.derive.dictionary import Entry, read_lexicon
from calque.derive.errors import BadInput
from calque.derive.natural.files import BitextFiles, TextFiles
from calque.derive.natural.formats import treebank_texts
from calque.derive.readers.conllu import NAMES, read_conllu, read_lemmas
from calque.derive.readers.english import split_words
from calque.derive.readers.iob2 import read_iob2
from calque.derive.readers.lines import FORMAT_ALONE
from calque.derive.readers.links import UNKNOWN, read_gold, read_scored
from calque.derive.readers.markup import unescaped, without_tags
from calque.derive.readers.nli import read_nli
from calque.derive.readers.parallel import TwoFiles
from calque.derive.readers.squad import read_questions
from calque.derive.readers.text import chunks, sentences
from calque.derive.sentence import Span
from calque.derive.sources.files import Files
from calque.experiments.cli import app

MARK = "\ufeff"
WORD = "1\tSail\tsail\tVERB\t_\t_\t0\troot\t_\t_\n\n"
QUESTION = (
    '{"data": [{"paragraphs": [{"context": "Ann sails .", "qas": [{"id": "q", "question": "Who ?", '
    '"answers": [{"text": "Ann", "answer_start": 0}]}]}]}]}'
)
Read = Callable[[Path, Counter[str]], Any]


def put(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def words(path: Path, counts: Counter[str], **options: bool) -> list[str]:
    """The sentences of running text, with spaces between their words."""
    read = []
    for chunk in chunks(path):
        made, left_out = sentences(chunk, **options)
        counts.update(left_out)
        read += [sentence.text for sentence in made]
    return read


def natural(path: Path, counts: Counter[str], **options: bool) -> list[str]:
    return [line for piece in TextFiles((path,), **options).pieces() for line in piece.columns(counts)[0]]


def bitext(counts: Counter[str], *paths: Path, **options: Any) -> list[tuple[str, ...]]:
    pieces = BitextFiles(*paths, **options).pieces()
    return [pair for piece in pieces for pair in zip(*piece.columns(counts), strict=True)]


def calque(*arguments: object) -> tuple[int, str, str]:
    ran = CliRunner().invoke(app, list(map(str, arguments)))
    return ran.exit_code, " ".join(ran.stdout.split()), ran.stderr


JOINED: list[tuple[str, Read, str]] = [
    ("text", words, "One day .\n"),
    ("lines", natural, "One day .\n"),
    ("conllu", lambda path, counts: list(read_conllu(path, counts)), WORD),
    ("lemmas", lambda path, counts: list(read_lemmas(path)), WORD),
    ("treebank text", natural, WORD),
    ("iob2", lambda path, counts: list(read_iob2(path, counts)), "Ann\tB-PER\n\n"),
    ("pairs", lambda path, counts: list(read_nli(path, counts)), "One .\tTwo .\tneutral\n"),
    ("gold", lambda path, counts: read_gold(path, [(UNKNOWN, UNKNOWN)] * 2).pairs, "0-0\n"),
    ("links", lambda path, counts: list(read_scored(path)), "0-0\n"),
    ("tokens", lambda path, counts: list(TwoFiles(path, path)), "one day\n"),
    ("columns", lambda path, counts: bitext(counts, path), "one\teins\n"),
    ("moses", lambda path, counts: bitext(counts, path, path), "one\n"),
    ("parallel", lambda path, counts: list(BitextFiles(path).words("en", "de", counts)), "one\teins\n"),
]


@pytest.mark.parametrize(("read", "text"), [row[1:] for row in JOINED], ids=[row[0] for row in JOINED])
def test_byte_order_marks_of_joined_files_are_no_words(read: Read, text: str, tmp_path: Path) -> None:
    path = tmp_path / "file"
    assert read(put(path, MARK * 2 + text + MARK + text), Counter()) == read(put(path, text * 2), Counter())


@pytest.mark.parametrize(
    ("read", "text"), [row[1:] for row in JOINED if row[0] in ("text", "lines", "conllu", "iob2", "pairs", "columns")]
)
def test_marks_are_counted_but_for_the_one_of_the_file(read: Read, text: str, tmp_path: Path) -> None:
    counts: Counter[str] = Counter()
    read(put(tmp_path / "file", MARK + text + MARK + text), counts)
    assert [count for what, count in counts.items() if "byte order mark" in what] == [1]


def test_a_mark_at_the_head_of_json_or_of_a_dictionary(tmp_path: Path) -> None:
    assert [one.id for one in read_questions(put(tmp_path / "qa", f"{MARK}{MARK}{QUESTION}"))] == ["q"]
    assert [one.source for one in read_lexicon(put(tmp_path / "dict", f"a\tb\n{MARK}c\td\n"))] == ["a", "c"]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
@pytest.mark.parametrize(("read", "text"), [row[1:] for row in JOINED], ids=[row[0] for row in JOINED])
def test_utf_16_is_named(read: Read, text: str, encoding: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"/file:1: .*UTF-16.*iconv"):
        read(put(tmp_path / "file", text.encode(encoding)), Counter())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A 👨‍👩‍👧 and a 👩🏽‍🚀!", ["A", "👨‍👩‍👧", "and", "a", "👩🏽‍🚀", "!"]),  # joined by U+200D, with a skin tone
        ("❤️‍🔥 👁️‍🗨️ 🙂‍↔️", ["❤️‍🔥", "👁️‍🗨️", "🙂‍↔️"]),  # with variation selectors, and a mathematical symbol
        ("🇫🇷🇩🇪 🏴󠁧󠁢󠁥󠁮󠁧󠁿", ["🇫🇷", "🇩🇪", "🏴󠁧󠁢󠁥󠁮󠁧󠁿"]),  # pairs of regional indicators, and a flag of tags
        ("1️⃣ #️⃣ 👍🏽👍🏽", ["1️⃣", "#️⃣", "👍🏽", "👍🏽"]),
        ("क्\u200dष र्\u200cय می\u200cخواهم", ["क्\u200dष", "र्\u200cय", "می\u200cخواهم"]),
        (
            "𑄌𑄋𑄴𑄟𑄳𑄦 葛\U000e0100城 e\u0301te\u0301.",
            ["𑄌𑄋𑄴𑄟𑄳𑄦", "葛\U000e0100城", "e\u0301te\u0301", "."],
        ),  # marks above U+FFFF
        ("\"\u200d 'x'", ['"', "'", "x", "'"]),  # a joiner that joins nothing
    ],
)
def test_what_is_displayed_as_one_character_is_not_cut(text: str, expected: list[str]) -> None:
    assert split_words(text) == expected


def test_direction_marks_outside_words_are_left_out_and_counted(tmp_path: Path) -> None:
    path, counts = put(tmp_path / "a.txt", "\u200fאב ,\u200f גד\nit \u200e\u200f snows\n\u200e\n"), Counter[str]()
    assert words(path, counts) == ["אב , גד", "it snows"]
    assert counts[FORMAT_ALONE] == 4
    counts = Counter()
    assert natural(path, counts) == ["\u200fאב ,\u200f גד", "it snows"]
    assert (counts[FORMAT_ALONE], counts["blank lines"]) == (2, 1)
    table, counts = put(tmp_path / "table", "it \u200e snows\tes schneit\n\u200f\tnichts\n"), Counter()
    assert bitext(counts, table) == [("it snows", "es schneit")] and counts[FORMAT_ALONE] == 2
    counts, path = Counter(), put(tmp_path / "a.tokens", "he \u200e sat .\n")
    assert (words(path, counts), counts) == (["he sat ."], {FORMAT_ALONE: 1})


def test_answers_keep_their_places_next_to_format_characters(tmp_path: Path) -> None:
    text = QUESTION.replace("Ann sails", "\u200e Ann, \u200fBo sails").replace('"Ann"', '"Bo"').replace(": 0}", ": 8}")
    (example,) = read_questions(put(tmp_path / "qa", text), counts := Counter[str]())
    ((sentence,),) = example.texts[1:]
    assert (sentence.text, sentence.spans) == ("Ann , Bo sails .", (Span(2, 3, "answer"),))
    assert counts == {FORMAT_ALONE: 2}


WIKI = """<doc id="7" url="http://x?curid=7" title="C &gt; D">
C &gt; D

Old ships sail slowly<br>to the port near a town &amp; a lake .
H<sub>2</sub>O is<ref name="a">Smith</ref> not &lt;br&gt; but&nbsp;water , in a <span id="x">book</span> for x &lt; y .
<templatestyles src="x.css" />
&lt;references group=&quot;a&quot; /&gt;
If a&lt;b and c&gt;d then List<String> is what the user of it has .

</doc>
"""
OF_WIKI = [
    "Old ships sail slowly to the port near a town & a lake .",
    "H2O is not but water , in a book for x < y .",
    "If a < b and c > d then List < String > is what the user of it has .",
]


def test_documents_of_wikipedia_have_no_markup(tmp_path: Path) -> None:
    path, counts, natural_counts = put(tmp_path / "wiki", WIKI), Counter[str](), Counter[str]()
    assert words(path, counts) == OF_WIKI
    lines = natural(path, natural_counts)
    assert [" ".join(split_words(line)) for line in lines] == OF_WIKI
    for found in (counts, natural_counts):
        assert found["tags"] == 2
        assert [n for what, n in found.items() if "tags inside" in what] == [7]
        assert [n for what, n in found.items() if "unescaped" in what] == [4]


MOSES = "it &apos;s &quot; true &quot; &#91; 1 &#93; &amp; more &#124; less\nA &amp;amp; B &lt; C & D &unknown; .\n"
UNESCAPED = ['it \'s " true " [ 1 ] & more | less', "A & B < C & D &unknown; ."]


def test_escaped_text_is_unescaped_on_request_and_else_counted(tmp_path: Path) -> None:
    path = put(tmp_path / "moses", MOSES)
    for read in (words, natural, lambda path, counts, **options: [a for a, _ in bitext(counts, path, path, **options)]):
        kept: Counter[str] = Counter()
        assert "amp" in " ".join(read(path, kept))
        assert [n for what, n in kept.items() if "`escaped`" in what and n] in ([2], [4])  # of a bitext, on both sides
        assert [" ".join(split_words(line)) for line in read(path, Counter(), escaped=True)] == [
            " ".join(split_words(line)) for line in UNESCAPED
        ]
    table = put(tmp_path / "table", "it &apos;s\tc &apos;est\n")
    assert list(BitextFiles(table, escaped=True).words("en", "de", Counter())) == [
        (("it", "'", "s"), ("c", "'", "est"))
    ]


def test_words_of_a_bitext_are_those_of_gold_sets_and_short_pairs_are_counted(tmp_path: Path) -> None:
    table = put(tmp_path / "table", "Don't go!\tN'y va pas !\nIt's 3.5 km, no?\tC'est à 3,5 km, non ?\n")
    for fewest in (1, 4, 5):
        files, counts = BitextFiles(table, words_in=("en", "fr"), fewest=fewest), Counter[str]()
        rows = [row for piece in files.pieces() for row in zip(*piece.columns(counts), strict=True)]
        pairs = list(BitextFiles(table).words("en", "fr", Counter()))
        kept = [pair for pair in pairs if min(map(len, pair)) >= fewest]
        assert [tuple(tuple(side.split(" ")) for side in row) for row in rows] == kept
        assert counts[f"pairs with fewer than {fewest} words on a side"] == 2 - len(kept)
    assert len(kept) == 1
    assert BitextFiles(table).identity() != BitextFiles(table, words_in=("en", "fr")).identity()


@pytest.mark.parametrize("part", ["<ref>", "<ref>a ", "&amp;" * 3 + "amp;" * 30])
def test_markup_that_never_ends_takes_time_in_proportion(part: str) -> None:
    """A line of half a megabyte would take minutes if each tag were compared with all that follows."""
    counts: Counter[str] = Counter()
    assert without_tags(unescaped(part * (500_000 // len(part)), counts), counts).count("<") == 0


def test_whether_text_is_escaped_decides_what_is_derived(tmp_path: Path) -> None:
    path = put(tmp_path / "moses", MOSES)
    assert Files((path,)).corpus_fingerprint() != Files((path,), escaped=True).corpus_fingerprint()
    assert TextFiles((path,)).identity() != TextFiles((path,), escaped=True).identity()
    assert BitextFiles(path, path).identity() != BitextFiles(path, path, escaped=True).identity()


def test_parquet_that_no_memory_would_hold_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    monkeypatch.setattr(import_module("calque.derive.natural.parquet"), "LIMIT", 1 << 20, raising=False)
    path = tmp_path / "a.parquet"
    parquet.write_table(pa.table({"text": ["a" * 5_000_000, "b"]}), path, compression="zstd", use_dictionary=False)
    with pytest.raises(BadInput, match=r"a\.parquet: .*decompress to 5,000,0"):
        natural(path, Counter())
    parquet.write_table(pa.table({"text": ["b", "a" * 2_000_000]}), path, compression="none")
    with pytest.raises(BadInput, match=r"a\.parquet: row 2 has 2,000,000 bytes"):
        natural(path, Counter())


def test_rows_of_one_value_are_not_held_together(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    path = tmp_path / "a.parquet"
    parquet.write_table(pa.table({"text": ["a" * 1_500_000] * 12}), path)  # one value in the file's dictionary
    pieces = list(TextFiles((path,)).pieces())
    assert [len(piece.columns(Counter())[0]) for piece in pieces] == [3, 3, 3, 3]


def test_a_line_without_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_module("calque.derive.readers.lines"), "LIMIT", 1 << 20, raising=False)
    path = put(tmp_path / "a.gz", gzip.compress(b"a\n" + b"b" * (1 << 21)))
    with pytest.raises(BadInput, match=r"a\.gz:2: no line end within 1 MiB"):
        bitext(Counter(), path, path)
    with pytest.raises(BadInput, match=r"a\.gz:2: no line end within 1 MiB"):
        TwoFiles(path, path)


def test_placeholders_for_translations_are_left_out(tmp_path: Path) -> None:
    english = ["In the beginning .", "<range>", "And it was good .", "NS", "<i>", "a <range> b"]
    german = ["Am Anfang .", "Es wurde Licht .", " <range> ", "Etwas .", "x", "a b"]
    pairs = list(zip(english, german, strict=True))
    two = [
        put(tmp_path / name, "".join(f"{line}\n" for line in side)) for name, side in (("en", english), ("de", german))
    ]
    table = put(tmp_path / "table", "".join(f"{a}\t{b}\n" for a, b in pairs))
    for paths in ((two[0], two[1]), (table,)):
        counts: Counter[str] = Counter()
        assert bitext(counts, *paths) == [pairs[0], pairs[5]]
        assert [n for what, n in counts.items() if "placeholder" in what] == [4]
    counts = Counter()
    assert len(list(BitextFiles(table).words("en", "de", counts))) == 2
    assert [n for what, n in counts.items() if "placeholder" in what] == [4]


LINKS = {
    "zero": "0-0 1-1 2-2\n" * 12,
    "one": "1-1 2-2 3-3\n" * 12,
    "inside": "1-1 2-2\n" * 12,
    "short zero": "0-0 1-1\n0-0 1-1\n",
    "short one": "1-1 2-2\n1-1 2-2\n",
    "sparse": "1-1\n\n",
    "text": "a b c\n" * 12,
    "short text": "a b\na b\n",
}


@pytest.fixture
def links(tmp_path: Path) -> dict[str, Path]:
    return {name: put(tmp_path / name.replace(" ", "-"), text) for name, text in LINKS.items()}


@pytest.mark.parametrize(
    ("gold", "of", "text", "wrong", "option"),
    [
        ("zero", "one", None, "one", "--links-from-one"),
        ("zero", "inside", None, "inside", "--links-from-one"),
        ("zero", "one", "text", "one", "--links-from-one"),
        ("one", "zero", None, "one", "--from-one"),
        ("one", "zero", "text", "one", "--from-one"),
        ("short zero", "short one", None, "short one", "--links-from-one"),
        ("short one", "short zero", None, "short one", "--from-one"),
        ("short one", "short zero", "short text", "short one", "--from-one"),
        ("short zero", "short one", "short text", "short one:1", "--links-from-one"),
    ],
)
def test_links_that_count_from_one_are_refused_until_it_is_said(
    gold: str, of: str, text: str | None, wrong: str, option: str, links: dict[str, Path]
) -> None:
    asked = ["aer", links[gold], links[of]]
    asked += ["--source", links[text], "--target", links[text]] if text else []
    code, said, told = calque(*asked)
    assert (code, said) == (2, "") and f"/{wrong.replace(' ', '-')}: " in told and option in told
    code, said, _ = calque(*asked, option)
    row = said.rpartition("---|")[2].split("|")
    assert code == 0 and row[3].strip() == {"inside": "20.00"}.get(of, "0.00")


def test_links_that_do_count_from_zero_can_be_said_to(links: dict[str, Path]) -> None:
    code, said, _ = calque("aer", links["zero"], links["inside"], "--links-from-zero")
    assert code == 0 and "| 20.00 |" in said
    code, said, _ = calque("aer", links["short zero"], links["sparse"])  # too few to tell: they are what they are
    assert code == 0 and "| 1 |" in said


def test_a_lexicon_of_links_that_count_from_one(links: dict[str, Path], tmp_path: Path) -> None:
    asked = ["lexicon", links["text"], links["text"], "--out", tmp_path / "out", "--links"]
    for name in ("one", "inside"):
        code, said, told = calque(*asked, links[name])
        assert (code, said) == (2, "") and f"/{name}: " in told and "--links-from-one" in told
    assert not (tmp_path / "out").exists()
    assert calque(*asked, links["one"], "--links-from-one")[0] == 0
    assert [(e.source, e.target) for e in read_lexicon(tmp_path / "out")] == [("a", "a"), ("b", "b"), ("c", "c")]
    assert calque(*asked, links["zero"], "--links-from-one")[0] == 2


def test_gold_of_wpt_that_counts_from_zero(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"gold:2: .*count from 1"):
        read_gold(put(tmp_path / "gold", "1 1 1 S\n1 0 0 S\n"), [(2, 2)])


def test_marks_in_links_are_counted(links: dict[str, Path], tmp_path: Path) -> None:
    marked = put(tmp_path / "marked", MARK + LINKS["short zero"] + MARK + LINKS["short zero"])
    text = put(tmp_path / "twice", LINKS["short text"] * 2)
    assert calque("aer", marked, marked, "--source", text, "--target", text)[2].startswith("1 byte order mark")
    told = calque("lexicon", text, text, "--links", marked, "--out", tmp_path / "out")[2]
    assert told.startswith("1 byte order mark")


def test_questions_that_no_memory_would_hold_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_module("calque.derive.readers.squad"), "LARGEST", 1_000, raising=False)
    with pytest.raises(BadInput, match=r"qa\.gz: "):
        list(read_questions(put(tmp_path / "qa.gz", gzip.compress(QUESTION.encode() + b" " * 1_000))))


@pytest.mark.parametrize(
    ("gold", "of", "expected"),
    [
        ("\n0-0\n", "0-0 1-1\n0-0 1-1\n", "| of | 2 | 60.00 |"),
        ("0p0\n\n", "\n\n", "| of | 2 | – |"),
        ("0p0\n\n", "0-0\n\n", "| of | 2 | 0.00 |"),
        ("\n\n", "\n\n", "/gold: "),
        ("0-0\n", "0-0 1p1\n", "/of:1: '1p1'"),
        ("0-0\n", "0?0\n", "/of:1: '0?0'"),
        ("0-0\n", "0-0,1-1\n", "/of:1: '0-0,1-1'"),
        ("0-0\n", "0-0\n0-0\n", "1 lines of links for 2"),
        ("0-0\n", "0-0:0_5\n", "/of:1: '0-0:0_5'"),
        ("0-0\n", "٠-٠\n", "/of:1: '٠-٠'"),
    ],
)
def test_links_at_the_edges_of_the_format(gold: str, of: str, expected: str, tmp_path: Path) -> None:
    code, said, told = calque("aer", put(tmp_path / "gold", gold), put(tmp_path / "of", of))
    refused = not expected.startswith("|")
    assert code == 2 * refused and expected in (told if refused else said) and told.count("\n") <= refused


def test_dictionaries_of_muse_have_spaces_or_tabs_and_duplicates(tmp_path: Path) -> None:
    counts: Counter[str] = Counter()
    path = put(tmp_path / "dict", "the el\nthe\tla \ncat  gato\nNew York\tNueva York\ncat\tgato\ndog,\tperro\n")
    expected = [("the", "el"), ("the", "la"), ("cat", "gato"), ("New York", "Nueva York"), ("dog,", "perro")]
    assert read_lexicon(path, counts) == [Entry(*pair, 1.0, 1) for pair in expected]
    assert [n for what, n in counts.items() if "twice" in what] == [1]


@pytest.mark.parametrize(
    "line",
    ["dog\t", "\tperro", "dog", "New York Nueva", "c\td\t0_1\t2", "c\td\t0.5\t1_0", "c\td\t٠.٥\t2", "c\td\t0.5\t٢"],
)
def test_a_line_of_a_dictionary_that_is_no_entry(line: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"dict:2: "):
        read_lexicon(put(tmp_path / "dict", f"a\tb\n{line}\n"))


def test_numbers_of_treebanks_have_ascii_digits(tmp_path: Path) -> None:
    for number in ("1_0", "١"):
        path = put(tmp_path / "a.conllu", WORD.replace("1\t", f"{number}\t", 1))
        with pytest.raises(BadInput, match=r"a\.conllu:1: "):
            lines = [(1, WORD.replace("1\t", f"{number}\t", 1).rstrip()), (2, "")]
            list(treebank_texts(NAMES, lines, path, Counter()))
        assert list(read_lemmas(path)) == []


PACK: dict[str, Callable[[bytes], bytes]] = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}


@pytest.mark.parametrize("suffix", PACK)
def test_compressed_files_are_aligned_and_scored(suffix: str, tmp_path: Path) -> None:
    pack = PACK[suffix]
    text = {"a": b"the house\nthe book\n", "b": b"das haus\ndas buch\n", "links": b"0-0 1-1\n0-0 1-1\n"}
    a, b, of = (put(tmp_path / f"{name}.{suffix}", pack(data)) for name, data in text.items())
    assert calque("align", a, b) == (0, "0-0 1-1 0-0 1-1", "")
    code, said, _ = calque("aer", of, of, "--source", a, "--target", b)
    assert code == 0 and "| 0.00 |" in said
    code, _, _ = calque("lexicon", a, b, "--links", of, "--out", tmp_path / "out", "--least-count", 1)
    assert code == 0 and {(e.source, e.target) for e in read_lexicon(tmp_path / "out")} >= {("the", "das")}
    assert len(list(BitextFiles(a, b).words("en", "de", Counter()))) == 2
    tagged = put(tmp_path / f"tags.{suffix}", pack(b"Ann\tB-PER\nBo\tB-PER"))
    assert [len(sentence) for sentence in read_iob2(tagged)] == [2]
    assert [one.id for one in read_questions(put(tmp_path / f"qa.{suffix}", pack(QUESTION.encode())))] == ["q"]


@pytest.mark.parametrize("suffix", PACK)
def test_a_file_that_is_not_what_its_name_says(suffix: str, tmp_path: Path) -> None:
    for data in (b"the house\n", PACK[suffix](b"")):
        path = put(tmp_path / f"a.{suffix}", data)
        code, said, told = calque("align", path, path)
        assert (code, said) == (2, "") and f"/a.{suffix}: " in told and told.count("\n") == 1


@pytest.mark.parametrize("data", [b"PK\x03\x04rest", b"\x28\xb5\x2f\xfdrest"], ids=["zip", "zstandard"])
def test_text_in_archives_is_refused_by_the_name_of_their_format(data: bytes, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"/text: .*(zip|zstandard)"):
        words(put(tmp_path / "text", data), Counter())


@pytest.mark.parametrize("natural", [False, True])
def test_a_mark_in_a_line_of_joined_files_is_no_word(natural: bool, tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text(f"One day .{MARK} Two days .\n", "utf-8")
    counts: Counter[str] = Counter()
    if natural:
        read = [line for piece in TextFiles((path,)).pieces() for line in piece.columns(counts)[0]]
    else:
        read = []
        for chunk in chunks(path):
            made, left_out = sentences(chunk)
            read += [sentence.text for sentence in made]
            counts += left_out
    assert " ".join(read) == "One day . Two days ."
    assert sum(counts.values()) == 1


@pytest.mark.parametrize("text", [WORD, "Rome\tB-LOC\nrains\tO\n\n", '{"text": "a"}\n', "<tmx>\n</tmx>\n"])
def test_annotated_files_are_no_bitext(text: str, tmp_path: Path) -> None:
    path, plain = tmp_path / "a.txt", tmp_path / "plain"
    path.write_text(text, "utf-8")
    plain.write_text("one\n" * text.count("\n"), "utf-8")
    files = [BitextFiles(path, plain), BitextFiles(plain, path)]
    for bitext in [*files, *([] if text.startswith("<") else [BitextFiles(path)])]:
        with pytest.raises(BadInput, match=rf"{path}:1: "):
            list(bitext.pieces())


def test_comments_of_markup_are_removed(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text(
        '<doc id="1">\nT\n\nThe river is long and wide <!-- not hidden --> and it flows on .\n</doc>\n', "utf-8"
    )
    (chunk,) = chunks(path)
    (sentence,), left_out = sentences(chunk)
    assert list(sentence.words) == "The river is long and wide and it flows on .".split()
    assert left_out["tags inside lines, removed"] == 1


def test_links_that_are_written_twice_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "links"
    path.write_text("0-0 0-0 1-1\n0-0\n")
    counts: Counter[str] = Counter()
    assert [sorted(links) for links in read_scored(path, counts)] == [[(0, 0), (1, 1)], [(0, 0)]]
    assert list(counts.values()) == [1]


@pytest.mark.parametrize("command", ["align", "lexicon"])
def test_a_file_to_write_is_not_called_compressed(command: str, tmp_path: Path) -> None:
    text, links, out = put(tmp_path / "text", "a b\na b\n"), put(tmp_path / "links", "0-0\n0-0\n"), tmp_path / "out.gz"
    words = [command, text, text, "--out", out, *(["--links", links] if command == "lexicon" else [])]
    result = CliRunner().invoke(app, list(map(str, words)))
    assert (result.exit_code, len(result.stderr.splitlines()), out.exists()) == (2, 1, False)
    assert str(out) in result.stderr

"""Formats of text, told by names and contents: what text each holds, and what is refused."""

import gzip
import json
from collections import Counter
from importlib import import_module
from pathlib import Path

import pytest

from calque.derive.natural.files import TextFiles
from calque.derive.natural.formats import RUNNING, format_of, join_words
from calque.derive.readers.annotation import ENTITIES, JSON, TREEBANK


def read(path: Path, column: str = "text") -> tuple[list[str], dict[str, int]]:
    """A file's lines of text, and what was left out."""
    left_out: Counter[str] = Counter()
    lines = [line for piece in TextFiles((path,), column).pieces() for line in piece.columns(left_out)[0]]
    return lines, dict(+left_out)


def row(number: str, form: str, misc: str = "_") -> str:
    return "\t".join([number, form, *("_" * 7), misc])


FILES = {
    "text.txt": (
        RUNNING["plain"],
        ["  Two  spaces stay.", "", "\t", "私は 学生。 ", "last"],
        ["Two  spaces stay.", "私は 学生。", "last"],
        {"blank lines": 2},
    ),
    "wiki.txt": (
        RUNNING["doc"],
        ['<doc id="1" title="Fluss">', "Fluss", "", "Ein Fluss ist kurz.", "Geschichte.", "<br>", "</doc>", ""],
        ["Ein Fluss ist kurz.", "Geschichte."],
        {"titles": 1, "tags": 1, "blank lines": 1},
    ),
    "wiki.tokens": (
        RUNNING["wikitext"],
        [" = Title = ", " ", " It has 3 @,@ 000 well @-@ known words . "],
        ["It has 3,000 well-known words ."],
        {"headings": 1, "blank lines": 1},
    ),
    "bank.conllu": (
        TREEBANK,
        [
            "# sent_id = 1",
            "# text = Au revoir!",
            row("1-2", "Au", "SpaceAfter=No"),
            row("1", "À"),
            row("2", "le"),
            row("3", "revoir"),
            "",
            "# sent_id = 2",
            row("1-2", "Du"),
            row("1", "De"),
            row("2", "le"),
            row("2.1", "rien"),
            row("3", "pain", "Gloss=x|SpaceAfter=No"),
            row("4", "."),
            "",
        ],
        ["Au revoir!", "Du pain."],
        {},
    ),
    "entities.tsv": (
        ENTITIES,
        ["# comment", "en:Paris\tB-LOC", "en:is\tO", "", "-DOCSTART-\tO", "", "en:#\tO", "en:1\tO", ""],
        ["Paris is", "# 1"],
        {},
    ),
    "numbered.iob2": (
        ENTITIES,
        ["# text = a b", "1\tA\tB-PER\t-\t-", "2\tb\tO\t-\t-", "", "1\tc\tO\t-\t-", ""],
        ["A b", "c"],
        {},
    ),
    "rows.jsonl": (
        JSON,
        [json.dumps({"id": 1, "text": "One.\n\nTwo."}), "", '{"text": null}', '{"text": "\\u79c1"}'],
        ["One.", "Two.", "私"],
        {"blank lines": 2, "rows without text": 1},
    ),
}


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
@pytest.mark.parametrize("name", FILES)
def test_a_file_is_the_text_that_it_holds(name: str, packed: bool, tmp_path: Path) -> None:
    kind, lines, texts, left_out = FILES[name]
    data = "".join(f"{line}\n" for line in lines).encode()
    path = tmp_path / (f"{name}.gz" if packed else name)
    path.write_bytes(gzip.compress(data) if packed else data)
    assert format_of(path) == kind
    assert read(path) == (texts, left_out)


@pytest.mark.parametrize("name", FILES)
def test_text_does_not_depend_on_where_a_file_is_cut(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, lines, texts, left_out = FILES[name]
    path = tmp_path / name
    path.write_text("".join(f"{line}\n" for line in lines) * 3, encoding="utf-8")
    monkeypatch.setattr(import_module("calque.derive.readers.lines"), "SIZE", 1)
    assert len(list(TextFiles((path,)).pieces())) >= 3
    assert read(path) == (texts * 3, {why: 3 * count for why, count in left_out.items()})


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ("Pierre lives in Paris .", "Pierre lives in Paris ."),
        ("佐 賀 県", "佐賀県"),
        ("１ ９ 年 、 T V で 9 0", "１９年、TVで90"),  # by character: what stood between digits is not known
        ("ประเทศ ไทย", "ประเทศไทย"),
        ("東京 タワー in 東京 ( Japan )", "東京タワー in 東京 ( Japan )"),
        ("한국 사람", "한국 사람"),  # Korean has spaces
        ("a b c", "a b c"),
        ("", ""),
    ],
)
def test_scripts_without_spaces_are_joined_without(words: str, text: str) -> None:
    assert join_words(words.split()) == text

from collections import Counter
from pathlib import Path

import pytest

from calque.derive.readers.conllu import read_conllu
from calque.derive.sentence import Sentence
from tests.derive.readers.test_conllu import row


def read(path: Path, *lines: str, language: str = "") -> tuple[list[Sentence], Counter[str]]:
    path.write_text("\n".join(lines) + "\n\n", encoding="utf-8")
    counts = Counter[str]()
    return list(read_conllu(path, counts, units="xtreme", language=language)), counts


def token(path: Path, *words: str, language: str = "", form: str = "xy") -> tuple[str, ...]:
    """The tags of a sentence that begins with a multiword token of its first two words."""
    found, _ = read(path, row("1-2", form, "_", "_", "_"), *words, language=language)
    return found[0].tags


def enhanced(line: str, deps: str) -> str:
    columns = line.split("\t")
    return "\t".join((*columns[:8], deps, columns[9]))


def test_the_word_nearest_to_the_root_gives_the_tag(tmp_path: Path) -> None:
    words = (
        row("1", "à", "ADP", "2", "case"),
        row("2", "lequel", "PRON", "3", "obl"),
        row("3", "pense", "VERB"),
    )
    assert token(tmp_path / "a", *words) == ("PRON", "VERB")
    # An arc of the enhanced graph makes a word's way to the root longer, even one that is not in its tree.
    longer = (
        words[0],
        enhanced(words[1], "3:obl|4:nsubj|8.1:dep"),
        words[2],
        row("4", "x", "NOUN", "3", "obj"),
    )
    assert token(tmp_path / "b", *longer) == ("PRON", "VERB", "NOUN")
    level = (
        row("1", "do", "AUX", "3", "aux"),
        row("2", "n't", "PART", "3", "advmod"),
        row("3", "go", "VERB"),
    )
    assert token(tmp_path / "c", *level) == ("AUX", "VERB")
    beyond = (enhanced(level[0], "3:aux|4:aux"), *level[1:], row("4", "x", "NOUN", "3", "obj"))
    assert token(tmp_path / "d", *beyond) == ("PART", "VERB", "NOUN")


@pytest.mark.parametrize(
    ("language", "tags", "tag"),
    [
        ("de", ("DET", "ADP"), "ADP"),
        ("de", ("AUX", "NOUN"), "NOUN"),
        ("fr", ("NOUN", "AUX"), "AUX"),
        ("fr-ca", ("NOUN", "AUX"), "AUX"),
        ("it", ("PRON", "ADV"), "ADV"),
        ("es", ("NUM", "DET"), "DET"),  # a ranking without NUM
        ("es", ("SYM", "NUM"), "NUM"),
    ],
)
def test_words_on_one_level_are_ranked_by_tag(
    tmp_path: Path, language: str, tags: tuple[str, str], tag: str
) -> None:
    words = (row("1", "x", tags[0], "3"), row("2", "y", tags[1], "3"), row("3", "z", "VERB"))
    assert token(tmp_path / "a", *words, language=language) == (tag, "VERB")

import re
from collections import Counter

import pytest

from calque.derive.errors import BadInput
from calque.derive.readers.conllu import read_conllu
from calque.derive.sentence import Sentence


def row(number, form, upos="NOUN", head="0", relation=""):
    relation = relation or ("root" if head == "0" else "dep")
    return "\t".join((number, form, form, upos, "_", "_", head, relation, "_", "_"))


def tree(*heads):
    return "\n".join(row(str(i), f"w{i}", head=str(head)) for i, head in enumerate(heads, start=1)) + "\n\n"


def read(path, text):
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    counts = Counter()
    return list(read_conllu(path, counts)), counts


GOOD = "\n".join(
    [
        "# sent_id = 1",
        row("1-2", "du", "_", "_", "_"),
        row("1", "de", "ADP", "3", "case"),
        row("2", "le", "DET", "3", "det:def"),
        row("3", "20 000", "NUM"),
        row("3.1", "vu", "VERB", "_", "_"),
        row("3.2", "vu", "VERB", "_", "_"),
        row("4", ".", "PUNCT", "3", "punct"),
        "",
        row("0.1", "vu", "VERB", "_", "_"),
        row("1", "Oui", "INTJ"),
        "\n",
    ]
)


def test_words_tags_and_trees_are_read(tmp_path):
    (found, counts), tags = read(tmp_path / "a", GOOD), ("ADP", "DET", "NUM", "PUNCT")
    assert found == [
        Sentence(("de", "le", "20000", "."), tags, (2, 2, -1, 2), ("case", "det:def", "root", "punct")),
        Sentence(("Oui",), ("INTJ",), (-1,), ("root",)),
    ]
    assert counts == {"multiword tokens": 1, "empty nodes": 3, "words that lost white space": 1}
    assert read(tmp_path / "a", GOOD.replace("\n", "\r\n")) == (found, counts)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "a: the file is empty"),
        ("# newdoc\n\n", "a: this file contains no sentences"),
        ("# text = a\n\n" + tree(0), ":2: a sentence without words"),
        (tree(0) + "# sent", ":3: .*line end"),
        (tree(0) + tree(0)[:-1], ":3: no blank line"),
        (tree(0, 1)[:-8] + "\n", ":2: 8 tab"),
        (tree(0).replace("\t", " "), ":1: 1 tab"),
        (tree(0).replace("w1", " ", 1), ":1: .*FORM"),
        *((tree(0).replace("NOUN", tag), f":1: .*'{tag}'") for tag in ("NN", "_", "CONJ")),
        *(
            (tree(0, 1).replace("dep", wrong), f":2: .*{re.escape(wrong)}")
            for wrong in ("dobj", "nsubjpass", "name", "_", "OBJ", " obj", "obj:", "obj:X", "obj:a:b")
        ),
        (tree(0, 1).replace("dep", "root:x"), ":2: .*root:x"),
        (tree(0, 1).replace("root", "obj"), ":1: .*obj"),
        *((row(number, "a") + "\n\n", f":1: .*{number}") for number in ("2", "01", "one", "9" * 50)),
        *((row("1", "a", head=head) + "\n\n", f":1: HEAD '{head}'") for head in ("_", "-1", "²", "9" * 50)),
        *((tree(0, head), f":2: HEAD {head} of word 2") for head in (2, 3)),
        (tree(0, 1, 0), ":3: 2 roots, words 1 and 3"),
        (tree(0, 1) + tree(0, 1, 4, 5, 3, 3), ":6: word 3 is its own ancestor"),
        (row("1-2", "x", "_", "_", "_") + "\n" + tree(0), ":2: .*beyond word 1"),
        (row("2-3", "x", "_", "_", "_") + "\n" + tree(0, 1, 1), ":1: .*2-3"),
        (row("1-1", "x", "_", "_", "_") + "\n" + tree(0), ":1: .*1-1"),
        (row("1.1", "x", "_", "_", "_") + "\n" + tree(0), ":1: .*1.1"),
        (tree(0).encode().replace(b"w1", b"w\xe9", 1), ":1: byte 0xe9"),
        (tree(0).replace("w1", "w\0", 1), ":1: this line contains a NUL"),
    ],
)
def test_malformed_files_are_rejected_with_their_line(tmp_path, text, message):
    with pytest.raises(BadInput, match=message):
        read(tmp_path / "a", text)


def test_real_treebanks(calque_data):
    totals = {}
    for path in sorted((calque_data / "ud").glob("*/*.conllu")):
        counts = Counter()
        sentences = words = 0
        for sentence in read_conllu(path, counts):
            sentences, words = sentences + 1, words + len(sentence)
        rows = [line for line in path.read_text().split("\n") if line[:1].isdigit()]
        assert words + counts["multiword tokens"] + counts["empty nodes"] == len(rows)
        totals[path.name] = sentences
    assert len(totals) == 25
    assert [totals[f"en_ewt-ud-{split}.conllu"] for split in ("train", "dev", "test")] == [12544, 2001, 2077]
    assert {count for name, count in totals.items() if "_pud-" in name} == {1000}


def read_units(path, *lines, language=""):
    path.write_text("\n".join(lines) + "\n\n")
    counts = Counter()
    return list(read_conllu(path, counts, units="xtreme", language=language)), counts


def token(path, *words, language="", form="xy"):
    found, _ = read_units(path, row("1-2", form, "_", "_", "_"), *words, language=language)
    return found[0].tags


def enhanced(line, deps):
    columns = line.split("\t")
    return "\t".join((*columns[:8], deps, columns[9]))


def test_word_nearest_to_the_root_gives_the_tag(tmp_path):
    words = (
        row("1", "à", "ADP", "2", "case"),
        row("2", "lequel", "PRON", "3", "obl"),
        row("3", "pense", "VERB"),
    )
    assert token(tmp_path / "a", *words) == ("PRON", "VERB")
    # An arc of the enhanced graph lengthens a word's path to the root.
    own = enhanced(words[1], "3:obl|4:nsubj|8.1:dep")
    longer = words[0], own, words[2], row("4", "x", "NOUN", "3", "obj")
    assert token(tmp_path / "b", *longer) == ("PRON", "VERB", "NOUN")
    level = row("1", "do", "AUX", "3", "aux"), row("2", "n't", "PART", "3", "advmod"), row("3", "go", "VERB")
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
def test_words_on_one_level_are_ranked_by_tag(tmp_path, language, tags, tag):
    words = (row("1", "x", tags[0], "3"), row("2", "y", tags[1], "3"), row("3", "z", "VERB"))
    assert token(tmp_path / "a", *words, language=language) == (tag, "VERB")

import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from calque.derive.errors import BadInput
from calque.derive.readers.conllu import read_conllu, read_lemmas, read_treebank
from calque.derive.sentence import Sentence
from tests.treebanks import write_treebank


def row(number: str, form: str, upos: str = "NOUN", head: str = "0", relation: str = "") -> str:
    relation = relation or ("root" if head == "0" else "dep")
    return "\t".join((number, form, form, upos, "_", "_", head, relation, "_", "_"))


def tree(*heads: int) -> str:
    """A sentence of words w1, w2, ... with these heads, counted from 1."""
    return "\n".join(row(str(i), f"w{i}", head=str(head)) for i, head in enumerate(heads, start=1)) + "\n\n"


def read(path: Path, text: str | bytes) -> tuple[list[Sentence], Counter[str]]:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    counts: Counter[str] = Counter()
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


def test_words_tags_and_trees_are_read_and_the_rest_is_counted(tmp_path: Path) -> None:
    found, counts = read(tmp_path / "a", GOOD)
    assert found == [
        Sentence(
            words=("de", "le", "20000", "."),
            tags=("ADP", "DET", "NUM", "PUNCT"),
            heads=(2, 2, -1, 2),
            relations=("case", "det:def", "root", "punct"),
        ),
        Sentence(words=("Oui",), tags=("INTJ",), heads=(-1,), relations=("root",)),
    ]
    assert counts == {"multiword tokens": 1, "empty nodes": 3, "words that lost white space": 1}
    assert read(tmp_path / "a", GOOD.replace("\n", "\r\n")) == (found, counts)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "a: is empty"),
        ("\n", "a: no sentence in this file"),
        ("# newdoc\n\n", "a: no sentence in this file"),
        ("# text = a\n\n" + tree(0), ":1: a sentence without words"),
        (tree(0) + "# newdoc\n# sent_id = 2\n", ":4: a sentence without words: the file is truncated"),
        (tree(0) + "# sent", ":3: the last line has no line end: the file is truncated"),
        (row("0.1", "a", "_", "_", "_") + "\n\n", ":2: a sentence without words"),
        (tree(0) + tree(0)[:-1], ":3: no blank line after the last sentence: the file is truncated"),
        (tree(0, 1)[:-8] + "\n", ":2: 8 tab-separated columns; expected 10"),
        (tree(0, 1)[:-8], ":2: the last line has no line end: the file is truncated"),
        (tree(0).replace("\t", " "), ":1: 1 tab-separated columns; expected 10"),
        (tree(0).replace("NOUN", ""), ":1: column UPOS is empty"),
        (tree(0).replace("w1", " ", 1), ":1: column FORM is empty"),
        (row("1", "a") + "\n# late\n\n", ":2: a comment inside a sentence"),
        (tree(0).replace("NOUN", "NN"), ":1: UPOS 'NN'; expected one of ADJ"),
        (tree(0).replace("NOUN", "_"), ":1: UPOS '_'"),
        (tree(0).replace("NOUN", "CONJ"), ":1: UPOS 'CONJ'; expected one of ADJ"),
        *(
            (tree(0) + "# v1\n" + tree(0, 1).replace("dep", old), f":5: DEPREL '{old}'; .* \\(UD v1")
            for old in ("dobj", "nsubjpass", "csubjpass", "auxpass", "neg", "name", "mwe", "foreign", "remnant")
        ),
        *(
            (tree(0, 1).replace("dep", wrong), f":2: DEPREL '{re.escape(wrong)}'; expected a relation of UD v2")
            for wrong in ("_", "OBJ", " obj", "obj + x", "negative", "names", "obj:", "obj:X", "obj:a:b")
        ),
        (tree(0, 1).replace("dep", "root"), ":2: DEPREL root with HEAD 1; expected root if and only if HEAD is 0"),
        (tree(0, 1).replace("dep", "root:x"), ":2: DEPREL root:x with HEAD 1; expected root if and only if HEAD is 0"),
        (tree(0, 1).replace("root", "obj"), ":1: DEPREL obj with HEAD 0; expected root"),
        (row("1", "a", head="9" * 5000) + "\n\n", ":1: HEAD '9999.*9999'; expected a number"),
        (row("9" * 5000, "a") + "\n\n", ":1: ID '9999.*expected a number such as"),
        (
            "\n".join((row("1-2", "x", "_", "_", "_"), row("1", "a"), row("2-3", "x", "_", "_", "_"), tree(0)[2:])),
            ":3: multiword token 2-3 where word 2 is expected",
        ),
        (row("2", "a") + "\n\n", ":1: ID 2; expected 1"),
        (row("01", "a") + "\n\n", ":1: ID 01; expected 1"),
        (row("1", "a") + "\n" + row("1", "b", head="1") + "\n\n", ":2: ID 1; expected 2"),
        (row("one", "a") + "\n\n", ":1: ID 'one'"),
        (row("1", "a", head="_") + "\n\n", ":1: HEAD '_'; expected a number"),
        (row("1", "a", head="-1") + "\n\n", ":1: HEAD '-1'; expected a number"),
        (row("1", "a", head="²") + "\n\n", ":1: HEAD '²'; expected a number"),
        (tree(0, 3), ":2: HEAD 3 of word 2 in a sentence of 2"),
        (tree(0, 2), ":2: HEAD 2 of word 2 in a sentence of 2"),
        (tree(0, 1, 0), ":3: 2 roots, words 1, 3; expected one"),
        (tree(0, 3, 2), ":2: words 2, 3 form a cycle"),
        (tree(2, 1), ":1: words 1, 2 form a cycle"),
        (tree(0, 1) + tree(0, 1, 4, 5, 3, 3), ":6: words 3, 4, 5 form a cycle"),
        (row("1-2", "x", "_", "_", "_") + "\n" + tree(0), ":1: a multiword token extends beyond word 1"),
        (row("2-3", "x", "_", "_", "_") + "\n" + tree(0, 1, 1), ":1: multiword token 2-3 where word 1"),
        (row("1-1", "x", "_", "_", "_") + "\n" + tree(0), ":1: multiword token 1-1 where word 1"),
        (row("1-2", "x", "_", "0", "_") + "\n" + tree(0, 1), ":1: 1-2 has a HEAD or DEPREL"),
        (row("1-2", "x", "_", "_", "dep") + "\n" + tree(0, 1), ":1: 1-2 has a HEAD or DEPREL"),
        (row("1.1", "x", "_", "_", "_") + "\n" + tree(0), ":1: empty node 1.1 after ID 0"),
        (row("0.2", "x", "_", "_", "_") + "\n" + tree(0), ":1: empty node 0.2 after ID 0"),
        (tree(0).encode().replace(b"w1", b"w\xe9", 1), ":1: byte 0xe9 is not UTF-8"),
        (tree(0).replace("w1", "w\0", 1), ":1: a NUL byte"),
    ],
)
def test_a_malformed_file_is_refused_with_its_line(tmp_path: Path, text: str | bytes, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        read(tmp_path / "a", text)


def test_a_sentence_has_all_of_its_tree_or_none(tmp_path: Path) -> None:
    bare, path = [row(str(i), f"w{i}", head="_", relation="_") for i in (1, 2)], tmp_path / "a"
    path.write_text("\n".join([*bare, "\n"]) + tree(0))
    counts: Counter[str] = Counter()
    none, whole = read_conllu(path, counts, unparsed=True)
    assert (none.words, none.heads, none.relations) == (("w1", "w2"), (), ()) and whole.heads == (-1,)
    assert counts == {"sentences without a tree in their file": 1}
    for rows, said in (
        ([bare[0], row("2", "w2", head="1")], ":2: HEAD 1 after words without a HEAD; expected _"),
        ([row("1", "w1"), bare[1]], ":2: HEAD '_'; expected a number"),
        ([row("1", "w1", head="_", relation="dep")], ":1: HEAD '_'; expected a number"),
        ([row("1", "w1", head="0", relation="_")], ":1: DEPREL '_'"),
    ):
        path.write_text("\n".join([*rows, "\n"]))
        with pytest.raises(BadInput, match=said):
            list(read_conllu(path, unparsed=True))


def test_real_treebanks(calque_data: Path) -> None:
    totals = {}
    for path in sorted((calque_data / "ud").glob("*/*.conllu")):
        counts: Counter[str] = Counter()
        sentences = words = 0
        for sentence in read_conllu(path, counts):
            sentences, words = sentences + 1, words + len(sentence)
        rows = [line for line in path.read_text(encoding="utf-8").split("\n") if line[:1].isdigit()]
        assert words + counts["multiword tokens"] + counts["empty nodes"] == len(rows)
        totals[path.name] = sentences
    assert len(totals) == 25
    assert [totals[f"en_ewt-ud-{split}.conllu"] for split in ("train", "dev", "test")] == [12544, 2001, 2077]
    assert {count for name, count in totals.items() if "_pud-" in name} == {1000}


WITH_LEMMAS = """# text = Dogs don't
1\tDogs\tdog\tNOUN\t_\t_\t2\tnsubj\t_\t_
2-3\tdon't\t_\t_\t_\t_\t_\t_\t_\t_
2\tdo\tdo\tAUX\t_\t_\t0\troot\t_\t_
3\tn't\t_\tPART\t_\t_\t2\tadvmod\t_\t_
3.1\tbark\tbark\tVERB\t_\t_\t_\t_\t_\t_

"""


def test_words_come_with_their_lemmas(tmp_path: Path) -> None:
    path = tmp_path / "a.conllu"
    path.write_text(WITH_LEMMAS)
    assert list(read_lemmas(path)) == [("Dogs", "dog"), ("do", "do")]  # neither tokens nor nodes, nor without a lemma
    path.write_text(WITH_LEMMAS + "1\tno columns\n")
    with pytest.raises(BadInput, match=r"a\.conllu:8: 2 tab-separated columns; expected 10"):
        list(read_lemmas(path))


CAT = Sentence(("Cats", "sleep"), ("NOUN", "VERB"), (1, -1), ("nsubj", "root"))


def test_a_folder_is_all_of_its_files_in_order(tmp_path: Path) -> None:
    for name, word in (("b/y.conllu", "third"), ("a.conllu", "first"), ("b/x.conllu", "second")):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        write_treebank(tmp_path / name, [replace(CAT, words=(word, "sleep"))])
    (tmp_path / "notes.txt").write_text("no treebank")
    assert [sentence.words[0] for sentence in read_treebank(tmp_path)] == ["first", "second", "third"]

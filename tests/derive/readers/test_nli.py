import json
from collections import Counter
from pathlib import Path

import pytest

from calque.derive.errors import BadInput
from calque.derive.example import Example
from calque.derive.readers.lines import FORMAT_ALONE
from calque.derive.readers.nli import differ, read_nli
from calque.derive.sentence import Sentence


def read(path: Path, text: str | bytes) -> tuple[list[Example], Counter[str]]:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    counts: Counter[str] = Counter()
    return list(read_nli(path, counts)), counts


PREMISE, HYPOTHESIS = 'He said "no. He left.', "He stayed."
PAIR = Example(
    ((Sentence(("He", "said", '"', "no", ".")), Sentence(("He", "left", "."))), (Sentence(("He", "stayed", ".")),)),
    "contradiction",
)


def as_json(**row: object) -> str:
    return json.dumps(row) + "\n"


@pytest.mark.parametrize(
    "text",
    [
        f"{PREMISE}\t{HYPOTHESIS}\tcontradiction\n",
        f"{PREMISE}\t{HYPOTHESIS}\tcontradictory\r\n",
        f"\ufeff{PREMISE}\t{HYPOTHESIS}\tcontradiction",
        as_json(premise=PREMISE, hypothesis=HYPOTHESIS, label="contradiction", idx=3),
        as_json(sentence1=PREMISE, sentence2=HYPOTHESIS, gold_label="contradictory", label="neutral"),
        as_json(uid="a", context=PREMISE, hypothesis=HYPOTHESIS, label="c", model_label="n"),
        f"premise\thypo\tlabel\n{PREMISE}\t{HYPOTHESIS}\tcontradictory\n",
        f"index\tsentence1\tsentence2\tlabel1\tgold_label\n7\t{PREMISE}\t{HYPOTHESIS}\tneutral\tcontradiction\n",
        f"language\tgold_label\tsentence1\tsentence2\nfr\tcontradiction\t{PREMISE}\t{HYPOTHESIS}\n",
    ],
)
def test_tsv_and_json_lines(tmp_path: Path, text: str) -> None:
    assert read(tmp_path / "a", text) == ([PAIR], {})


@pytest.mark.parametrize(
    "header", ["id\tqid1\tquestion1\tquestion2\tis_duplicate", "x\ty\t#1 String\t#2 String\tQuality"]
)
def test_paraphrases_of_glue(tmp_path: Path, header: str) -> None:
    found, counts = read(tmp_path / "a", f"{header}\n7\t8\tA .\tB .\t0\n7\t9\tA .\tA .\t1\n")
    assert ([example.label for example in found], counts) == (["0", "1"], {})


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("en", "fr", True),
        ("zh_TW", "en-gb", True),
        ("EN", "en", False),
        ("zh-tw", "zh", False),
        ("nb", "nn", False),
        ("german", "en", False),
        ("", "en", False),
        ("german", "english", False),
    ],
)
def test_names_with_two_letter_codes_may_differ(first: str, second: str, expected: bool) -> None:
    assert differ(first, second) == differ(second, first) == expected


def test_a_question_and_what_may_answer_it(tmp_path: Path) -> None:
    text = "index\tquestion\tsentence\tlabel\n0\tWho came ?\tAnn came .\tentailment\n1\tWho ?\tNo .\tnot_entailment\n"
    found, _ = read(tmp_path / "a", text)
    assert [example.label for example in found] == ["entailment", "not_entailment"]
    assert found[0].texts[0][0].words == ("Who", "came", "?")


@pytest.mark.parametrize(("old", "new"), [("non-entailment", "not_entailment"), ("entailment", "entailment")])
def test_hans_and_rte_tell_entailment_from_the_rest(tmp_path: Path, old: str, new: str) -> None:
    text = f"gold_label\tsentence1_parse\tsentence1\tsentence2\tpairID\n{old}\t(S A)\tA .\tB .\tex0\n"
    assert [example.label for example in read(tmp_path / "a", text)[0]] == [new]


def test_numbers_are_labels_of_inference_beside_a_premise_and_counted(tmp_path: Path) -> None:
    rows = [as_json(premise="A.", hypothesis="B.", label=label) for label in (2, 0, 1, -1)]
    for text in ("".join(rows), "premise\thypothesis\tlabel\nA.\tB.\t2\nA.\tB.\t0\nA.\tB.\t1\nA.\tB.\t-1\n"):
        found, counts = read(tmp_path / "a", text)
        assert [example.label for example in found] == ["contradiction", "entailment", "neutral"]
        assert counts == {
            "labels 0, 1, 2 read as entailment, neutral, contradiction": 3,
            "pairs without a gold label": 1,
        }
    pairs = "".join(as_json(sentence1="A.", sentence2="B.", label=label) for label in (1, 0))
    found, counts = read(tmp_path / "a", pairs)
    assert ([example.label for example in found], counts) == (["1", "0"], {})


@pytest.mark.parametrize(
    "text",
    [
        "".join(
            as_json(language=language, gold_label="neutral", sentence1="A.", sentence2="B.")
            for language in ("ar", "ar", "bg")
        ),
        "language\tgold_label\tsentence1\tsentence2\nar\tneutral\tA.\tB.\nbg\tneutral\tA.\tB.\n",
    ],
)
def test_a_file_of_several_languages_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(BadInput, match="language 'bg' after 'ar'; expected one language per file: split"):
        read(tmp_path / "a", text)


def test_a_pair_without_a_gold_label_is_left_out_and_counted(tmp_path: Path) -> None:
    rows = [as_json(sentence1="A.", sentence2="B.", gold_label=label) for label in ("-", "neutral", "-")]
    found, counts = read(tmp_path / "a", "".join(rows))
    assert [example.label for example in found] == ["neutral"]
    assert counts == {"pairs without a gold label": 2}


def test_paraphrase_labels_stay(tmp_path: Path) -> None:
    assert [example.label for example in read(tmp_path / "a", "A .\tB .\t0\nA .\tA .\t1\n")[0]] == ["0", "1"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "a: is empty"),
        ("A.\tB.\tneutral\nA.\tB.\n", ":2: 2 tab-separated columns; expected premise, hypothesis, label"),
        ("A.\tB.\tneutral\nA.\tB.\tneu", ":2: label 'neu'; expected one of entailment"),
        ("A.\tB.\tneutral\n\n", ":2: 1 tab-separated columns"),
        ("premise\thypothesis\tlabel\n", "a: a header without pairs"),
        ("premise\thypo\tlabel\nA.\tB.\tneutral\tx\n", ":2: 4 tab-separated columns; expected the header's 3"),
        ("premise\ttext\tlabel\n", ":1: label 'label'"),
        ("A.\tB.\t2\n", ":1: label '2'; expected one of"),
        ('{"premise": "A.", "premise": "B."}\n', ":1: not JSON: the key 'premise' occurs twice"),
        (f'{{"premise": {"9" * 5000}}}\n', ":1: not JSON: "),
        ('{"premise": ' + "[" * 100_000 + "\n", ":1: not JSON: "),
        (as_json(premise="A\0.", hypothesis="B.", label="neutral"), ":1: premise or .* contains a NUL"),
        (as_json(premise="A.", hypothesis=3, label="neutral"), ":1: hypothesis or hypo or .* is 3; expected text"),
        (
            as_json(premise="A.", hypothesis="B.", label=True),
            ":1: gold_label or label or .* is True; expected a string or",
        ),
        (as_json(premise="A.", hypothesis="B.", label=3), ":1: label '3'"),
        ("A.\t \tneutral\n", ":1: the hypothesis has no words"),
        ("\tA.\tneutral\n", ":1: the premise has no words"),
        ('{"premise": "A.", "hypo', ":1: not JSON: Unterminated string"),
        (as_json(premise="A.", hypothesis="B.", label="neutral") + "[1]\n", ":2: a JSON list; expected an object"),
        (as_json(premise="A.", label="neutral"), ":1: hypothesis or hypo or .* is missing; expected text"),
        (as_json(premise="A.", hypothesis="B.", label="yes"), ":1: label 'yes'"),
        (as_json(premise="A \ud800.", hypothesis="B.", label="neutral"), ":1: premise or .* contains a NUL or half"),
        ("A.\tÉ.\tneutral\n".encode("latin-1"), ":1: byte 0xc9 is not UTF-8"),
        ("A.\tB.\tneutral\n\0\n", ":2: a NUL byte"),
    ],
)
def test_a_malformed_file_is_refused_with_its_line(tmp_path: Path, text: str | bytes, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        read(tmp_path / "a", text)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no such file"):
        list(read_nli(tmp_path / "absent"))


def test_real_files(calque_data: Path) -> None:
    folder, labels = calque_data / "nli", {}
    patterns = ("xnli/dev-*.tsv", "xnli/test-labelled-*.tsv", "pawsx/dev-*.tsv", "pawsx/test-labelled-*.tsv")
    for pattern in (*patterns, "lingnli/*.jsonl", "mnli/*.jsonl"):
        for path in sorted(folder.glob(pattern)):
            counts: Counter[str] = Counter()
            labels[f"{path.parent.name}/{path.name}"] = Counter(e.label for e in read_nli(path, counts))
            assert counts.keys() <= {FORMAT_ALONE}
    assert len(labels) == 15 + 15 + 7 + 2 + 18 + 1
    thirds = {"entailment": 830, "neutral": 830, "contradiction": 830}
    assert all(labels[name] == thirds for name in labels if name.startswith("xnli/dev-"))
    assert labels["mnli/mnli_val_matched.jsonl"].total() == 9815
    assert sum(labels[name].total() for name in labels if "train_" in name) == 44983
    assert set(labels["pawsx/dev-en.tsv"]) == {"0", "1"}
    with pytest.raises(BadInput, match=":1: 2 tab-separated columns"):
        list(read_nli(folder / "pawsx" / "test-en.tsv"))

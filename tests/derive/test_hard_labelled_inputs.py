"""Labelled files that data sets, exports and tools really produce: each gives the right value or one clear refusal."""

import json
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from calque.derive.artefact import Artefact
from calque.derive.errors import BadInput
from calque.derive.example import Example
from calque.derive.natural.files import TextFiles
from calque.derive.readers import nli, squad
from calque.derive.readers.conllu import read_conllu, read_lemmas, read_treebank
from calque.derive.readers.iob2 import read_iob2
from calque.derive.readers.squad import read_questions
from calque.derive.readers.text import detect
from calque.derive.sentence import Span
from calque.derive.sources import files as sources
from calque.derive.sources.files import TaskFiles, written
from calque.derive.task_data import KIND, TaskFolder, write_natural_task

Asked = Callable[..., dict[str, object]]
Write = Callable[..., Path]


def file(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def refusal(path: Path, line: int | None = None) -> str:
    """What the one line of an error begins with."""
    return f"{path}: " if line is None else f"{path}:{line}: "


# Pairs: PAWS-X writes NS where a sentence has no translation, and its translated training files have blank sides.


def pairs(path: Path, size: int, missing: dict[int, str] | None = None, language: str = "en") -> Path:
    """Pairs `size`; of those whose number is in `missing` the second side is that text."""
    rows = [
        f"{i}\t{language} {i} one .\t{(missing or {}).get(i, f'{language} {i} two .')}\t{i % 2}" for i in range(size)
    ]
    return file(path, "\n".join(["id\tsentence1\tsentence2\tlabel", *rows, ""]))


def numbers(examples: Sequence[Example]) -> list[int]:
    return [int(example.texts[0][0].words[1]) for example in examples]


@pytest.mark.parametrize("side", ["NS", " NS ", "ns", "", "  ", "<range>", "#N/A", "#NAME?"])
@pytest.mark.parametrize("task", ["paraphrase", "nli"])
def test_a_pair_with_a_missing_side_is_left_out_and_counted(tmp_path: Path, side: str, task: str) -> None:
    path = file(tmp_path / "a.tsv", f"One .\tTwo .\t1\nOne .\t{side}\t0\n{side}\tTwo .\t0\nOne .\tNS one .\t0\n")
    counts: Counter[str] = Counter()
    files = TaskFiles((path,), (path,), (path,))
    texts = [
        [s.text for text in example.texts for s in text]
        for example in files.read_tested((path,), written(task), counts)
    ]
    assert texts == [["One .", "Two ."], ["One .", "NS one ."]]
    assert counts == {nli.MISSING: 2}
    assert files.load(written(task)).left_out == {split: {nli.MISSING: 2} for split in ("train", "dev", "test")}


def test_a_file_in_which_most_pairs_lack_a_side_is_refused(tmp_path: Path) -> None:
    path = pairs(tmp_path / "a.tsv", 5, {1: "", 2: "NS", 4: ""})
    with pytest.raises(BadInput) as refused:
        list(nli.read_nli(path))
    assert str(refused.value).startswith(refusal(path, 3)) and "3 of 5" in str(refused.value)


def test_of_parallel_test_sets_the_same_lines_are_drawn_whichever_are_missing(tmp_path: Path) -> None:
    missing = dict.fromkeys(range(0, 40, 3), "NS")
    whole, translated = pairs(tmp_path / "en.tsv", 40), pairs(tmp_path / "de.tsv", 40, missing, "de")
    files = TaskFiles((whole,), (whole,), (whole,), tested=15)
    counts: Counter[str] = Counter()
    english = numbers(files.read_tested((whole,), written("paraphrase"), Counter()))
    german = numbers(files.read_tested((translated,), written("paraphrase"), counts))
    assert german == [i for i in english if i not in missing]
    assert counts == {"over the limit": 25, nli.MISSING: 15 - len(german)} and len(german) < 15


def test_what_one_translation_of_training_pairs_lacks_no_language_is_trained_on(tmp_path: Path) -> None:
    own = pairs(tmp_path / "en.tsv", 30, {2: "NS", 3: "NS"})
    others = {
        "de": (pairs(tmp_path / "de.tsv", 30, {3: "NS", 7: "NS", 8: "NS"}, "de"),),
        "fr": (pairs(tmp_path / "fr.tsv", 30, {8: "", 9: "ns"}, "fr"),),
    }
    files = TaskFiles((own,), (own,), (own,), held_out=0)
    made = tmp_path / "made"
    folder = TaskFolder.open(write_natural_task("paraphrase", files, {"de": others["de"]}, made, translations=others))
    expected = [i for i in range(30) if i not in (2, 3, 7, 8, 9)]
    assert numbers(list(folder.examples("train"))) == expected
    for name in others:
        examples = list(folder.examples("train", name))
        assert numbers(examples) == expected and {e.texts[1][0].words[0] for e in examples} == {name}
    train = Artefact.open(made, KIND).facts["splits"]["train"]
    by_language = train.pop("languages")
    assert train == {"examples": 25, "left out": {nli.MISSING: 2, sources.NO_TRANSLATION: 3}}
    assert by_language["de"] == {"examples": 25, "left out": {nli.MISSING: 3, sources.NO_TRANSLATION: 2}}
    assert by_language["fr"] == {"examples": 25, "left out": {nli.MISSING: 2, sources.NO_TRANSLATION: 3}}


def test_parallel_test_sets_stay_parallel(tmp_path: Path) -> None:
    """Of the drawn lines, what one of them lacks is asked in none; sets of another size are no translations of them."""
    own = pairs(tmp_path / "en.tsv", 30)
    tests = {
        "de": (pairs(tmp_path / "de.tsv", 30, dict.fromkeys(range(0, 30, 4), "NS"), "de"),),
        "fr": (pairs(tmp_path / "fr.tsv", 30, dict.fromkeys(range(0, 30, 3), ""), "fr"),),
        "zh": (pairs(tmp_path / "zh.tsv", 31, {1: "NS"}, "zh"),),
    }
    files = TaskFiles((own,), (own,), (own,), tested=20)
    drawn = numbers(files.read_tested((own,), written("paraphrase"), Counter()))
    folder = TaskFolder.open(write_natural_task("paraphrase", files, tests, tmp_path / "made"))
    expected = [i for i in drawn if i % 4 and i % 3]
    assert 0 < len(expected) < len(drawn) == 20
    assert numbers(list(folder.examples("test"))) == expected
    assert [numbers(list(folder.examples("test", name))) for name in ("de", "fr")] == [expected] * 2
    assert numbers(list(folder.examples("dev"))) == drawn
    by_language = Artefact.open(tmp_path / "made", KIND).facts["splits"]["test"]["languages"]
    own_missing = sum(i % 4 == 0 for i in drawn)
    counted = {"over the limit": 10, nli.MISSING: own_missing, sources.NO_TRANSLATION: 20 - own_missing - len(expected)}
    assert by_language["de"] == {"examples": len(expected), "left out": counted}
    assert sources.NO_TRANSLATION not in by_language["zh"]["left out"]


def test_real_placeholders(calque_data: Path) -> None:
    folder = calque_data / "nli" / "pawsx"
    for language, lacking in {"de": 68, "es": 38, "fr": 8, "ja": 20, "ko": 36, "zh": 16, "en": 0}.items():
        path, counts = folder / f"dev-{language}.tsv", Counter[str]()
        files = TaskFiles((path,), (path,), (path,))
        examples = files.read_tested((path,), written("paraphrase"), counts)
        assert (len(examples), counts[nli.MISSING]) == (2_000 - lacking, lacking)
        assert not any(text[0].words == ("NS",) for example in examples for text in example.texts)


def test_pairs_between_commas_are_refused(tmp_path: Path) -> None:
    path = file(tmp_path / "a.csv", "premise,hypothesis,label\nA,B,0\n")
    with pytest.raises(BadInput, match=r"a\.csv:1: 1 tab-separated columns; expected premise, hypothesis, label"):
        list(written("nli")(path, Counter()))


# Questions: answers that were removed or never there, and rows as data sets are exported.

CONTEXT = "It opened in 1931."


def question(name: str, *answers: tuple[str, int], **more: object) -> dict[str, object]:
    listed = [{"text": text, "answer_start": start} for text, start in answers]
    return {"id": name, "question": "When?", "answers": listed, **more}


def exported(name: str, *answers: tuple[str, int], **more: object) -> dict[str, object]:
    columns = {"text": [text for text, _ in answers], "answer_start": [start for _, start in answers]}
    return {"id": name, "title": "t", "context": CONTEXT, "question": "When?", "answers": columns, **more}


def articles(path: Path, *questions: dict[str, object]) -> Path:
    return file(path, json.dumps({"data": [{"paragraphs": [{"context": CONTEXT, "qas": questions}]}]}))


def rows(path: Path, *questions: dict[str, object]) -> Path:
    return file(path, "".join(f"{json.dumps(row)}\n" for row in questions))


def rows_with_context_first(path: Path, *questions: dict[str, object]) -> Path:
    return rows(path, *({"context": row["context"], **row} for row in questions))


def data(path: Path, *questions: dict[str, object]) -> Path:
    return file(path, json.dumps({"data": questions}, indent=2))


def answers(path: Path) -> tuple[dict[str, list[str]], dict[str, int]]:
    counts: Counter[str] = Counter()
    found = {}
    for example in written("qa")(path, counts):
        (context,) = example.texts[1]
        found[example.id] = [" ".join(context.words[span.start : span.end]) for span in context.spans]
    return found, counts


@pytest.mark.parametrize(
    ("write", "asked"), [(articles, question), (rows, exported), (rows_with_context_first, exported), (data, exported)]
)
def test_questions_without_an_answer_are_left_out_and_counted(tmp_path: Path, write: Write, asked: Asked) -> None:
    path = write(
        tmp_path / "a.json",
        asked("1", ("1931", 13)),
        asked("2", ("", 0)),
        asked("3"),
        asked("4", ("", 0), ("1931", 13)),
        asked("5", is_impossible=True, plausible_answers=[{"text": "1931", "answer_start": 13}]),
    )
    counted = {squad.UNANSWERABLE: 2, squad.REMOVED: 1, "empty answers of questions that have others": 1}
    assert answers(path) == ({"1": ["1931"], "4": ["1931"]}, counted)
    with pytest.raises(BadInput) as refused:
        answers(write(path, asked("1", ("", 0)), asked("2", ("", -1))))
    assert str(refused.value).startswith(refusal(path)) and "2 questions" in str(refused.value)


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (exported("1", ("1931", -1)), "-1"),
        (exported("1", ("1932", 13)), "'1932'"),
        (exported("1") | {"answers": {"text": ["1931"], "answer_start": []}}, "answer_start"),
        (exported("1") | {"answers": {"text": "1931", "answer_start": 13}}, "answer_start"),
        (exported("1") | {"answers": {"text": ["1931"], "answer_start": [13.0]}}, "13.0"),
        (exported("1") | {"answers": None}, "answers"),
        (exported("1", ("1931", 13)) | {"context": "\0"}, "context"),
    ],
)
def test_rows_that_cannot_be_read_are_refused_with_their_line(
    tmp_path: Path, made: dict[str, object], said: str
) -> None:
    path = rows(tmp_path / "a.jsonl", exported("0", ("1931", 13)), made)
    with pytest.raises(BadInput) as refused:
        answers(path)
    assert str(refused.value).startswith(refusal(path, 2)) and said in str(refused.value)


# Treebanks: words withheld, comments and blank lines around sentences, no trees, other columns.


def word(number: int, form: str, tag: str = "NOUN", head: str = "_", relation: str = "_") -> str:
    return "\t".join([str(number), form, "_", tag, "_", "_", head, relation, "_", "_"]) + "\n"


TREE = word(1, "Snow", "NOUN", "2", "nsubj") + word(2, "falls", "VERB", "0", "root") + "\n"
HIDDEN = word(1, "_", "DET", "2", "det") + word(2, "__", "NOUN", "0", "root") + "\n"


def tagged(path: Path) -> tuple[list[list[str]], dict[str, int]]:
    counts: Counter[str] = Counter()
    examples = list(written("pos")(path, counts))
    return [[f"{w}/{t}" for w, t in zip(s.words, s.tags, strict=True)] for e in examples for (s,) in e.texts], counts


def lines(path: Path, left_out: Counter[str] | None = None) -> list[str]:
    counts = Counter() if left_out is None else left_out
    return [line for piece in TextFiles((path,)).pieces() for line in piece.columns(counts)[0]]


def test_a_treebank_whose_words_are_withheld_is_refused_except_for_grammars(tmp_path: Path) -> None:
    path = file(tmp_path / "a.conllu", TREE + ("# text = _ ___\n" + HIDDEN) * 2)
    for read in (tagged, lines):
        with pytest.raises(BadInput) as refused:
            read(path)
        assert str(refused.value).startswith(refusal(path, 5)) and "4 of 6 words" in str(refused.value)
    assert [sentence.relations for sentence in read_treebank(path)] == [("nsubj", "root"), *[("det", "root")] * 2]
    file(path, TREE + HIDDEN)  # half of the words are there
    assert len(tagged(path)[0]) == len(lines(path)) == 2


SNOW = ["Snow/NOUN", "falls/VERB"]


@pytest.mark.parametrize(
    ("text", "count", "counted"),
    [
        (f"# newdoc id = a\n{TREE}# end of file\n", 1, {"comments without a sentence": 1}),
        (f"{TREE}# newdoc id = b\n\n", 1, {"comments without a sentence": 1}),
        (f"# newdoc id = a\n\n{TREE}", 1, {"comments without a sentence": 1}),
        (f"{TREE}\n{TREE}\n\n", 2, {"blank lines without a sentence": 3}),
        (f"\n{TREE}", 1, {"blank lines without a sentence": 1}),
    ],
)
def test_comments_and_blank_lines_without_a_sentence_are_counted(
    tmp_path: Path, text: str, count: int, counted: dict[str, int]
) -> None:
    path = file(tmp_path / "a.conllu", text)
    assert tagged(path) == ([SNOW] * count, counted)
    assert lines(path) == ["Snow falls"] * count


@pytest.mark.parametrize("comment", ["# text = Snow", "# sent_id = 2"])
@pytest.mark.parametrize("end", ["\n", "\n\n", ""])
def test_a_sentence_that_is_announced_and_has_no_words_is_truncated(tmp_path: Path, comment: str, end: str) -> None:
    path = file(tmp_path / "a.conllu", f"{TREE}{comment}{end}")
    with pytest.raises(BadInput) as refused:
        tagged(path)
    assert str(refused.value).startswith(refusal(path, 4))


def test_tags_without_trees_are_read_as_tags_and_are_no_trees(tmp_path: Path) -> None:
    flat = word(1, "Snow") + word(2, "falls", "VERB") + "\n"
    path = file(tmp_path / "a.conllu", flat + TREE)
    assert tagged(path) == ([SNOW] * 2, {"sentences without a tree in their file": 1})
    first, second = (example.texts[0][0] for example in written("pos")(path, Counter()))
    assert (first.heads, first.relations, second.heads) == ((), (), (1, -1))
    with pytest.raises(BadInput) as refused:
        list(read_treebank(path))
    assert str(refused.value).startswith(refusal(path, 1))


@pytest.mark.parametrize(
    "text",
    [word(1, "a", head="0", relation="root") + word(2, "b"), word(1, "a") + word(2, "b", head="0", relation="root")],
)
def test_a_sentence_with_half_a_tree_is_refused(tmp_path: Path, text: str) -> None:
    path = file(tmp_path / "a.conllu", text + "\n")
    with pytest.raises(BadInput) as refused:
        tagged(path)
    assert str(refused.value).startswith(refusal(path, 2))


def test_columns_of_conllu_plus_are_found_by_name(tmp_path: Path) -> None:
    rows = "1\tVERB\tfalls\tfall\t0\troot\t*\n2\tNOUN\tsnow\tsnow\t1\tnsubj\t1:x\n\n"
    path = file(tmp_path / "a.conllup", f"# global.columns = ID UPOS FORM LEMMA HEAD DEPREL PARSEME:MWE\n{rows}")
    assert tagged(path) == ([["falls/VERB", "snow/NOUN"]], {})
    assert next(iter(read_treebank(path))).heads == (-1, 0)
    assert list(read_lemmas(path)) == [("falls", "fall"), ("snow", "snow")]
    assert lines(path) == ["falls snow"]
    file(path, "# global.columns = ID FORM UPOS\n1\tSnow\tNOUN\n2\tfalls\tVERB\n\n")
    assert tagged(path) == ([SNOW], {"sentences without a tree in their file": 1})
    for text, line in (("# global.columns = ID FORM\n1\ta\n\n", 1), (f"# global.columns = ID FORM UPOS\n{TREE}", 2)):
        with pytest.raises(BadInput) as refused:
            list(read_conllu(file(path, text)))
        assert str(refused.value).startswith(refusal(path, line))


# Entities: comments with columns, nested entities, other schemes of tags, exports, and what is no running text.


def entities(path: Path) -> tuple[list[list[str]], dict[str, int]]:
    """Each sentence's words, those of an entity joined with its type, and what was counted."""
    counts: Counter[str] = Counter()
    sentences = [sentence for example in written("ner")(path, counts) for (sentence,) in example.texts]
    found = []
    for sentence in sentences:
        inside = {i: span for span in sentence.spans for i in range(span.start, span.end)}
        found.append(
            [
                f"{'_'.join(sentence.words[span.start : span.end])}/{span.label}" if span else sentence.words[i]
                for i in range(len(sentence))
                if (span := inside.get(i)) is None or span.start == i
            ]
        )
    return found, counts


MULTICONER = (
    "# id {0}{1}domain=en\nin _ _ O\nnew _ _ B-LOC\nyork _ _ I-LOC\n\n# id {0}b{1}domain=en\nrome _ _ B-LOC\n\n"
)
GERMEVAL = (
    "#\thttps://example.org/{0} [2009-10-17]\n1\tFC\tB-ORG\tO\n2\tKiel\tI-ORG\tB-LOC\n3\t\tO\tO\n4\tsiegt\tO\tO\n\n"
)
SCHEME = "Rome\t{0}-LOC\n.\tO\n\nNew\tB-LOC\nOld\tI-LOC\nYork\t{1}-LOC\nBonn\t{0}-LOC\nCity\tI-LOC\n\n"
IN_SCHEMES = [["Rome/LOC", "."], ["New_Old_York/LOC", "Bonn/LOC", "City/LOC"]]
REPAIRED = {"tags of IOBES or BILOU read as IOB2": 3, "I- tags that begin an entity": 1}


@pytest.mark.parametrize(
    ("text", "expected", "counted"),
    [
        (MULTICONER.format("7a", "\t"), [["in", "new_york/LOC"], ["rome/LOC"]], {"comments with columns": 2}),
        (MULTICONER.format("7a", " "), [["in", "new_york/LOC"], ["rome/LOC"]], {"comments with columns": 2}),
        (
            GERMEVAL.format(1) + GERMEVAL.format(2),
            [["FC_Kiel/ORG", "siegt"]] * 2,
            {
                "comments with columns": 2,
                "entities inside of others, left out": 2,
                "words of white space alone, left out": 2,
            },
        ),
        (SCHEME.format("S", "E"), IN_SCHEMES, REPAIRED),
        (SCHEME.format("U", "L"), IN_SCHEMES, REPAIRED),
        ("\tO\n\tO\nRome\tB-LOC\n", [["Rome/LOC"]], {"words of white space alone, left out": 2}),
        ("New\tE-LOC\n\tE-LOC\nYork\tI-LOC\n", [["New/LOC", "York/LOC"]], None),
        ("Rome I-LOC\nOslo B-LOC\nBonn I-LOC\nx O\n", [["Rome/LOC", "Oslo_Bonn/LOC", "x"]], None),
        ('{"tokens": ["New", "York", "!"], "ner_tags": ["B-LOC", "I-LOC", "O"]}\n', [["New_York/LOC", "!"]], {}),
        ('{"id": 3, "tokens": ["Rome"], "tags": ["S-LOC"]}\n', [["Rome/LOC"]], None),
        (
            '{"tokens": [], "ner_tags": []}\n{"tokens": ["Oh"], "ner_tags": ["O"]}\n',
            [["Oh"]],
            {"sentences without words, left out": 1},
        ),
        ("# O\n#one O\nRome B-LOC\n", [["#", "#one", "Rome/LOC"]], {}),
        ("#\tO\n#one\tO\nRome\tB-LOC\n", [["#", "#one", "Rome/LOC"]], {}),
    ],
)
def test_entities_of_other_layouts_and_schemes(
    tmp_path: Path, text: str, expected: list[list[str]], counted: dict[str, int] | None
) -> None:
    found, counts = entities(file(tmp_path / "a.conll", text))
    assert found == expected
    assert counted is None or counts == counted


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ('{"tokens": ["Rome"], "ner_tags": ["O"]}\n{"tokens": ["Rome"], "ner_tags": [5]}\n', 2, "5"),
        ('{"tokens": ["Rome", "!"], "ner_tags": ["O"]}\n', 1, "ner_tags"),
        ('{"words": ["Rome"], "labels": ["O"]}\n', 1, "tokens"),
        ('{"tokens": ["Rome", "Bonn"], "ner_tags": ["O", "PER"]}\n', 1, "'PER'"),
        ('{"tokens": ["Ro\\u0000me"], "ner_tags": ["O"]}\n', 1, "tokens"),
        ('{"tokens": ["Rome"], "tokens": ["Bonn"], "ner_tags": ["O"]}\n', 1, "'tokens'"),
        ('{"tokens": ["Rome"], "ner_tags": ["O"]\n', 1, "JSON"),
        ('{"tokens": ["Rome"], "ner_tags": [null]}\n', 1, "None"),
        ("Rome\tM-LOC\n", 1, "'M-LOC'"),
        ("Rome\tB-LOC\n_\tO\n_\tO\n", 2, "2 of 3 words"),
        ('{"tokens": ["_", "_", "."], "ner_tags": ["B-LOC", "I-LOC", "O"]}\n', 1, "2 of 3 words"),
        ("#one\tPER\n", 1, "'PER'"),
    ],
)
def test_entities_that_cannot_be_read_are_refused(tmp_path: Path, text: str, line: int, said: str) -> None:
    path = file(tmp_path / "a.conll", text)
    with pytest.raises(BadInput) as refused:
        entities(path)
    assert str(refused.value).startswith(refusal(path, line)) and said in str(refused.value)


CONLL_2003 = "-DOCSTART- -X- -X- O\n\nParis NNP I-NP B-LOC\nwaits VBZ I-VP O\n. . O O\n\n"
PLUS = "# global.columns = ID FORM UPOS\n1\tSnow\tNOUN\n\n"
THREE = "Paris\tNNP\tB-LOC\nwaits\tVBZ\tO\n\n"
COLUMNS = "1\tParis\tNNP\t_\tParis\n2\twaits\tVBZ\t_\twait\n\n"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (CONLL_2003, 1),
        (CONLL_2003.split("\n\n", 1)[1], 1),
        (MULTICONER.format("7a", "\t"), 2),
        (MULTICONER.format("7a", " "), 2),
        (GERMEVAL.format(1), 2),
        *((SCHEME.format(*pair), 1) for pair in ("SE", "UL")),
        ("A\tO\nday\tO\nin\tO\nRome\tS-LOC\n\n", 1),
        (THREE, 1),
        (PLUS, 2),
        (COLUMNS, 1),
        (TREE, 1),
        ("1\tFC\tB-ORG\t-\tx\n2\tKiel\tI-ORG\t-\tx\n\n", 1),
        ('{"tokens": ["Rome"], "ner_tags": [5]}\n', 1),
        ("1 Paris paris N\n2 waits wait V\n\n1 It it P\n2 rains rain V\n", 1),
        ("premise\thypothesis\tlabel\nIt rains .\tIt is wet .\tneutral\n", 1),
        ("It rains .\tEs regnet .\nIt snows .\tEs schneit .\n", 1),
        ('[{"text": "It rains ."}]\n', 1),
        ('[\n {"text": "It rains ."}\n]\n', 1),
        ('{\n "text": "It rains ."\n}\n', 1),
        ('<?xml version="1.0"?>\n<tmx version="1.4"><body/></tmx>\n', 1),
        ("<!DOCTYPE html>\n<html><p>It rains .</p></html>\n", 1),
        ('<srcset setid="x">\n<seg id="1">It rains .</seg>\n</srcset>\n', 1),
        ("<doc>\nRain\n\nIt rains .\n</doc>\n", 1),
    ],
)
def test_annotated_files_are_no_running_text(tmp_path: Path, text: str, line: int) -> None:
    path = file(tmp_path / "a.txt", text)
    with pytest.raises(BadInput) as refused:
        detect(path)
    assert str(refused.value).startswith(refusal(path, line))


@pytest.mark.parametrize(
    "text",
    [
        "Their blood is of type O\nIt rains.\nIt snows.\n",
        "The group is O\n",
        "Plan B-2 is good\nPlan B-3 is better\n",
        "1\tA sentence.\n2\tAnother one.\n",
        "A table:\n1\ta\tb\tc\nand more\ntext\n",
        "# A title\n\nOne.\n",
        "1 of them sings\n2 of us sing too\n3\nIt rains.\nIt snows.\nIt pours.\n",
        "A\tcell.\nNo cell.\n",
        "<range>\nIt rains.\n",
        "[laughs]\nIt rains.\n",
        "one\tO\nIt rains.\nIt snows.\n",
    ],
)
def test_what_resembles_annotation_in_some_lines_is_running_text(tmp_path: Path, text: str) -> None:
    path = file(tmp_path / "a.txt", text)
    assert detect(path) == "plain"
    assert lines(path) == [line for line in text.split("\n") if line]


def test_the_text_of_annotated_files_is_their_words(tmp_path: Path) -> None:
    expected = {
        CONLL_2003: ["Paris waits ."],
        MULTICONER.format("7a", "\t"): ["in new york", "rome"],
        GERMEVAL.format(1): ["FC Kiel siegt"],
        SCHEME.format("S", "E"): ["Rome .", "New Old York Bonn City"],
        THREE: ["Paris waits"],
        PLUS: ["Snow"],
    }
    for text, words in expected.items():
        assert lines(file(tmp_path / "a.txt", text)) == words
    path = file(tmp_path / "a.txt", COLUMNS)
    with pytest.raises(BadInput) as refused:
        lines(path)
    assert str(refused.value).startswith(refusal(path, 1))


@pytest.mark.parametrize("value", ['"a\\u0000b"', '"a", "text": "b"', '"a", "score": NaN', '"a", "score": -Infinity'])
def test_json_that_is_none_is_refused_wherever_text_is_read(tmp_path: Path, value: str) -> None:
    path = file(tmp_path / "a.jsonl", '{"text": "One."}\n' + f'{{"text": {value}}}\n')
    with pytest.raises(BadInput) as refused:
        lines(path)
    assert str(refused.value).startswith(refusal(path, 2))


def test_json_of_entities_may_have_spaces_and_no_withheld_words(tmp_path: Path) -> None:
    row = '{ "tokens": ["%s", "rains"], "ner_tags": ["B-LOC", "O"] }\n'
    (sentence,) = read_iob2(file(tmp_path / "a.jsonl", row % "Rome"))
    assert (sentence.words, sentence.spans) == (("Rome", "rains"), (Span(0, 1, "LOC"),))
    path = file(tmp_path / "b.jsonl", row % "Rome" + (row % "_").replace("rains", "_") * 2)
    with pytest.raises(BadInput) as refused:
        list(read_iob2(path))
    assert str(refused.value).startswith(refusal(path, 2))


def test_a_row_of_questions_may_begin_with_its_context(tmp_path: Path) -> None:
    row = '{"context": "It opened in 1931 .", "id": "q", "question": "When ?", %s"answers": %s}\n'
    answers = '{"text": ["1931"], "answer_start": [13]}'
    assert [one.id for one in read_questions(file(tmp_path / "a.jsonl", row % ("", answers)))] == ["q"]
    path = file(tmp_path / "b.jsonl", row % ('"is_impossible": "true", ', answers))
    with pytest.raises(BadInput, match="'true'") as refused:
        list(read_questions(path))
    assert str(refused.value).startswith(refusal(path, 1))


def test_a_column_of_conllu_plus_that_is_named_twice_is_refused(tmp_path: Path) -> None:
    path = file(tmp_path / "a.conllup", "# global.columns = ID FORM UPOS HEAD HEAD DEPREL\n1\tGo\tVERB\t0\t0\troot\n\n")
    with pytest.raises(BadInput, match="HEAD") as refused:
        list(read_conllu(path))
    assert str(refused.value).startswith(refusal(path, 1))

"""Treebanks and entity files that data sets, exports and tools really produce: the right value or one clear refusal."""

from collections import Counter
from pathlib import Path

import pytest

from calque.derive.errors import BadInput
from calque.derive.natural.files import TextFiles
from calque.derive.natural.formats import format_of
from calque.derive.readers.conllu import read_conllu, read_lemmas, read_treebank
from calque.derive.readers.iob2 import read_iob2
from calque.derive.readers.lines import WITHHELD
from calque.derive.readers.text import NUMBERS, chunks, detect, sentences
from calque.derive.sentence import Span
from calque.derive.sources.files import written
from tests.derive.test_hard_pairs_and_questions import file, refusal
from tests.derive.test_hard_text_inputs import calque

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
    assert len(tagged(path)[0]) == len(lines(path)) == 1


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
        (COLUMNS, 1),
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
        for chunk in chunks(path):
            sentences(chunk)
    assert str(refused.value).startswith(refusal(path, line))


ANNOTATED = {
    "CoNLL-2012": (
        "#begin document (nw/a); part 000\n"
        "nw/a   0   0   Snow   NN   (TOP(S(NP*)   -   -   -   -   *   (1)\n"
        "nw/a   0   1   falls  VBZ  (VP*)   fall   01   1   -   (V*)   -\n"
        "nw/a   0   2   .      .    *))   -   -   -   -   *   -\n\n"
        "nw/a   0   0   It     PRP  (TOP(S(NP*)   -   -   -   -   *   (1)   *   *\n\n#end document\n",
        2,
    ),
    "two columns": ("Snow NN\nfalls VBZ\n. .\n\nIt PRP\nmelts VBZ\n", 1),
    "UD's tags": ("Snow snow NOUN Sing\nfalls fall VERB Fin\n", 1),
    "word_TAG": ("Old_JJ snow_NN melts_VBZ ._.\n``_`` It_PRP 's_VBZ n't_RB old_JJ -LRB-_-LRB- !_!\n", 1),
    "German": ("Der_ART Schnee_NN schmilzt_VVFIN ._$.\n", 1),
    "TreeTagger": ("La_DET:ART neige_NOM fond_VER:pres ._SENT\n", 1),
    "Brown": (
        "\n\tThe/at County's/np$ old/jj-tl snow/nn ``/`` melted/vbd ''/'' (/( now/rb )/) ./.\n\n\tIt/pps did/dod ./.\n",
        2,
    ),
    "Penn, tagged": ("======\n\n[ Old/JJ snow/NN ]\nmelts/VBZ [ in/IN March/NNP ]\n./.\n[ It/PRP ] is/VBZ\n", 1),
    "factors": ("Old|JJ|old snow|NN|snow melts|VBZ|melt .|.|.\n", 1),
    "trees": (
        "( (S \n    (NP-SBJ (JJ Old) (NN snow) )\n    (VP (VBZ melts) )\n    (. .) ))\n\n( (S (NP (PRP It)))) \n",
        1,
    ),
    "trees by line": ("(S (NP (NN Snow)) (VP (VBZ melts)) (. .))\n(S (NP (PRP It)) (VP (VBZ is)))\n", 1),
    "sentiment": ("(3 (2 Old) (3 (2 snow) (2 .)))\n", 1),
    "vertical": ("<s>\nSnow\nmelts\n</s>\n<s>\nIt\nsnows\n</s>\n", 1),
    "vertical, without columns": ('<doc id="1">\n<s>\nSnow\nmelts\n</s>\n</doc>\n', 1),
    "vertical, in documents": ('<doc id="1">\n<s>\nSnow\tNN\tsnow\nmelts\tVBZ\tmelt\n</s>\n</doc>\n', 1),
    "vertical, with columns": ('<text id="1">\n<s n="1">\nSnow\tNN\nmelts\tVBZ\n<g/>\n.\tSENT\n</s>\n</text>\n', 1),
    "sentence marks": ("<s> Snow melts . </s>\n<s> It snows . </s>\n", 1),
    "TEI": ('\n<TEI xmlns="http://www.tei-c.org/ns/1.0">\n<text><p>Snow melts.</p></text>\n', 2),
    "own XML": ("<book>\n<line>Snow melts.</line>\n</book>\n", 1),
    "attributes": ('<chapter n="1">\nSnow melts.\nIt snows.\n', 1),
    "HTML after a comment": ("<!-- saved\nfrom a page -->\n\n<html lang=en><p>Snow melts.</p></html>\n", 1),
    "HTML after spaces": (" \n  <!doctype HTML>\n<p>Snow melts.\n", 2),
    "a comment without an end": ("<!-- Snow melts.\nIt snows.\n", 1),
    "paragraphs": ("<p>Snow melts.</p>\n<p>It snows.</p>\n", 1),
    "TREC": ("<DOC>\n<DOCNO> A-1 </DOCNO>\n<TEXT>\nSnow melts.\n</TEXT>\n</DOC>\n", 1),
    "Gigaword": ('<DOC id="A-1" type="story" >\n<TEXT>\n<P>\nSnow melts.\n</P>\n</TEXT>\n</DOC>\n', 1),
    "SubRip": (
        "1\n00:00:01,000 --> 00:00:02,500\nSnow melts.\nSlowly.\n\n2\n00:00:03,000 --> 00:00:04,000\nIt snows.\n",
        1,
    ),
    "WebVTT": ("WEBVTT - Snow\n\n00:01.000 --> 00:02.500 align:start\nSnow melts.\n", 1),
    "MicroDVD": ("{1}{25}Snow melts.\n{30}{55}It snows.\n", 1),
    "RTF": ("{\\rtf1\\ansi\\deff0\nSnow melts.\\par\n}\n", 1),
    "bitext": ("Snow melts.\tSchnee schmilzt.\nIt snows.\tEs schneit.\n", 1),
    "a table with a gap": ("a\tb\nc\td\ne\nf\tg\nh\ti\nj\tk\n", 1),
    "a table with numbers": ("1\ten\tSnow melts.\n2\ten\tIt snows.\n3\ten\tIt melts.\n", 1),
    "numbers that do not count by one": ("1276\tSnow melts.\n1277\tIt snows.\n1281\tIt melts.\n", 1),
}


@pytest.mark.parametrize("name", ANNOTATED)
def test_annotated_files_are_no_text_in_any_language(name: str, tmp_path: Path) -> None:
    text, line = ANNOTATED[name]
    path = file(tmp_path / "a.txt", text)
    for read in (detect, format_of):
        with pytest.raises(BadInput) as refused:
            read(path)
        assert str(refused.value).startswith(refusal(path, line))


@pytest.mark.parametrize(
    "text",
    [
        "Their blood is of type O\nIt rains.\nIt snows.\n",
        "The group is O\n",
        "Plan B-2 is good\nPlan B-3 is better\n",
        "1\tA sentence.\n",
        "A table:\n1\ta\tb\tc\nand more\ntext\n",
        "# A title\n\nOne.\n",
        "1 of them sings\n2 of us sing too\n3\nIt rains.\nIt snows.\nIt pours.\n",
        "A\tcell.\nNo cell.\n",
        "<range>\nIt rains.\n",
        "[laughs]\nIt rains.\n",
        "one\tO\nIt rains.\nIt snows.\n",
        "- Does it snow ?\n- It does .\n- Oh no !\n- Oh yes !\n",
        "Rose is red\nSnow is white\nGrass is green\nNight is long\n",
        "John Smith\nMary Jones\nHenry VIII\nLouis XIV\n",
        "snow\nmelts\nThe_End\nnew_york\nand/or\n",
        "He and/or she has his/her snow_ball\nsee www.example.org/a_b or src/snow.py\n12/05/2020 and 1/2\n",
        "Ông là người Hà_Nội và là nhà_thơ .\nHọc_sinh học bài .\n",
        "Chapter 1 The snow\nChapter 2 The melt\nChapter 3 The end\n",
        "1. Apples\n2. Pears\n3. Plums\n",
        "1 Apple\n2 Pears\n3 Plums\n",
        "Apples - 5 euros\nPears - 3 euros\n",
        "IN THE SNOW WE GO\nTO THE SEA WE RUN\nIT IS COLD IN MAY\n",
        "(It snows.)\n(It melts.)\n",
        "(It snows (again)) and it melts .\n(No.)\n",
        "<i>Snow</i> is a novel.\nIt is long.\n",
        "<3 means love.\n<- an arrow\n",
        "<unk> is a token\n",
        "<!-- a comment -->\nSnow melts.\n",
        "The bus leaves at 10:15, 10:45 and 11:15.\n10:15 --> the bus\n",
        "{1} Snow melts.\n{2} It snows.\n",
        "Snow melts.  It snows.\nIt melts.  It rains.\n",
        "100%\t\nIt rains.\n",
        "and/or either/or\nLehrer/in Schüler/in\n",
        "km/h m/s\n",
        "MAX_INT MIN_INT\n",
        "Gary IN\nBaltimore MD\nMuncie IN\nTowson MD\n",
    ],
)
def test_what_resembles_annotation_in_some_lines_is_running_text(tmp_path: Path, text: str) -> None:
    path = file(tmp_path / "a.txt", text)
    assert detect(path) == "plain"
    assert lines(path) == [line.strip() for line in text.split("\n") if line]


def test_numbers_that_count_lines_are_removed_and_counted(tmp_path: Path) -> None:
    path, counts = file(tmp_path / "a.txt", "7\tSnow melts.\n8\t2 cats.\tMeow.\n9\tOh!\n"), Counter[str]()
    assert lines(path, counts) == ["Snow melts.", "2 cats.\tMeow.", "Oh!"] and counts[NUMBERS] == 3
    (chunk,) = chunks(path)
    found, counts = sentences(chunk)
    assert [sentence.text for sentence in found] == ["Snow melts .", "2 cats .", "Meow .", "Oh !"] and counts[
        NUMBERS
    ] == 3
    assert calque("derive", path, "--language", "inv") == (0, "melts Snow . cats 2 . Meow . Oh !", f"3 {NUMBERS}\n")
    rows = "".join(f"{number}\tIt snows.\n" for number in range(1, 150))
    path = file(tmp_path / "b.txt", f"{rows}It melts.\n")
    for read in (lines, lambda path: sentences(next(chunks(path)))):
        with pytest.raises(BadInput) as refused:
            read(path)
        assert str(refused.value).startswith(refusal(path, 150))


def test_indented_lines_are_text(tmp_path: Path) -> None:
    path = file(tmp_path / "a.txt", "\tSnow melts.\n\tIt snows.\n")
    assert detect(path) == "plain" and lines(path) == ["Snow melts.", "It snows."]
    assert calque("derive", path, "--language", "inv")[:2] == (0, "melts Snow . snows It .")


WITHHELD_PART = TREE * 2 + "# text = ____ _ ___\n" + word(1, "____") + word(2, "_") + word(3, "[WORD]") + "\n"


def test_sentences_whose_words_are_withheld_are_left_out_and_counted(tmp_path: Path) -> None:
    path = file(tmp_path / "a.conllu", WITHHELD_PART + word(1, "_", "PUNCT") + "\n")
    left_out: Counter[str] = Counter()
    assert lines(path, left_out) == ["Snow falls"] * 2 + ["_"] and left_out[WITHHELD] == 1
    found, counts = tagged(path)
    assert found == [SNOW] * 2 + [["_/PUNCT"]] and counts[WITHHELD] == 1
    (chunk,) = chunks(path)
    of_text, counts = sentences(chunk)
    assert [sentence.text for sentence in of_text] == ["Snow falls"] * 2 + ["_"] and counts[WITHHELD] == 1
    path = file(tmp_path / "a.tsv", "Rome\tB-LOC\nrains\tO\ntoo\tO\n\n_\tO\n____\tO\n\n_\tO\n")
    found, counts = entities(path)
    assert found == [["Rome/LOC", "rains", "too"], ["_"]] and counts[WITHHELD] == 1
    assert lines(path) == ["Rome rains too", "_"]
    path, left_out = file(tmp_path / "a.txt", "Snow falls .\n____ [WORD]\nMy name is ____ .\n____\n"), Counter()
    assert lines(path, left_out) == ["Snow falls .", "My name is ____ .", "____"] and left_out[WITHHELD] == 1
    (chunk,) = chunks(path)
    assert sentences(chunk)[1] == {WITHHELD: 1}
    path = file(tmp_path / "b.conllu", word(1, "[WORD]") + word(2, "[WORD]", "VERB") + "\n")
    for read in (tagged, lines):
        with pytest.raises(BadInput) as refused:
            read(path)
        assert str(refused.value).startswith(refusal(path, 1)) and "2 of 2 words" in str(refused.value)


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


def test_a_column_of_conllu_plus_that_is_named_twice_is_refused(tmp_path: Path) -> None:
    path = file(tmp_path / "a.conllup", "# global.columns = ID FORM UPOS HEAD HEAD DEPREL\n1\tGo\tVERB\t0\t0\troot\n\n")
    with pytest.raises(BadInput, match="HEAD") as refused:
        list(read_conllu(path))
    assert str(refused.value).startswith(refusal(path, 1))

"""Files as data sets, exports and tools produce them: each gives the right value and counts of what was
repaired or skipped, or one error that names the file, the line and the fault."""

import json
from collections import Counter

import pytest

from calque.derive.natural import BitextFiles, TextFiles, read_all
from calque.derive.readers.conllu import read_conllu
from calque.derive.readers.examples import read_word_labels
from calque.derive.readers.parallel import UNKNOWN, read_gold, read_links
from calque.derive.sources.files import Files, written
from tests.refusals import refusal


def text(path, counts, **options):
    source, found = Files((path,), **options), []
    for chunk in source.chunks():
        sentences, left_out = source.sentences(chunk)
        counts += left_out
        found += [sentence.text for sentence in sentences]
    return found


def natural(path, counts, **options):
    return [line for (column,) in read_all(TextFiles((path,), **options), counts) for line in column]


def bitext(path, counts):
    columns = read_all(BitextFiles(path), counts)
    return [" = ".join(pair) for both in columns for pair in zip(*both, strict=True)]


def pos(path, counts):
    sentences = [example.texts[0][0] for example in written("pos")(path, counts)]
    return [" ".join(f"{w}/{t}" for w, t in zip(s.words, s.tags, strict=True)) for s in sentences]


def grammar(path, counts):
    return [" ".join(sentence.relations) for sentence in read_conllu(path, counts)]


def ner(path, counts):
    found = []
    for example in written("ner")(path, counts):
        (sentence,) = example.texts[0]
        words, inside = list(sentence.words), set()
        for span in sentence.spans:
            words[span.start] = f"{'_'.join(sentence.words[span.start : span.end])}/{span.label}"
            inside |= {*range(span.start + 1, span.end)}
        found.append(" ".join(word for place, word in enumerate(words) if place not in inside))
    return found


def labels(path, counts):
    return [" ".join(sentence.words) for sentence in read_word_labels(path, counts)]


def of_task(task):
    def read(path, counts):
        examples = written(task)(path, counts)
        return [" = ".join([*(text[0].text for text in e.texts), e.label]) for e in examples if e.texts]

    return read


def qa(path, counts):
    found = []
    for example in written("qa")(path, counts):
        (context,) = example.texts[1]
        found += [" ".join(context.words[span.start : span.end]) for span in context.spans]
    return found


def gold(path, counts):
    return [str(sorted(pair.possible)) for pair in read_gold(path, [(UNKNOWN, UNKNOWN)] * 2).pairs]


def links(path, counts):
    return list(map(str, read_links(path, counts)))


PAIRS, TEXTS, NLI, PARAPHRASE = map(of_task, ("pair_labels", "text_labels", "nli", "paraphrase"))


def word(number, form, tag="NOUN", head="_", relation="_"):
    return f"{number}\t{form}\t_\t{tag}\t_\t_\t{head}\t{relation}\t_\t_\n"


MARK = "\ufeff"
TREE = word(1, "Snow", "NOUN", "2", "nsubj") + word(2, "falls", "VERB", "0", "root") + "\n"
FLAT = word(1, "Snow") + word(2, "falls", "VERB") + "\n"
SPACES = "Paris B-LOC\nwaits O\n. O\n\n"
WIKI = (
    '<doc id="7" title="C &gt; D">\nC &gt; D\n\nOld ships sail slowly<br>to the port near a town &amp; a '
    'lake .\nH<sub>2</sub>O is<ref name="a">S</ref> not but&#32;water , <!-- x -->in a book for x &lt; y .\n'
    '<templatestyles src="x.css" />\n\n</doc>\n'
)
OF_WIKI = [
    "Old ships sail slowly to the port near a town & a lake .",
    "H2O is not but water , in a book for x < y .",
]
IN_WIKI = {
    "tags": 1,
    "words of tags": 3,
    "titles": 1,
    "words of titles": 3,
    "lines with escaped characters, unescaped": 2,
    "tags inside lines, removed": 5,
}


def article(*answers, **more):
    listed = [{"text": text, "answer_start": start} for text, start in answers]
    asked = [{"id": "1", "question": "When?", "answers": listed}]
    asked += [{"id": "2", "question": "Why?", "answers": []}, {"id": "3", "question": "Who?", **more}][
        : 1 + bool(more)
    ]
    return json.dumps({"data": [{"paragraphs": [{"context": "It opened in 1931 .", "qas": asked}]}]})


PAWS_X = "id\tsentence1\tsentence2\tlabel\n1\tA .\tB .\t1\n2\tA .\tNS\t0\n3\tA .\tC .\t0\n"
OF_IT = [{"text": "It", "answer_start": 0}]


SNOW = ["Snow/NOUN falls/VERB"]
READ = [
    # byte order marks inside files, lone direction marks, Wikipedia markup
    (text, f"{MARK}One day .\n{MARK}Two days .\n", ["One day .", "Two days ."], {}),
    (natural, f"One .{MARK} Two .\n", ["One . Two ."], {}),
    (pos, TREE + MARK + TREE, SNOW * 2, {}),
    (text, "\u200fאב ,\u200f גד\nit \u200e\u200f snows\n", ["אב , גד", "it snows"], {}),
    (natural, "it \u200e snows\n", ["it snows"], {}),
    (natural, "it &apos;s\n", ["it &apos;s"], {}),
    (text, WIKI, OF_WIKI, IN_WIKI),
    (natural, WIKI, OF_WIKI, IN_WIKI | {"blank lines": 2}),
    # treebanks without trees, with stray comments or blank lines
    (pos, f"# newdoc id = a\n{TREE}# end of file\n", SNOW, {}),
    (pos, f"{TREE}\n{TREE}\n", SNOW * 2, {}),
    # entities: other layouts and schemes
    (ner, "Rome\tI-LOC\nOslo\tB-LOC\nBonn\tI-LOC\nx\tO\n", ["Rome/LOC Oslo_Bonn/LOC x"], {"I- tags": 1}),
    (ner, "#\tO\n#one\tO\nRome\tB-LOC\n", ["# #one Rome/LOC"], {}),
    # exported pairs and questions without a side or an answer
    (PARAPHRASE, PAWS_X, ["A . = B . = 1", "A . = C . = 0"], {}),
    (NLI, "A\tB\tneutral\n \t<range>\tneutral\nA\tNS B\t0\n", ["A = B = neutral", "A = NS B = 0"], {}),
    (qa, article(("1931", 13)), ["1931"], {"questions without an answer": 1}),
    (qa, article(("1931", 13), is_impossible=True, answers=OF_IT), ["1931"], {"questions without": 2}),
    # bitexts, and tables of your own labels
    (bitext, "I\tA\n<range>\tEs\nNS\tx\na\t\n", ["I = A"], {"pairs with a p": 2, "pairs with an": 1}),
    (TEXTS, 'TEXT\tLabel\nSay "no".\ttalk\n', ['Say "no". = talk'], {}),
    (TEXTS, 'text\tlabel\n"No," I say, "no."\t"\n', ['"No," I say, "no." = "'], {}),
    (links, "0-0 0-0 1-1\n\n", ["[(0, 0), (1, 1)]", "[]"], {"links that occur twice": 1}),
]


@pytest.mark.parametrize(("read", "content", "expected", "counted"), READ)
def test_real_world_files_are_read(read, content, expected, counted, tmp_path):
    path, counts = tmp_path / "file", Counter()
    path.write_text(content, newline="")
    assert read(path, counts) == expected
    found = sorted((reason, count) for reason, count in counts.items() if count)
    assert [count for _, count in found] == [count for _, count in sorted(counted.items())]
    assert all(reason.startswith(name) for (reason, _), name in zip(found, sorted(counted), strict=True))


COLUMNS = "1\tParis\tNNP\t_\tParis\n2\twaits\tVBZ\t_\twait\n\n"
ANNOTATED = [(SPACES, 1), (COLUMNS, 1), ("Snow melts.\tSchnee schmilzt.\nIt snows.\tEs schneit.\n", 1)]
REFUSED = [
    *((text, content, line, "") for content, line in ANNOTATED),
    *((natural, content, line, "") for content, line in ANNOTATED),
    (bitext, TREE, 1, "treebank"),
    # treebanks
    (pos, f"{TREE}# text = Snow\n", 4, "truncated"),
    (grammar, FLAT, 1, "HEAD"),
    (pos, word(1, "a", head="0", relation="root") + word(2, "b") + "\n", 2, "HEAD"),
    (pos, "# global.columns = ID FORM\n1\ta\n\n", 1, "UPOS"),
    (pos, TREE.replace("1\t", "١\t"), 1, "ID"),
    # entities, words with labels
    (ner, "Rome\tM-LOC\n", 1, "'M-LOC'"),
    (ner, "Rome\tB-LOC\nrains O\n", 2, "rains O"),
    (ner, "en:A\tO\n\nrains\tO\n", 3, "'en:'"),
    (labels, "Word\tLabel\nThe\tD\n", 1, "header"),
    (labels, "The\tD\na b\tD\n", 2, "'a b'"),
    (labels, "The\tD\na\n", 2, "'a'"),
    # texts and pairs
    (TEXTS, "review\tsentiment\nGood food.\tpos\nBad day.\tneg\nFine cat.\tpos\n", 1, "'review'"),
    (TEXTS, "text\tlabel\nGood.\tpos\nBad.\t \n", 3, "label"),
    (PAIRS, "first\tsecond\trelation\nA cat.\tA dog.\tno\nA cat.\tOne cat.\tno\n", 1, "'first'"),
    (NLI, "premise,hypothesis,label\nA,B,0\n", 1, "columns"),
    (NLI, "A .\tB .\tmaybe\n", 1, "'maybe'"),
    (NLI, '{"premise": "A .", "hypothesis": "B .", "label": 2}\n', 1, "'2'"),
    (NLI, '{"premise": "A .", "hypothesis": 3, "label": "neutral"}\n', 1, "hypothesis"),
    # questions
    (qa, article(("1931", 12)), 0, "13"),
    (qa, article(("1932", 13)), 0, "'1932'"),
    (qa, article(("1931", 13.0)), 0, "13.0"),
    (qa, article(("\0", 13)), 0, "text"),
    (qa, article(("1931", -1)), 0, "-1"),
    (qa, article(("", 0)), 0, "2 questions"),
    (qa, "[]", 0, "expected an object"),
    # text, bitexts
    (natural, '{"text": "a"}\n{"text": "b"}\n', 1, "json"),
    (bitext, "a\tb\nc\n", 2, "columns"),
    # gold links and links
    (gold, "0-0 1-1\n0-0\n", 1, "0-0 1-1"),
    (gold, "1 1 1 S\n1 2 2 s\n2 1 1 P\n", 2, "2 2 s"),
    (gold, "1 1 1 S\n1 0 0 S\n", 2, "1"),
    (gold, "1 1 1\n3 1 1\n5 1 1\n", 0, "2 sentence pairs"),
    (links, "0-0\n0-0 1p1\n", 2, "1p1"),
    (links, "0-0\n0-0:0_5\n", 2, "0_5"),
    (links, "0-0\n0-1", 2, "line end"),
]


@pytest.mark.parametrize(("read", "content", "line", "said"), REFUSED)
def test_malformed_real_world_files_are_rejected(read, content, line, said, tmp_path):
    path = tmp_path / "file"
    path.write_text(content, newline="")
    message = refusal(read, path, Counter())
    assert message.startswith(f"{path}:{line}: " if line else f"{path}: ") and said in message


def test_a_name_that_is_too_long_is_rejected(tmp_path):
    assert "name too long" in refusal(natural, tmp_path / ("n" * 400), Counter())


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le"])
@pytest.mark.parametrize("read", [text, natural, pos, ner, NLI, bitext, links])
def test_utf_16_is_named(read, encoding, tmp_path):
    path = tmp_path / "file"
    path.write_text("0-0\n", encoding=encoding)
    message = refusal(read, path, Counter())
    assert message.startswith(f"{path}:1: ") and "UTF-16" in message


@pytest.mark.parametrize(
    "content",
    [
        "Their blood is of type O\nIt rains.\nIt snows.\n",
        "Plan B-2 is good\nPlan B-3 is better\n",
        "1\tA sentence.\n",
        "A table:\n1\ta\tb\tc\nand more\ntext\n",
        "1 of them sings\n2 of us sing too\n3\nIt rains.\nIt snows.\nIt pours.\n",
        "<range>\nIt rains.\n",
        "one\tO\nIt rains.\nIt snows.\n",
        "Rose is red\nSnow is white\nGrass is green\nNight is long\n",
        "John Smith\nMary Jones\nHenry VIII\nLouis XIV\n",
        "snow\nmelts\nThe_End\nnew_york\nand/or\n",
        "Ông là người Hà_Nội và là nhà_thơ .\nHọc_sinh học bài .\n",
        "1 Apple\n2 Pears\n3 Plums\n",
        "IN THE SNOW WE GO\nTO THE SEA WE RUN\nIT IS COLD IN MAY\n",
        "<i>Snow</i> is a novel.\nIt is long.\n",
        "<3 means love.\n<- an arrow\n",
        "<!-- a comment -->\nSnow melts.\n",
        "and/or either/or\nLehrer/in Schüler/in\n",
        "km/h m/s\n",
        "Gary IN\nBaltimore MD\nMuncie IN\nTowson MD\n",
        "\tSnow melts.\n\tIt snows.\n",
    ],
)
def test_text_that_resembles_annotation(content, tmp_path):
    path = tmp_path / "file"
    path.write_text(content)
    assert natural(path, Counter()) == [line.strip() for line in content.split("\n") if line]
    assert text(path, Counter())

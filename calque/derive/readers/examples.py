"""Read task examples: labelled words, one per line (entities from PAN-X, CoNLL, WNUT and Universal NER, and
your own labels); labelled texts and pairs, from JSON lines or TSV; and questions from SQuAD's JSON."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice, pairwise
from pathlib import Path
from typing import Any

from calque.derive.errors import BadInput
from calque.derive.readers.english import split_sentences
from calque.derive.readers.lines import Place, decode, one_word, open_bytes, read_lines, tokens
from calque.derive.sentence import Example, Sentence, Span, spans_of

DOCUMENT_START = "-DOCSTART-"
_TAG = re.compile(r"O|[BI]-\S+")
_LANGUAGE = re.compile(r"(?:simple|[a-z]{2,3}(?:-[a-z-]+)?):")  # simple: the Simple English Wikipedia
_NO_TYPE = frozenset({"B-O", "I-O", "B-OTH", "I-OTH"})  # in Universal NER

WordRow = tuple[Place, list[str]]  # a word's line and columns


def read_iob2(path: Path, counts: Counter[str] | None = None) -> Iterator[Sentence]:
    """Stream a file's sentences with entity spans, tagged in IOB1 or IOB2. Each line starts with the word and
    ends with its tag; numbered lines (Universal NER) start with number, word and tag. Repairs and exclusions
    are counted."""
    counts = Counter() if counts is None else counts
    numbered, width, prefix = False, 0, ""
    for rows in _sentences(path, counts):
        if not width:
            numbered, width, prefix = _layout([columns for _, columns in rows])
        words, tags = list[str](), ["O"]
        for place, columns in rows:
            if not (len(columns) > 2 if numbered else len(columns) == width > 1):
                raise place.fault(f"{len(columns)} columns; expected {'at least 3' if numbered else width}")
            form, tag = (columns[1], columns[2]) if numbered else (columns[0], columns[-1])
            if not form.startswith(prefix):
                raise place.fault(f"{form!r} lacks the prefix {prefix!r} of the previous words")
            if numbered and tag in _NO_TYPE:
                counts[f"{tag} tags read as O"] += 1
                tag = "O"
            if not _TAG.fullmatch(tag) or tag[2:] == "O":
                raise place.fault(f"tag {tag!r}; expected O, B-type or I-type")
            if not form.removeprefix(prefix).strip():
                counts["words of white space only, left out"] += 1
                continue
            if tag.startswith("I-") and tag[2:] != tags[-1][2:]:
                counts["I- tags that begin an entity"] += 1
                tag = f"B{tag[1:]}"
            words.append(one_word(form.removeprefix(prefix), counts))
            tags.append(tag)
        if words:
            yield Sentence(tuple(words), spans=spans_of(tags[1:]))


def read_word_labels(path: Path, counts: Counter[str]) -> Iterator[Sentence]:
    """Stream sentences whose words all have labels, which are stored as one-word spans. Each line contains a
    word, a tab and a label; the first line may be a header with the names word and label."""
    for rows in _sentences(path, counts, labels=True):
        for place, columns in rows:
            if len(columns) != 2 or any(column.split() != [column] for column in columns):
                expected = "expected a word, a tab and its label, without other white space"
                raise place.fault(f"{columns}; {expected}")
        words, labels = zip(*(columns for _, columns in rows), strict=True)
        spans = tuple(Span(i, i + 1, label) for i, label in enumerate(labels))
        yield Sentence(words, spans=spans)


def _layout(rows: Sequence[Sequence[str]]) -> tuple[bool, int, str]:
    """Infer from the first sentence whether rows are numbered, their width, and PAN-X's prefix (`en:`)."""
    numbered = all(
        len(row) > 2 and row[0] == str(number) and _TAG.fullmatch(row[2]) is not None
        for number, row in enumerate(rows, start=1)
    )
    matches = [_LANGUAGE.match(row[numbered]) for row in rows]
    prefixes = {match[0] if match else "" for match in matches}
    return numbered, len(rows[0]), prefixes.pop() if len(prefixes) == 1 else ""


def _sentences(path: Path, counts: Counter[str], labels: bool = False) -> Iterator[list[WordRow]]:
    """Yield each sentence's lines, split at tabs or, without tabs, at spaces. With `labels`, no line is a
    comment."""
    rows, has_rows = list[WordRow](), False
    tabs = any("\t" in line for _, line in islice(read_lines(path), 100) if line[0:1] != "#")
    for place, line in read_lines(path, counts, must_end=True):
        if not line.strip():
            if rows:
                yield rows
            rows = []
        elif line.startswith(DOCUMENT_START):
            counts[f"{DOCUMENT_START} lines"] += 1
        else:
            columns = line.split("\t") if labels or tabs else tokens(line)
            if labels and not has_rows and line.casefold() == "word\tlabel":
                counts["headers, left out"] += 1
            elif labels or not (line.startswith("#") and not _TAG.fullmatch(columns[-1])):
                rows.append((place, columns))
            has_rows = has_rows or bool(rows)
    if rows:
        yield rows
    if not has_rows:
        raise BadInput("this file contains no sentences", path)


LABELS = {label: label for label in ("entailment", "neutral", "contradiction", "0", "1")}
"""The labels in files and their meanings; 0 and 1 are paraphrase labels."""
LABELS["contradictory"] = "contradiction"  # in XNLI's machine translations
UNDECIDED = "-"  # the gold label of pairs that annotators disagreed on
# Lower-case names of columns:
PREMISES, HYPOTHESES = ("sentence1", "premise"), ("sentence2", "hypothesis", "hypo")
TEXTS, GOLD = ("text", "sentence", "sentence1"), ("gold_label", "label")
MISSING = "pairs with a side that is blank or a placeholder (NS)"
_PLACEHOLDER = re.compile(r"(?:<|&lt;)[A-Za-z][\w-]*(?:>|&gt;)|NS|ns|#N/A|#(?:NAME|REF|VALUE)[?!]")
"""Placeholders for missing text: a lone tag, such as eBible's `<range>` for a verse merged with the previous
one; PAWS-X's NS; spreadsheet errors."""

Cut = Callable[[str, Counter[str]], list[list[str]]]  # splits text into sentences of words and counts repairs
Row = tuple[Place, Mapping[str, Any]]  # a pair's location and its values by lower-case column name


@dataclass(frozen=True)
class Columns:
    """The possible names of each text's column. If `own_labels`, any text is a valid label."""

    texts: tuple[tuple[str, ...], ...] = (PREMISES, HYPOTHESES)
    own_labels: bool = False


PUBLISHED, OWN_PAIRS, OWN_TEXTS = Columns(), Columns(own_labels=True), Columns((TEXTS,), own_labels=True)


def read_nli(
    path: Path, counts: Counter[str], cut: Cut = split_sentences, columns: Columns = PUBLISHED
) -> Iterator[Example]:
    """Stream a file's pairs, split into sentences and words by `cut`; pairs without a gold label are left
    out. Without a header, the columns are premise, hypothesis and label; your own labels need one. A pair
    with a missing side (PAWS-X's `NS`) becomes an example without texts, so that parallel files stay
    aligned."""
    languages = set[str]()
    for place, row in _rows(path, counts, columns):
        languages.add(str(row.get("language", "")))
        if len(languages) > 1:
            raise place.fault(f"expected one language per file, not {', '.join(sorted(languages))}")
        texts = [place.text(_value(row, names), " or ".join(names)) for names in columns.texts]
        value = _value(row, GOLD)
        label = str(value).strip() if isinstance(value, str | int) else ""
        if columns.own_labels:
            place.text(label or None, "the label")
        elif label == UNDECIDED:
            counts["pairs without a gold label"] += 1
            continue
        elif label in LABELS:
            label = LABELS[label]
        else:
            raise place.fault(f"label {label!r}; expected one of {', '.join(LABELS)} or {UNDECIDED}")
        sides = [[] if is_placeholder(text) else cut(text, counts) for text in texts]
        sentences = tuple(tuple([Sentence(tuple(words)) for words in side]) for side in sides)
        yield Example(sentences if all(sentences) else (), label)
    if not languages:
        raise BadInput("this file contains a header but no examples", path)


def is_placeholder(text: str) -> bool:
    """Whether a text is a placeholder for missing text."""
    return _PLACEHOLDER.fullmatch(text.strip()) is not None


def _rows(path: Path, counts: Counter[str], columns: Columns) -> Iterator[Row]:
    lines = read_lines(path, counts)
    head = next(lines)
    if head[1].startswith("{"):
        for place, line in chain([head], lines):
            yield place, {name.casefold(): value for name, value in place.json(line).items()}
        return
    names = [cell.strip().casefold() for cell in head[1].split("\t")]
    if any({*names}.isdisjoint(alternatives) for alternatives in (*columns.texts, GOLD)):
        expected = [*(alternatives[0] for alternatives in columns.texts), "label"]
        if columns.own_labels:
            raise head[0].fault(f"found columns {names}; expected a header with names such as {expected}")
        names, lines = ["sentence1", "sentence2", "label"], chain([head], lines)
    for place, line in lines:
        cells = line.split("\t")
        if len(cells) != len(names):
            raise place.fault(f"{len(cells)} tab-separated columns; expected {', '.join(names)}")
        yield place, dict(zip(names, cells, strict=True))


def _value(row: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    return next((row[name] for name in names if name in row), None)


ANSWER = "answer"  # the label of an answer's span
Json = Mapping[str, Any]
Chars = tuple[int, int]  # the offset of the first character, and the offset after the last character


def read_questions(path: Path, counts: Counter[str]) -> Iterator[Example]:
    """Stream a file's questions; those without an answer are left out. Each text is one sentence, split at
    white space and at the boundaries of answers, so that answers match the annotation exactly."""
    place, questions, answered = Place(path), 0, 0
    for context, row in _asked(place, counts):
        questions += 1
        id_ = place.text(str(row["id"]) if row.get("id") else None, "a question's id")
        what = f"question {id_!r}"
        question = place.text(row.get("question"), f"{what}: question")
        answers = [] if row.get("is_impossible") else _list(place, row.get("answers"), f"{what}: answers")
        chars = [_chars(place, id_, context, answer) for answer in answers if answer.get("text") != ""]
        if not chars:
            counts["questions without an answer"] += 1
            continue
        if not question.split():
            raise place.fault(f"{what} has no words")
        answered += 1
        texts = Sentence(tuple(question.split())), _as_written(context, list(dict.fromkeys(chars)))
        yield Example(tuple((text,) for text in texts), id=id_)
    if not answered:
        raise BadInput(f"none of {questions:,} questions has an answer; the data must be labelled", path)


def _chars(place: Place, question: str, context: str, answer: Json) -> Chars:
    text = place.text(answer.get("text"), f"question {question!r}: an answer")
    bare, start = text.strip(), answer.get("answer_start")
    if not bare or type(start) is not int or start < 0 or not context.startswith(text, start):
        hint = f"; it starts at {context.find(text)}" if text in context else ""
        fault = f"the answer {text!r} is not at offset {start!r} of its context{hint}"
        raise place.fault(f"question {question!r}: {fault}")
    start += text.index(bare)
    return start, start + len(bare)


def _as_written(text: str, answers: Sequence[Chars]) -> Sentence:
    bounds = sorted({place for answer in answers for place in answer})
    places, glued, end = list[Chars](), list[bool](), 0
    for word in text.split():
        start = text.index(word, end)
        end = start + len(word)
        parts = list(pairwise([start, *(bound for bound in bounds if start < bound < end), end]))
        places += parts
        glued += [False] + [True] * (len(parts) - 1)
    spans = []
    for first, last in answers:
        start, end = sum(b <= first for _, b in places), sum(a < last for a, _ in places)
        spans.append(Span(start, end, ANSWER))
    words = tuple(text[a:b] for a, b in places)
    return Sentence(words, spans=tuple(dict.fromkeys(spans)), glued=tuple(glued) if any(glued) else ())


def _asked(place: Place, counts: Counter[str]) -> Iterator[tuple[str, Json]]:
    with open_bytes(place.path) as file:
        text = decode(file.read(), place.path, 1, counts)
    for article in _list(place, place.json(text).get("data"), "data, as in SQuAD"):
        for paragraph in _list(place, article.get("paragraphs"), "an article's paragraphs"):
            context = place.text(paragraph.get("context"), "a paragraph's context")
            for question in _list(place, paragraph.get("qas"), "a paragraph's qas"):
                yield context, question


def _list(place: Place, value: Any, what: str) -> list[Json]:
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise place.fault(f"{what}: expected a list of objects")
    return value

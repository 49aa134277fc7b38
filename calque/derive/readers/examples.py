"""Read task examples: labelled words, one per line; texts and pairs (JSON, TSV); SQuAD's questions."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, pairwise
from pathlib import Path
from typing import Any, NamedTuple

from calque.derive.errors import BadInput
from calque.derive.readers.english import split_sentences
from calque.derive.readers.lines import Place, decode, one_word, open_bytes, paragraphs, read_lines
from calque.derive.sentence import Example, Sentence, Span, spans_of

_TAG = re.compile(r"O|[BI]-\S+")
_LANGUAGE = re.compile(r"(?:simple|[a-z]{2,3}(?:-[a-z-]+)?):")  # simple: the Simple English Wikipedia
_NO_TYPE = frozenset({"B-O", "I-O", "B-OTH", "I-OTH"})  # in Universal NER

WordRow = tuple[Place, list[str]]  # a word's line and columns


def read_iob2(path: Path, counts: Counter[str] | None = None) -> Iterator[Sentence]:
    """Stream a file's sentences with entity spans. Each line contains a word and its IOB2 tag (PAN-X), or a
    number, a word, its tag and further columns (Universal NER), separated by tabs."""
    counts, prefix = Counter() if counts is None else counts, None
    for rows in _sentences(path):
        words, tags = list[str](), ["O"]
        for place, columns in rows:
            if len(columns) < 2 or (len(columns) > 2 and not columns[0].isdigit()):
                raise place.fault(f"{columns}; expected a word and its tag, or a number, a word and its tag")
            form, tag = columns if len(columns) == 2 else columns[1:3]
            if prefix is None:
                prefix = _prefix(rows)
            if not form.startswith(prefix):
                raise place.fault(f"{form!r} lacks the prefix {prefix!r} of the previous words")
            if len(columns) > 2 and tag in _NO_TYPE:
                counts[f"{tag} tags read as O"] += 1
                tag = "O"
            if not _TAG.fullmatch(tag) or tag[2:] == "O":
                raise place.fault(f"tag {tag!r}; expected O, B-type or I-type")
            form = form.removeprefix(prefix)
            if not form.strip():
                counts["words of white space only, left out"] += 1
                continue
            if tag.startswith("I-") and tag[2:] != tags[-1][2:]:
                counts["I- tags that begin an entity"] += 1
                tag = f"B{tag[1:]}"
            words.append(one_word(form, counts))
            tags.append(tag)
        if words:
            yield Sentence(tuple(words), spans=spans_of(tags[1:]))


def _prefix(rows: Sequence[WordRow]) -> str:
    """Return PAN-X's prefix (`en:`) if all words of a sentence have it, or ""."""
    matches = [_LANGUAGE.match(columns[0]) for _, columns in rows]
    prefixes = {match[0] if match else "" for match in matches}
    return prefixes.pop() if len(prefixes) == 1 else ""


def read_word_labels(path: Path, counts: Counter[str]) -> Iterator[Sentence]:
    """Stream sentences of labelled words, as one-word spans, from lines of a word, a tab and a label."""
    for rows in _sentences(path, comments=False):
        for place, columns in rows:
            is_header = place.line == 1 and list(map(str.lower, columns)) == ["word", "label"]
            if is_header or len(columns) != 2 or any(column.split() != [column] for column in columns):
                expected = "expected a word, a tab and its label, without a header or other white space"
                raise place.fault(f"{columns}; {expected}")
        words, labels = zip(*(columns for _, columns in rows), strict=True)
        yield Sentence(words, spans=tuple(Span(i, i + 1, label) for i, label in enumerate(labels)))


def _sentences(path: Path, comments: bool = True) -> Iterator[list[WordRow]]:
    """Yield sentences' lines, split at tabs; with `comments`, without # lines that do not end in a tag."""
    has_rows = False
    for lines in paragraphs(read_lines(path, must_end=True)):
        rows = [(place, line.split("\t")) for place, line in lines if line.strip()]
        if comments:
            rows = [row for row in rows if row[1][0][:1] != "#" or _TAG.fullmatch(row[1][-1])]
        if rows:
            has_rows = True
            yield rows
    if not has_rows:
        raise BadInput("this file contains no sentences", path)


LABELS = ("entailment", "neutral", "contradiction", "0", "1")  # 0 and 1 are paraphrase labels
UNDECIDED = "-"  # the gold label of pairs that annotators disagreed on
# Lower-case names of columns:
PREMISES, HYPOTHESES = ("sentence1", "premise"), ("sentence2", "hypothesis")
GOLD = ("gold_label", "label")
MISSING = "pairs with a side that is blank or a placeholder (NS)"
_PLACEHOLDER = re.compile(r"(?:<|&lt;)[A-Za-z][\w-]*(?:>|&gt;)|NS|ns|#N/A|#(?:NAME|REF|VALUE)[?!]")
"""Placeholders for missing text: a lone tag, such as eBible's `<range>`; PAWS-X's NS; spreadsheet errors."""

Cut = Callable[[str], list[list[str]]]  # splits text into sentences of words
Row = tuple[Place, Mapping[str, Any]]  # a pair's location and its values by lower-case column name


class Columns(NamedTuple):
    """The possible names of each text's column. If `own_labels`, any text is a valid label."""

    texts: tuple[tuple[str, ...], ...] = (PREMISES, HYPOTHESES)
    own_labels: bool = False


PUBLISHED, OWN_PAIRS, OWN_TEXTS = Columns(), Columns(own_labels=True), Columns((("text",),), own_labels=True)


def read_nli(
    path: Path, counts: Counter[str], cut: Cut = split_sentences, columns: Columns = PUBLISHED
) -> Iterator[Example]:
    """Stream a file's pairs, split into sentences and words by `cut`, except those without a gold label.
    Without a header, the columns are premise, hypothesis and label; your own labels need one. A pair with a
    missing side (PAWS-X's `NS`) becomes an example without texts, so that parallel files stay parallel."""
    for place, row in _rows(path, columns):
        texts = [place.text(_value(row, names), " or ".join(names)) for names in columns.texts]
        value = _value(row, GOLD)
        label = str(value).strip() if isinstance(value, str | int) else ""
        if columns.own_labels:
            place.text(label or None, "the label")
        elif label == UNDECIDED:
            counts["pairs without a gold label"] += 1
            continue
        elif label not in LABELS:
            raise place.fault(f"label {label!r}; expected one of {', '.join(LABELS)} or {UNDECIDED}")
        sides = [[] if is_placeholder(text) else cut(text) for text in texts]
        sentences = tuple(tuple([Sentence(tuple(words)) for words in side]) for side in sides)
        yield Example(sentences if all(sentences) else (), label)


def is_placeholder(text: str) -> bool:
    """Whether a text is a placeholder for missing text."""
    return _PLACEHOLDER.fullmatch(text.strip()) is not None


def _rows(path: Path, columns: Columns) -> Iterator[Row]:
    lines = read_lines(path)
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
Chars = tuple[int, int]  # the offsets of the first character, and after the last one


def read_questions(path: Path, counts: Counter[str]) -> Iterator[Example]:
    """Stream questions with answers. Texts are sentences, split at white space and around answers."""
    place, answered = Place(path), 0
    rows = _asked(place)
    for context, id_, question, answers in rows:
        chars = [_chars(place, id_, context, text, start) for text, start in answers if text != ""]
        if not chars:
            counts["questions without an answer"] += 1
            continue
        if not question.split():
            raise place.fault(f"question {id_!r} has no words")
        answered += 1
        texts = Sentence(tuple(question.split())), _as_written(context, list(dict.fromkeys(chars)))
        yield Example(tuple((text,) for text in texts), id=id_)
    if not answered:
        raise BadInput(f"none of {len(rows):,} questions has an answer; the data must be labelled", path)


def _asked(place: Place) -> list[tuple[str, str, str, list[tuple[Any, Any]]]]:
    with open_bytes(place.path) as file:
        data = place.json(decode(file.read(), place.path, 1))
    rows = []
    try:
        for paragraph in chain.from_iterable(article["paragraphs"] for article in data["data"]):
            context = place.text(paragraph["context"], "a context")
            for row in paragraph["qas"]:
                answers = [] if row.get("is_impossible") else row["answers"]
                chosen = [(answer["text"], answer["answer_start"]) for answer in answers]
                rows.append((context, str(row["id"]), place.text(row["question"], "a question"), chosen))
    except (AttributeError, KeyError, TypeError) as error:
        raise place.fault(f"not SQuAD's format: {type(error).__name__}: {error}") from None
    return rows


def _chars(place: Place, question: str, context: str, answer: Any, start: Any) -> Chars:
    """Return an answer's place in its context; raise BadInput if it is not at `start`."""
    text = place.text(answer, f"an answer to question {question!r}")
    bare = text.strip()
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
    spans = dict.fromkeys(
        Span(sum(b <= first for _, b in places), sum(a < last for a, _ in places), ANSWER)
        for first, last in answers
    )
    words = tuple(text[a:b] for a, b in places)
    return Sentence(words, spans=tuple(spans), glued=tuple(glued) if any(glued) else ())

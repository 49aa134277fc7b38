"""Texts or pairs of texts with a label: inference, paraphrase, and your own, as JSON lines or TSV."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any

from calque.derive import strict_json
from calque.derive.errors import BadInput
from calque.derive.example import Example
from calque.derive.files import read_toml
from calque.derive.readers.english import split_sentences
from calque.derive.readers.lines import Lines, Place
from calque.derive.readers.markup import is_placeholder
from calque.derive.readers.tables import FirstRow, Table
from calque.derive.sentence import Sentence

_TABLE = read_toml(Path(__file__).with_name("nli.toml"))
LABELS: dict[str, str] = _TABLE["labels"]
NUMBERED: dict[str, str] = _TABLE["numbered"]
INFERENCE, PREMISES, HYPOTHESES, TEXTS, GOLD = (
    tuple(_TABLE["columns"][name]) for name in ("inference", "premises", "hypotheses", "texts", "gold")
)
NO_LABEL = frozenset(("-", "-1"))
"""Gold labels for pairs without a majority of annotators, in MultiNLI and its copies with numeric labels."""
MISSING = "pairs with a side that is blank or a placeholder (NS)"

LANGUAGE = "language"
_ONE_WIKIPEDIA = {"nb": "no", "nn": "no"}  # codes that share a Wikipedia, and so a file

Cut = Callable[[str, Counter[str]], list[list[str]]]  # the words of each sentence of a text, and counts of repairs
Row = tuple[Place, Mapping[str, Any]]  # the place of a pair, and its values by column name


@dataclass(frozen=True)
class Columns:
    """The possible names of the columns of each text; the label is in one of `GOLD`. Without a header, the columns are
    the texts and the label. `own_labels`: labels are any text, not only the labels of published sets."""

    texts: tuple[tuple[str, ...], ...] = (PREMISES, HYPOTHESES)
    own_labels: bool = False


PUBLISHED, OWN_PAIRS, OWN_TEXTS = Columns(), Columns(own_labels=True), Columns((TEXTS,), own_labels=True)


def code(language: str) -> str:
    """The two-letter code at the start of a language's name, such as `zh` in `zh-tw`; empty if there is none."""
    first = language.lower().replace("_", "-").partition("-")[0]
    return _ONE_WIKIPEDIA.get(first, first) if len(first) == 2 else ""


def differ(first: str, second: str) -> bool:
    """Whether two names have different codes; a name without a code, such as `german`, may be any language's."""
    return bool(code(first) and code(second)) and code(first) != code(second)


def read_nli(
    path: Path,
    counts: Counter[str] | None = None,
    cut: Cut = split_sentences,
    language: str = "",
    columns: Columns = PUBLISHED,
) -> Iterator[Example]:
    """Stream the pairs of a file; each text is split into sentences and words by English rules or by another
    `cut`. JSON lines have `premise` (or `context`, `sentence1`), `hypothesis` (or `hypo`, `sentence2`), and
    `gold_label` or `label`. TSV has these as a header, in any letter case (GLUE's with its other names,
    HANS's, MultiNLI's, XNLI's), or no header and the columns premise, hypothesis, label; quotes are plain
    characters, except in sets with `own_labels` (`Table`). Labels 0, 1 and 2 mean entailment, neutral and
    contradiction if the texts are called premise and hypothesis, which is counted; otherwise 0 and 1 are
    paraphrase labels. A pair with the gold label `-` (or -1) is left out and counted in `counts`. So are
    pairs of other languages in a file with a language column (XNLI's own files have fifteen), if `language`
    starts with a two-letter code. A pair with a side that is blank or a placeholder, such as PAWS-X's `NS`,
    becomes an example without texts, which keeps its place among the lines of parallel files until a caller
    leaves it out."""
    counts = Counter() if counts is None else counts
    first: str | None = None  # the language of the first pair
    others: Counter[str] = Counter()
    missing: list[tuple[Place, str]] = []
    pairs = 0
    for place, row in _rows(path, counts, columns):
        own = str(row.get(LANGUAGE, ""))
        if differ(own, language):
            others[own] += 1
            continue
        if first is not None and own != first:
            hint = "split it by that column" + ("" if code(language) else ", or name the language by its code")
            raise place.fault(f"language {own!r} after {first!r}; expected one language per file: {hint}")
        first = own
        texts = [place.text(_value(row, names), " or ".join(names)) for names in columns.texts]
        label = _label(place, row, counts, columns)
        if label is None:
            continue
        pairs += 1
        sides = tuple(
            () if is_placeholder(text) else tuple(Sentence(tuple(words)) for words in cut(text, counts))
            for text in texts
        )
        if not all(sides):
            missing.append((place, columns.texts[sides.index(())][0]))
        yield Example(sides if all(sides) else (), label)
    if 2 * len(missing) > pairs:
        place, side = missing[0]
        raise place.fault(
            f"the {side} has no words (blank, or a placeholder such as NS), and {len(missing):,} of {pairs:,} "
            "pairs lack a side; expected texts in at least half of them"
        )
    if first is None:
        languages = ", ".join(map(repr, islice(others, 3))) + (" and others" if len(others) > 3 else "")
        fault = f"has pairs of {languages}; expected pairs of {language!r}"
        raise BadInput(fault if others else "a header without pairs", path)
    if others:
        counts["pairs of other languages"] += others.total()


def language_of_pairs(path: Path, columns: Columns = PUBLISHED) -> str:
    """The language in a file's language column, as in XNLI's files; empty if there is none."""
    return next((str(row.get(LANGUAGE, "")) for _, row in _rows(path, Counter(), columns)), "")


def _rows(path: Path, counts: Counter[str], columns: Columns) -> Iterator[Row]:
    lines = iter(Table(path, counts) if columns.own_labels else Lines(path, counts))
    head = next(lines)
    if head[1].startswith("{"):
        for number, line in chain([head], lines):
            yield Place(path, number), strict_json.line(line, path, number)
        return
    names, first = _names(head[1].split("\t"), columns), FirstRow()
    expected = f"the header's {len(names)}"
    has_header = all(any(name in names for name in wanted) for wanted in (*columns.texts, GOLD))
    if not has_header:
        names = [*(f"sentence{place}" for place in range(1, len(columns.texts) + 1)), "label"]
        expected, lines = ", ".join([*(wanted[0] for wanted in columns.texts), "label"]), chain([head], lines)
    for number, line in lines:
        cells, place = line.split("\t"), Place(path, number)
        if len(cells) != len(names):
            raise place.fault(f"{len(cells)} tab-separated columns; expected {expected}")
        if columns.own_labels and not has_header:
            first.add(place, cells)
        yield place, dict(zip(names, cells, strict=True))
    first.check()


def _names(cells: Sequence[str], columns: Columns) -> list[str]:
    """The names in a header as this module writes them; letter case does not matter."""
    known = {name.casefold(): name for wanted in (*columns.texts, GOLD, (LANGUAGE,)) for name in wanted}
    others = known.keys() - {cell.casefold() for cell in cells if cell in known.values()}
    return [known[name] if (name := cell.strip().casefold()) in others else cell for cell in cells]


def _label(place: Place, row: Mapping[str, Any], counts: Counter[str], columns: Columns) -> str | None:
    value = _value(row, GOLD)
    if isinstance(value, bool) or not isinstance(value, str | int):
        wrong = "missing" if value is None else repr(value)
        raise place.fault(f"{' or '.join(GOLD)} is {wrong}; expected a string or a number")
    label = str(value)
    if columns.own_labels:
        return place.text(label.strip() or None, "the label")
    if label in NO_LABEL:
        counts["pairs without a gold label"] += 1
        return None
    if label in NUMBERED and _value(row, INFERENCE) is not None:
        counts["labels 0, 1, 2 read as entailment, neutral, contradiction"] += 1
        return NUMBERED[label]
    if label not in LABELS:
        raise place.fault(f"label {label!r}; expected one of {', '.join(LABELS)} or -")
    return LABELS[label]


def _value(row: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    return next((row[name] for name in names if name in row), None)

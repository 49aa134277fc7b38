"""CoNLL-U treebanks: words, UPOS tags and trees, checked as strictly as the format allows."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from derive.errors import BadInput
from derive.readers.hidden_words import HiddenWords
from derive.readers.lines import one_word, read_lines
from derive.readers.pos_units import JOINER, WORDS, Units, token_tag
from derive.sentence import Sentence

UPOS = frozenset("ADJ ADP ADV AUX CCONJ DET INTJ NOUN NUM PART PRON PROPN PUNCT SCONJ SYM VERB X".split())
RELATIONS = frozenset(
    """acl advcl advmod amod appos aux case cc ccomp clf compound conj cop csubj dep det discourse dislocated expl fixed
    flat goeswith iobj list mark nmod nsubj nummod obj obl orphan parataxis punct reparandum root vocative
    xcomp""".split()
)
"""Those of UD v2; a treebank may add subtypes, as in nmod:poss."""
NOTHING = "_"
NEEDED = ("ID", "FORM", "UPOS")
PLUS = "# global.columns"
"""How the first line of CoNLL-U Plus begins."""
VERSION_1 = {
    "auxpass": "aux:pass",
    "csubjpass": "csubj:pass",
    "dobj": "obj",
    "foreign": "flat:foreign",
    "mwe": "fixed",
    "name": "flat",
    "neg": "advmod",
    "nsubjpass": "nsubj:pass",
    "remnant": "orphan",
}
"""Relations of UD v1 that v2 lacks, each with the name that its words have there (mostly, for neg and remnant)."""

_ID = re.compile(r"(\d{1,9})(?:([-.])(\d{1,9}))?", re.ASCII)
_ANNOUNCED = re.compile(r"#\s*(?:text|sent_id)\s*=")
_NUMBER = re.compile(r"\d{1,9}", re.ASCII)
_RELATION = re.compile(r"([a-z]+)(?::[a-z]+)?")
NAMES: tuple[str, ...] = ("ID", "FORM", "LEMMA", "UPOS", "XPOS", "FEATS", "HEAD", "DEPREL", "DEPS", "MISC")


def read_conllu(
    path: Path,
    counts: Counter[str] | None = None,
    *,
    unparsed: bool = False,
    withheld: bool = False,
    units: Units = WORDS,
    language: str = "",
) -> Iterator[Sentence]:
    """Stream a treebank's sentences: words are FORM, tags UPOS, relations DEPREL with its subtype.

    Heads count from 0, the root's is -1. Multiword tokens and empty nodes are checked and have no word;
    they are counted in `counts`, and so are words that lost white space (`20 000` is `20000`), and blank lines and
    comments without a sentence. CoNLL-U Plus names its columns in its first line. `unparsed` accepts sentences whose
    HEAD and DEPREL are all `_`; they have no tree. `withheld` accepts treebanks that are published without words.
    With XTREME's `units` a sentence has its multiword tokens in place of their words, tagged as XTREME's conversion
    tags them in `language` (`derive.readers.pos_units`), no U+200C and no tree.

    Raises:
        BadInput: with file and line. Ten columns, none empty; ids in order; tags and relations of UD
            v2, not v1; a head inside its sentence, 0 where the relation is root and nowhere else; one root and no
            cycle; a blank line after each sentence; more than half of the words are `_`.
    """
    counts = Counter() if counts is None else counts
    names = NAMES
    block = _Block(path, counts, unparsed, units, language)
    words, number = HiddenWords(), 0
    for number, line in read_lines(path, counts, ended=True):
        if number == 1:
            names = column_names(path, line)
        if line:
            block.add(number, line, names)
            continue
        if block.words:
            yield block.sentence()
            for word, at in zip(block.words, block.lines, strict=True):
                words.add([word], at)
        else:
            block.leave_out(number)
        block = _Block(path, counts, unparsed, units, language)
    if block.last != "0":
        raise BadInput(
            "no blank line after the last sentence: the file is truncated, or add one if it is whole", path, number
        )
    if block.comments:
        block.leave_out(number)
    if not words.words:
        raise BadInput("no sentence in it", path)
    if not withheld:
        words.check(path)


def column_names(path: Path, line: str) -> tuple[str, ...]:
    """The names of a treebank's columns: those in the first line of CoNLL-U Plus, or CoNLL-U's ten.

    Raises:
        BadInput: the first line lacks a required column, or has it twice.
    """
    if not line.startswith(PLUS):
        return NAMES
    names = tuple(line.removeprefix(PLUS).removeprefix(" =").split())
    if lacking := [name for name in NAMES if names.count(name) > 1 or (name in NEEDED and name not in names)]:
        raise BadInput(f"global.columns has {names.count(lacking[0])} columns {lacking[0]}; expected one", path, 1)
    return names


def cells(path: Path, number: int, line: str, names: Sequence[str]) -> list[str]:
    """The ten columns of a word's line; columns that `names` lacks are `_`.

    Raises:
        BadInput: there are more or fewer columns than names.
    """
    columns = line.split("\t")
    if len(columns) != len(names):
        raise BadInput(f"{len(columns)} columns between tabs; expected {len(names)}", path, number)
    if names == NAMES:
        return columns
    there = dict(zip(names, columns, strict=True))
    return [there.get(name, NOTHING) for name in NAMES]


@dataclass
class _Block:
    """The lines of one sentence, checked as they come."""

    path: Path
    counts: Counter[str]
    unparsed: bool
    units: Units
    language: str
    words: list[str] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    heads: list[int] = field(default_factory=list)
    relations: list[str] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    announced: int = 0  # the line of a comment that only a sentence has
    comments: int = 0
    enhanced: list[str] = field(default_factory=list)  # column DEPS
    tokens: list[tuple[int, int, str]] = field(default_factory=list)  # multiword tokens: first word, end, FORM
    last: str = "0"  # the ID before
    covered: int = 0  # the last word of a multiword token so far
    token_line: int = 0  # and its line

    def add(self, number: int, line: str, names: Sequence[str]) -> None:
        if line.startswith("#"):
            if self.last != "0":
                raise BadInput("a comment inside a sentence; expected a blank line before it", self.path, number)
            self.comments += 1
            if _ANNOUNCED.match(line):
                self.announced = number
            return
        columns = cells(self.path, number, line, names)
        if not all(map(str.strip, columns)):
            name = next(name for name, column in zip(NAMES, columns, strict=True) if not column.strip())
            raise BadInput(f"column {name} is empty; expected _ where there is nothing", self.path, number)
        match = _ID.fullmatch(columns[0])
        if match is None:
            raise BadInput(f"ID {columns[0]!r}; expected a number such as 3, 3-4 or 3.1", self.path, number)
        if match[2]:
            self._no_word(match, columns, number)
        else:
            self._word(columns, number)
        self.last = columns[0]

    def _word(self, columns: list[str], number: int) -> None:
        expected = len(self.words) + 1
        if columns[0] != str(expected):
            raise BadInput(f"ID {columns[0]}; expected {expected}", self.path, number)
        if columns[3] == "CONJ":
            raise BadInput("UPOS CONJ is UD v1; expected v2's CCONJ: update the treebank to v2", self.path, number)
        if columns[3] not in UPOS:
            raise BadInput(f"UPOS {columns[3]!r}; expected one of {' '.join(sorted(UPOS))}", self.path, number)
        self.words.append(one_word(columns[1], self.counts))
        self.tags.append(columns[3])
        self.lines.append(number)
        self.enhanced.append(columns[8])
        if self.unparsed and columns[6] == columns[7] == NOTHING and not self.heads:
            return
        if not _NUMBER.fullmatch(columns[6]):
            raise BadInput(f"HEAD {columns[6]!r}; expected a number", self.path, number)
        head = int(columns[6]) - 1
        if fault := relation_fault(columns[7], head):
            raise BadInput(fault, self.path, number)
        if len(self.heads) + 1 < len(self.words):
            raise BadInput(f"HEAD {columns[6]}, and the words before have none; expected _", self.path, number)
        self.heads.append(head)
        self.relations.append(columns[7])

    def _no_word(self, match: re.Match[str], columns: list[str], number: int) -> None:
        """A multiword token, which stands before its first word, or an empty node, which stands after its word."""
        here, first, second = len(self.words), int(match[1]), int(match[3])
        if match[2] == "-":
            self.counts["multiword tokens"] += 1
            if first != here + 1 or second <= first or first <= self.covered:
                raise BadInput(f"multiword token {match[0]} where word {here + 1} is expected", self.path, number)
            self.covered, self.token_line = second, number
            self.tokens.append((here, second, columns[1]))
        else:
            self.counts["empty nodes"] += 1
            place, _, nodes = self.last.partition(".")
            if first != here or second != (int(nodes) + 1 if nodes and int(place) == here else 1):
                raise BadInput(f"empty node {match[0]} after ID {self.last}", self.path, number)
        if any(columns[i] != "_" for i in (6, 7)):
            raise BadInput(f"{match[0]} has a HEAD or DEPREL; only words have them", self.path, number)

    def leave_out(self, number: int) -> None:
        """Count comments without a sentence, up to line `number`, or a blank line."""
        if self.announced or self.last != "0":
            at = self.announced or number
            raise BadInput("a sentence without words: the file is truncated, or remove its comments", self.path, at)
        if self.comments:
            self.counts["comments without a sentence"] += self.comments
        else:
            self.counts["blank lines without a sentence"] += 1

    def sentence(self) -> Sentence:
        """The sentence, whose last line was added."""
        if self.covered > len(self.words):
            raise BadInput(f"a multiword token reaches past word {len(self.words)}", self.path, self.token_line)
        if not self.heads:
            self.counts["sentences without a tree in their file"] += 1
        elif fault := tree_fault(self.heads):
            raise BadInput(fault[1], self.path, self.lines[fault[0]])
        if self.units == WORDS:
            return Sentence(tuple(self.words), tuple(self.tags), tuple(self.heads), tuple(self.relations))
        return self._with_tokens()

    def _with_tokens(self) -> Sentence:
        """The sentence in XTREME's units."""
        heads = self.heads or [-1] * len(self.words)  # none in a file without trees
        parents = [[head, *self._enhanced_heads(i)] for i, head in enumerate(heads)]
        words, tags, done = list[str](), list[str](), 0
        for start, end, form in [*self.tokens, (len(self.words), len(self.words), "")]:
            words += self.words[done:start]
            tags += self.tags[done:start]
            if end > start:
                words.append(one_word(form, self.counts))
                tags.append(token_tag(range(start, end), self.tags, parents, self.language))
                self.counts["words merged into multiword tokens"] += end - start
            done = end
        if joined := sum(JOINER in word for word in words):
            self.counts["words that lost U+200C"] += joined
        return Sentence(tuple(word.replace(JOINER, "") or word for word in words), tuple(tags))

    def _enhanced_heads(self, word: int) -> list[int]:
        """The heads of a word in the enhanced graph that are words too."""
        names = [arc.partition(":")[0] for arc in self.enhanced[word].split("|")]
        heads = [int(name) - 1 for name in names if _NUMBER.fullmatch(name)]
        if max(heads, default=-1) >= len(self.words):
            fault = f"DEPS {self.enhanced[word]!r} of word {word + 1} in a sentence of {len(self.words)}"
            raise BadInput(fault, self.path, self.lines[word])
        return heads


def relation_fault(relation: str, head: int) -> str | None:
    """What is wrong with the relation of a word to its head, -1 where it has none, by UD v2; None if nothing is."""
    if new := VERSION_1.get(relation.partition(":")[0]):
        return f"DEPREL {relation} is UD v1; expected v2's {new}: update the treebank to v2"
    match = _RELATION.fullmatch(relation)
    if match is None or match[1] not in RELATIONS:
        return f"DEPREL {relation!r}; expected a relation of UD v2, such as nsubj or nmod:poss"
    if (match[1] == "root") != (head < 0):
        return f"DEPREL {relation} with HEAD {head + 1}; expected root where HEAD is 0, and only there"
    return None


def tree_fault(heads: Sequence[int]) -> tuple[int, str] | None:
    """A word at fault and what is wrong if these heads, counted from 0 and -1 the root's, are no tree of one root."""
    n = len(heads)
    for i, head in enumerate(heads):
        if not -1 <= head < n or head == i:
            return i, f"HEAD {head + 1} of word {i + 1} in a sentence of {n}"
    roots = [i for i, head in enumerate(heads) if head < 0]
    if len(roots) > 1:
        return roots[1], f"{len(roots)} roots, words {_ids(roots)}; expected one"
    rooted = set(roots)
    for i in range(n):
        ancestors: dict[
            int, None
        ] = {}  # in order, and quick to look up: a chain of heads may be as long as its sentence
        while i not in rooted:
            if i in ancestors:
                walked = list(ancestors)
                cycle = walked[walked.index(i) :]
                return min(cycle), f"words {_ids(cycle)} form a cycle"
            ancestors[i] = None
            i = heads[i]
        rooted.update(ancestors)
    return None


def _ids(words: list[int]) -> str:
    return ", ".join(str(i + 1) for i in words)

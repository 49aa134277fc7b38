"""CoNLL-U treebanks, checked strictly.

In XTREME's units, multiword tokens replace their words (French `du` for `de` and `le`). They get the tag of
the word with the fewest ancestors in the tree and the enhanced graph; a ranking of tags breaks ties.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from calque.derive.errors import BadInput
from calque.derive.files import read_toml
from calque.derive.readers.lines import (
    Lines,
    Numbered,
    Place,
    WithheldWords,
    check_file,
    one_word,
    readable,
)
from calque.derive.sentence import Sentence

_TABLE = {name: text.split() for name, text in read_toml(Path(__file__).with_name("ud.toml")).items()}
UPOS, RELATIONS = frozenset(_TABLE["tags"]), frozenset(_TABLE["relations"])
NOTHING = "_"
NAMES: tuple[str, ...] = ("ID", "FORM", "LEMMA", "UPOS", "XPOS", "FEATS", "HEAD", "DEPREL", "DEPS", "MISC")
NEEDED = ("ID", "FORM", "UPOS")
PLUS = "# global.columns"  # the start of the first line in CoNLL-U Plus files
_ID = re.compile(r"(\d{1,9})(?:([-.])(\d{1,9}))?", re.ASCII)
_ANNOUNCED = re.compile(r"#\s*(?:text|sent_id)\s*=")
_NUMBER = re.compile(r"\d{1,9}", re.ASCII)
_RELATION = re.compile(r"([a-z]+)(?::[a-z]+)?")

Units = Literal["words", "xtreme"]
WORDS: Units = "words"
XTREME: Units = "xtreme"
JOINER = "\u200c"  # the zero-width non-joiner, which XTREME's files lack


def read_conllu(
    path: Path,
    counts: Counter[str] | None = None,
    *,
    unparsed: bool = False,
    withheld: bool = False,
    units: Units = WORDS,
    language: str = "",
    part: Iterable[Numbered] = (),
) -> Iterator[Sentence]:
    """Stream a treebank's sentences; repairs and exclusions are counted in `counts`.

    unparsed: accept sentences with `_` in all HEAD and DEPREL fields.
    withheld: keep sentences whose words are withheld. Otherwise, they are left out, and a file of mostly
        withheld words raises BadInput.
    units: in XTREME's units, multiword tokens are tagged as in its conversion for `language`.
    part: the lines of complete sentences, to read instead of the file.
    """
    counts = Counter() if counts is None else counts
    sentences = (
        (block.sentence() if units == WORDS else block.with_tokens(language), block.forms)
        for block in _blocks(path, counts, unparsed, part)
    )
    return readable(sentences, path, counts, withheld, whole=not part)


def read_raw_text(path: Path, counts: Counter[str]) -> Iterator[str]:
    """Yield the text of each sentence in a treebank: its `# text` comment or else its words, joined with
    spaces."""
    names, withheld = column_names(path), WithheldWords()
    text, words = "", list[str]()
    place = Place(path)
    for place, line in Lines(path, counts, must_end=True):
        if not line.strip():
            if words:
                yield text or " ".join(words)
            text, words = "", []
        elif line.startswith("# text ="):
            text = line.partition("=")[2]
        elif not line.startswith("#"):
            id_, form, *_ = cells(place, line, names)
            if id_.isdecimal():
                words.append(form)
                withheld.add([(place, form)])
    if words:
        raise place.fault("no blank line after the last sentence: the file is truncated")
    withheld.check()


def read_lemmas(path: Path) -> Iterator[tuple[str, str]]:
    """Stream (word, lemma) pairs, excluding multiword tokens, empty nodes and words without a lemma."""
    names = column_names(path)
    for place, line in Lines(path):
        if not line or line.startswith("#"):
            continue
        id_, form, lemma, *_ = cells(place, line, names)
        if id_.isascii() and id_.isdecimal() and lemma != NOTHING:
            yield one_word(form, Counter()), lemma


def column_names(path: Path) -> tuple[str, ...]:
    """Return a treebank's column names: CoNLL-U's ten, or the first line of a CoNLL-U Plus file."""
    place, line = next(iter(Lines(path)))
    if not line.startswith(PLUS):
        return NAMES
    names = tuple(line.removeprefix(PLUS).removeprefix(" =").split())
    if lacking := [name for name in NAMES if names.count(name) > 1 or (name in NEEDED and name not in names)]:
        raise place.fault(f"global.columns has {names.count(lacking[0])} columns {lacking[0]}; expected one")
    return names


def cells(place: Place, line: str, names: Sequence[str]) -> list[str]:
    """Return a line's ten columns; those missing from `names` are `_`."""
    columns = line.split("\t")
    if len(columns) != len(names):
        raise place.fault(f"{len(columns)} tab-separated columns; expected {len(names)}")
    if names == NAMES:
        return columns
    by_name = dict(zip(names, columns, strict=True))
    return [by_name.get(name, NOTHING) for name in NAMES]


@dataclass
class _Block:
    counts: Counter[str]
    unparsed: bool
    forms: list[Numbered] = field(default_factory=list)  # each word's line and FORM
    tags: list[str] = field(default_factory=list)
    heads: list[int] = field(default_factory=list)
    relations: list[str] = field(default_factory=list)
    enhanced: list[str] = field(default_factory=list)  # column DEPS
    # Multiword tokens: start (0-based), end (exclusive), FORM, location.
    tokens: list[tuple[int, int, str, Place]] = field(default_factory=list)
    comments: int = 0
    announced: Place | None = None  # the location of a `# text` or `# sent_id` comment
    last: str = "0"  # the previous ID

    @property
    def words(self) -> tuple[str, ...]:
        return tuple(form for _, form in self.forms)

    def add(self, place: Place, line: str, names: Sequence[str]) -> None:
        if line.startswith("#"):
            if self.last != "0":
                raise place.fault("a comment inside a sentence; expected a blank line before it")
            self.comments += 1
            if _ANNOUNCED.match(line):
                self.announced = place
            return
        columns = cells(place, line, names)
        if not all(map(str.strip, columns)):
            name = next(name for name, column in zip(NAMES, columns, strict=True) if not column.strip())
            raise place.fault(f"column {name} is empty; expected _ for no value")
        match = _ID.fullmatch(columns[0])
        if match is None:
            raise place.fault(f"ID {columns[0]!r}; expected a number such as 3, 3-4 or 3.1")
        if match[2]:
            self._no_word(match, columns, place)
        else:
            self._word(columns, place)
        self.last = columns[0]

    def _word(self, columns: list[str], place: Place) -> None:
        id_, form, _, tag, _, _, head, relation, enhanced, _ = columns
        expected = len(self.forms) + 1
        if id_ != str(expected):
            raise place.fault(f"ID {id_}; expected {expected}")
        if tag not in UPOS:
            raise place.fault(f"UPOS {tag!r}; expected one of {' '.join(sorted(UPOS))}")
        self.forms.append((place, one_word(form, self.counts)))
        self.tags.append(tag)
        self.enhanced.append(enhanced)
        if self.unparsed and head == relation == NOTHING and not self.heads:
            return
        if not _NUMBER.fullmatch(head):
            raise place.fault(f"HEAD {head!r}; expected a number")
        if fault := relation_fault(relation, int(head) - 1):
            raise place.fault(fault)
        if len(self.heads) + 1 < len(self.forms):
            raise place.fault(f"HEAD {head} after words without a HEAD; expected _")
        self.heads.append(int(head) - 1)
        self.relations.append(relation)

    def _no_word(self, match: re.Match[str], columns: list[str], place: Place) -> None:
        """Add a multiword token, which precedes its words, or an empty node, which follows a word."""
        here, first, second = len(self.forms), int(match[1]), int(match[3])
        if match[2] == "-":
            self.counts["multiword tokens"] += 1
            covered = self.tokens[-1][1] if self.tokens else 0
            if first != here + 1 or second <= first or first <= covered:
                raise place.fault(f"multiword token {match[0]} where word {here + 1} is expected")
            self.tokens.append((here, second, columns[1], place))
        else:
            self.counts["empty nodes"] += 1
            before, _, nodes = self.last.partition(".")
            if first != here or second != (int(nodes) + 1 if nodes and int(before) == here else 1):
                raise place.fault(f"empty node {match[0]} after ID {self.last}")
        if any(columns[i] != NOTHING for i in (6, 7)):
            raise place.fault(f"{match[0]} has a HEAD or DEPREL, which only words may have")

    def check_end(self, place: Place) -> None:
        if self.last != "0":
            fault = "no blank line after the last sentence: either the file is truncated, or you must add one"
            raise place.fault(fault)
        if self.comments:
            self.leave_out(place)

    def leave_out(self, place: Place) -> None:
        if self.announced or self.last != "0":
            fault = "a sentence without words: either the file is truncated, or you must remove the comments"
            raise (self.announced or place).fault(fault)
        kind = "comments" if self.comments else "blank lines"
        self.counts[f"{kind} without a sentence"] += self.comments or 1

    def sentence(self) -> Sentence:
        if self.tokens and self.tokens[-1][1] > len(self.forms):
            raise self.tokens[-1][3].fault(f"a multiword token extends beyond word {len(self.forms)}")
        if not self.heads:
            self.counts["sentences without a tree in their file"] += 1
        elif fault := tree_fault(self.heads):
            raise self.forms[fault[0]][0].fault(fault[1])
        return Sentence(self.words, tuple(self.tags), tuple(self.heads), tuple(self.relations))

    def with_tokens(self, language: str) -> Sentence:
        heads = self.sentence().heads or [-1] * len(self.forms)  # missing if the file has no trees
        parents = [[head, *self._enhanced_heads(i)] for i, head in enumerate(heads)]
        words, tags = [*self.words], [*self.tags]
        for start, end, form, _ in reversed(self.tokens):
            words[start:end] = [one_word(form, self.counts)]
            tags[start:end] = [_token_tag(range(start, end), self.tags, parents, language)]
            self.counts["words merged into multiword tokens"] += end - start
        if joined := sum(JOINER in word for word in words):
            self.counts["words that lost U+200C"] += joined
        return Sentence(tuple(word.replace(JOINER, "") or word for word in words), tuple(tags))

    def _enhanced_heads(self, word: int) -> list[int]:
        names = [arc.partition(":")[0] for arc in self.enhanced[word].split("|")]
        heads = [int(name) - 1 for name in names if _NUMBER.fullmatch(name)]
        if max(heads, default=-1) >= len(self.forms):
            fault = f"DEPS {self.enhanced[word]!r} of word {word + 1} in a sentence of {len(self.forms)}"
            raise self.forms[word][0].fault(fault)
        return heads


def _blocks(path: Path, counts: Counter[str], unparsed: bool, part: Iterable[Numbered]) -> Iterator[_Block]:
    names, block, place = column_names(path), _Block(counts, unparsed), Place(path)
    for place, line in part or Lines(path, counts, must_end=True):
        if line:
            block.add(place, line, names)
            continue
        if block.forms:
            yield block
        else:
            block.leave_out(place)
        block = _Block(counts, unparsed)
    block.check_end(place)


def _token_tag(
    words: Sequence[int], tags: Sequence[str], parents: Sequence[Sequence[int]], language: str
) -> str:
    """Return the tag of a multiword token of `words`; `parents` lists each word's heads."""
    ancestors: dict[int, set[int]] = {word: set() for word in words}
    for word, above in ancestors.items():
        waiting = [*parents[word]]
        while waiting:
            parent = waiting.pop()
            if parent != word and parent not in above:
                above.add(parent)
                waiting += parents[parent] if parent >= 0 else ()
    fewest = min(map(len, ancestors.values()))
    code = language.lower().replace("_", "-").partition("-")[0]
    ranking = [*_TABLE.get(f"ranked_{code}", ()), *_TABLE["ranked"]]
    return min((tags[word] for word in words if len(ancestors[word]) == fewest), key=ranking.index)


def relation_fault(relation: str, head: int) -> str | None:
    """Return a message if a word's relation to its head (-1 for the root) is invalid in UD v2."""
    match = _RELATION.fullmatch(relation)
    if match is None or match[1] not in RELATIONS:
        expected = "a relation of UD v2, such as nsubj or nmod:poss (UD v1 differs)"
        return f"DEPREL {relation!r}; expected {expected}"
    if (match[1] == "root") != (head < 0):
        return f"DEPREL {relation} with HEAD {head + 1}; expected root if and only if HEAD is 0"
    return None


def tree_fault(heads: Sequence[int]) -> tuple[int, str] | None:
    """Return the index of the first invalid word and a message if 0-based heads (the root's is -1) do not
    form a tree with one root."""
    n = len(heads)
    for i, head in enumerate(heads):
        if not -1 <= head < n or head == i:
            return i, f"HEAD {head + 1} of word {i + 1} in a sentence of {n}"
    roots = [i for i, head in enumerate(heads) if head < 0]
    if len(roots) > 1:
        return roots[1], f"{len(roots)} roots, words {_ids(roots)}; expected one"
    rooted = set(roots)
    for i in range(n):
        ancestors = dict[int, None]()  # an ordered set, because chains may be as long as the sentence
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


def read_treebank(path: Path, counts: Counter[str] | None = None) -> Iterator[Sentence]:
    """Stream the sentences in `treebank_files`, even if their words are withheld, because grammars learn only
    from tags and trees."""
    for file in treebank_files(path):
        yield from read_conllu(file, counts, withheld=True)


def treebank_files(path: Path) -> list[Path]:
    """Return the file itself, or all .conllu files below a folder; raise BadInput if there are none."""
    files = sorted(path.rglob("*.conllu")) if path.is_dir() else [path]
    if not files:
        raise BadInput("no treebank (.conllu file) below this folder", path)
    check_file(files[0])
    return files

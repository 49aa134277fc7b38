"""Read CoNLL-U treebanks, with strict checks.

In XTREME's units, multiword tokens replace their words (French `du` for `de` and `le`). A multiword token
gets the tag of the word that has the fewest ancestors in the tree and the enhanced graph; a ranking of tags
breaks ties."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from calque.derive.errors import BadInput
from calque.derive.files import read_toml
from calque.derive.readers.lines import Numbered, Place, one_word, read_lines
from calque.derive.sentence import Sentence

_TABLE = {name: text.split() for name, text in read_toml(Path(__file__).with_name("ud.toml")).items()}
UPOS, RELATIONS = frozenset(_TABLE["tags"]), frozenset(_TABLE["relations"])
NOTHING = "_"
NAMES: tuple[str, ...] = ("ID", "FORM", "LEMMA", "UPOS", "XPOS", "FEATS", "HEAD", "DEPREL", "DEPS", "MISC")
PLUS = "# global.columns"  # how the first line of CoNLL-U Plus files starts
_ID = re.compile(r"(\d{1,9})(?:([-.])(\d{1,9}))?", re.ASCII)
_NUMBER = re.compile(r"\d{1,9}", re.ASCII)
_RELATION = re.compile(r"([a-z]+)(?::[a-z]+)?")
_TEXT = "# text ="

Units = Literal["words", "xtreme"]
WORDS: Units = "words"
XTREME: Units = "xtreme"
JOINER = "\u200c"  # the zero-width non-joiner, which XTREME's files lack


def read_conllu(
    path: Path,
    counts: Counter[str] | None = None,
    *,
    unparsed: bool = False,
    units: Units = WORDS,
    language: str = "",
    part: Iterable[Numbered] = (),
) -> Iterator[Sentence]:
    """Stream a treebank's sentences; repairs and exclusions are counted in `counts`.

    unparsed: accept sentences with `_` in all HEAD and DEPREL fields.
    units: in XTREME's units, multiword tokens are tagged as in XTREME's conversion for `language`.
    part: the lines of complete sentences, which are read instead of the file.
    """
    for block in _blocks(path, Counter() if counts is None else counts, part):
        sentence = block.sentence(unparsed)
        yield sentence if units == WORDS else block.with_tokens(sentence, language)


def read_raw_text(path: Path, part: Iterable[Numbered]) -> Iterator[str]:
    """Yield the `# text` comment of each sentence in a `part` of a file or, if there is none, the sentence's
    words joined with spaces."""
    for block in _blocks(path, Counter(), part):
        yield block.text or " ".join(block.column("FORM"))


@dataclass
class _Block:
    """A sentence: its words' columns, and each multiword token's first word, end (0-based) and form."""

    counts: Counter[str]
    text: str = ""
    rows: list[tuple[Place, list[str]]] = field(default_factory=list)
    tokens: list[tuple[int, int, str]] = field(default_factory=list)

    def column(self, name: str) -> list[str]:
        number = NAMES.index(name)
        return [columns[number] for _, columns in self.rows]

    def add(self, place: Place, columns: list[str]) -> None:
        """Add a word, a multiword token (before its words) or an empty node."""
        match, position = _ID.fullmatch(columns[0]), len(self.rows)
        if match and match[2] == "-":
            covered = self.tokens[-1][1] if self.tokens else 0
            if int(match[1]) != position + 1 or int(match[3]) <= position + 1 or covered > position:
                raise place.fault(f"multiword token {match[0]} where word {position + 1} is expected")
            self.tokens.append((position, int(match[3]), columns[1]))
            self.counts["multiword tokens"] += 1
        elif match and match[2]:
            if int(match[1]) != position:
                raise place.fault(f"empty node {match[0]} after word {position}")
            self.counts["empty nodes"] += 1
        elif columns[0] == str(position + 1):
            columns[1] = one_word(columns[1], self.counts)
            if not columns[1]:
                raise place.fault("column FORM is empty")
            if columns[3] not in UPOS:
                raise place.fault(f"UPOS {columns[3]!r}; expected one of {' '.join(sorted(UPOS))}")
            self.rows.append((place, columns))
        else:
            raise place.fault(f"ID {columns[0]!r}; expected {position + 1}")

    def sentence(self, unparsed: bool) -> Sentence:
        """Return the sentence; raise BadInput if its heads do not form a tree or, if `unparsed`, are not all
        missing."""
        if self.tokens and self.tokens[-1][1] > len(self.rows):
            raise self.rows[-1][0].fault(f"a multiword token extends beyond word {len(self.rows)}")
        words, tags = tuple(self.column("FORM")), tuple(self.column("UPOS"))
        names, relations = self.column("HEAD"), self.column("DEPREL")
        if unparsed and {*names, *relations} == {NOTHING}:
            self.counts["sentences without a tree in their file"] += 1
            return Sentence(words, tags)
        heads = []
        for (place, _), name, relation in zip(self.rows, names, relations, strict=True):
            if not _NUMBER.fullmatch(name):
                raise place.fault(f"HEAD {name!r}; expected a number for every word of the sentence")
            heads.append(int(name) - 1)
            if fault := relation_fault(relation, heads[-1]):
                raise place.fault(fault)
        if tree_error := tree_fault(heads):
            raise self.rows[tree_error[0]][0].fault(tree_error[1])
        return Sentence(words, tags, tuple(heads), tuple(relations))

    def with_tokens(self, sentence: Sentence, language: str) -> Sentence:
        """Return the block's `sentence` in XTREME's units, without a tree."""
        words, tags = [*sentence.words], [*sentence.tags]
        heads = sentence.heads or [-1] * len(words)  # missing if the file has no trees
        parents = [[head, *self._enhanced_heads(i)] for i, head in enumerate(heads)]
        for start, end, form in reversed(self.tokens):
            words[start:end] = [one_word(form, self.counts)]
            tags[start:end] = [_token_tag(range(start, end), sentence.tags, parents, language)]
            self.counts["words merged into multiword tokens"] += end - start
        if joined := sum(JOINER in word for word in words):
            self.counts["words that lost U+200C"] += joined
        return Sentence(tuple(word.replace(JOINER, "") or word for word in words), tuple(tags))

    def _enhanced_heads(self, word: int) -> list[int]:
        place, (*_, deps, _) = self.rows[word]
        names = [arc.partition(":")[0] for arc in deps.split("|")]
        heads = [int(name) - 1 for name in names if _NUMBER.fullmatch(name)]
        if max(heads, default=-1) >= len(self.rows):
            raise place.fault(f"DEPS {deps!r}; there are {len(self.rows)} words")
        return heads


def _blocks(path: Path, counts: Counter[str], part: Iterable[Numbered]) -> Iterator[_Block]:
    """Yield the sentences of a file, or of a `part`; raise BadInput if most words are withheld."""
    names, block, place = _column_names(path), _Block(counts), Place(path)
    words = withheld = comments = 0
    for place, line in part or read_lines(path, counts, must_end=True):
        if line.startswith("#"):
            comments += 1
            if line.startswith(_TEXT):
                block.text = line.removeprefix(_TEXT)
            continue
        if line:
            block.add(place, _cells(place, line, names))
            continue
        if block.rows:
            words, withheld = words + len(block.rows), withheld + block.column("FORM").count(NOTHING)
            yield block
        elif block.text or block.tokens:
            raise place.fault("a sentence without words: remove its comments, unless the file is truncated")
        else:
            kind = "comments" if comments else "blank lines"
            counts[f"{kind} without a sentence"] += comments or 1
        block, comments = _Block(counts), 0
    if block.rows or block.tokens or block.text:
        raise place.fault("no blank line after the last sentence: add one, unless the file is truncated")
    if comments:
        counts["comments without a sentence"] += comments
    if not words and not part:
        raise BadInput("this file contains no sentences", path)
    if 2 * withheld > words:
        raise BadInput(f"{withheld:,} of {words:,} words are withheld (_); obtain the text first", path)


def _column_names(path: Path) -> tuple[str, ...]:
    place, line = next(read_lines(path))
    if not line.startswith(PLUS):
        return NAMES
    names = tuple(line.removeprefix(PLUS).removeprefix(" =").split())
    if missing := {"ID", "FORM", "UPOS"}.difference(names):
        raise place.fault(f"global.columns lacks {', '.join(sorted(missing))}")
    return names


def _cells(place: Place, line: str, names: Sequence[str]) -> list[str]:
    """Return a line's ten columns; columns missing from `names` are `_`."""
    columns = line.split("\t")
    if len(columns) != len(names):
        raise place.fault(f"{len(columns)} tab-separated columns; expected {len(names)}")
    if names == NAMES:
        return columns
    by_name = dict(zip(names, columns, strict=True))
    return [by_name.get(name, NOTHING) for name in NAMES]


def _token_tag(
    words: Sequence[int], tags: Sequence[str], parents: Sequence[Sequence[int]], language: str
) -> str:
    """Return the tag of a multiword token of `words`; `parents` lists each word's heads."""
    ancestors: dict[int, set[int]] = {word: set() for word in words}
    for word, above in ancestors.items():
        stack = [*parents[word]]
        while stack:
            parent = stack.pop()
            if parent != word and parent not in above:
                above.add(parent)
                stack += parents[parent] if parent >= 0 else ()
    fewest = min(map(len, ancestors.values()))
    code = language.lower().replace("_", "-").partition("-")[0]
    ranking = [*_TABLE.get(f"ranked_{code}", ()), *_TABLE["ranked"]]
    return min((tags[word] for word in words if len(ancestors[word]) == fewest), key=ranking.index)


def relation_fault(relation: str, head: int) -> str | None:
    """Return a message if a word's relation to its head (-1 for the root) is invalid in UD v2."""
    match = _RELATION.fullmatch(relation)
    if match and match[1] in RELATIONS and (match[1] == "root") == (head < 0):
        return None
    expected = "a relation of UD v2, such as nsubj or nmod:poss, or root if and only if HEAD is 0"
    return f"DEPREL {relation!r} with HEAD {head + 1}; expected {expected}"


def tree_fault(heads: Sequence[int]) -> tuple[int, str] | None:
    """Return the first invalid word and a message if 0-based heads (-1 for the root) do not form a tree with
    one root."""
    n = len(heads)
    for i, head in enumerate(heads):
        if not -1 <= head < n or head == i:
            return i, f"HEAD {head + 1} of word {i + 1} in a sentence of {n} words"
    roots = [i for i, head in enumerate(heads) if head < 0]
    if len(roots) > 1:
        return roots[1], f"{len(roots)} roots, words {roots[0] + 1} and {roots[1] + 1}; expected one"
    reachable = set(roots)
    for i in range(n):
        path = set[int]()
        while i not in reachable:
            if i in path:
                return i, f"word {i + 1} is its own ancestor"
            path.add(i)
            i = heads[i]
        reachable |= path
    return None

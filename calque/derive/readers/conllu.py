"""Read CoNLL-U treebanks, with strict checks.

In XTREME's units, multiword tokens replace their words (French `du` for `de` and `le`), and get the tag of
the word that has the fewest ancestors in the tree and the enhanced graph; a ranking of tags breaks ties."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from calque.derive.errors import BadInput
from calque.derive.files import read_toml
from calque.derive.readers.lines import Numbered, Place, one_word, paragraphs, read_lines
from calque.derive.sentence import Sentence

_TABLE = {name: text.split() for name, text in read_toml(Path(__file__).with_name("ud.toml")).items()}
UPOS, RELATIONS = frozenset(_TABLE["tags"]), frozenset(_TABLE["relations"])
NAMES = "ID FORM LEMMA UPOS XPOS FEATS HEAD DEPREL DEPS MISC".split()
PLUS = "# global.columns"  # how the first line of CoNLL-U Plus files starts
_TOKEN = re.compile(r"(\d{1,9})-(\d{1,9})", re.ASCII)
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
    units: Units = WORDS,
    language: str = "",
    part: Iterable[Numbered] = (),
) -> Iterator[Sentence]:
    """Stream a treebank's sentences, or those in the lines `part`, and count repairs and exclusions. In
    XTREME's units, multiword tokens are tagged as in XTREME's conversion for `language`."""
    counts = Counter() if counts is None else counts
    for block in _blocks(path, counts, part):
        sentence = block.sentence()
        yield sentence if units == WORDS else block.with_tokens(sentence, language, counts)


def read_raw_text(path: Path, part: Iterable[Numbered]) -> Iterator[str]:
    """Yield each sentence's `# text` comment in a `part` of a file or, without one, its words."""
    for block in _blocks(path, Counter(), part):
        yield block.text or " ".join(block.column("FORM"))


@dataclass
class _Block:
    """A sentence: its words' columns by name, and each multiword token's first word, end and form."""

    text: str = ""
    rows: list[tuple[Place, dict[str, str]]] = field(default_factory=list)
    tokens: list[tuple[int, int, str]] = field(default_factory=list)

    def column(self, name: str) -> list[str]:
        return [columns.get(name, "_") for _, columns in self.rows]

    def add(self, place: Place, columns: dict[str, str], counts: Counter[str]) -> None:
        """Add a word or a multiword token (before its words); count multiword tokens and empty nodes."""
        number, position = columns["ID"], len(self.rows)
        if match := _TOKEN.fullmatch(number):
            end, covered = int(match[2]), self.tokens[-1][1] if self.tokens else 0
            if int(match[1]) != position + 1 or end <= position + 1 or covered > position:
                raise place.fault(f"multiword token {number} where word {position + 1} is expected")
            self.tokens.append((position, end, columns["FORM"]))
            counts["multiword tokens"] += 1
        elif number.startswith(f"{position}."):
            counts["empty nodes"] += 1
        elif number == str(position + 1):
            columns["FORM"] = one_word(columns["FORM"], counts)
            if not columns["FORM"]:
                raise place.fault("column FORM is empty")
            if columns["UPOS"] not in UPOS:
                raise place.fault(f"UPOS {columns['UPOS']!r}; expected one of {' '.join(sorted(UPOS))}")
            self.rows.append((place, columns))
        else:
            raise place.fault(f"ID {number!r}; expected {position + 1}")

    def sentence(self) -> Sentence:
        """Return the sentence; raise BadInput if its heads do not form a tree."""
        if self.tokens and self.tokens[-1][1] > len(self.rows):
            raise self.rows[-1][0].fault(f"a multiword token extends beyond word {len(self.rows)}")
        words, tags = tuple(self.column("FORM")), tuple(self.column("UPOS"))
        names, relations = self.column("HEAD"), self.column("DEPREL")
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

    def with_tokens(self, sentence: Sentence, language: str, counts: Counter[str]) -> Sentence:
        """Return the block's `sentence` in XTREME's units, without a tree."""
        words, tags = [*sentence.words], [*sentence.tags]
        parents = [{head} for head in sentence.heads]
        for above, deps in zip(parents, self.column("DEPS"), strict=True):
            names = (arc.partition(":")[0] for arc in deps.split("|"))
            above.update(int(name) - 1 for name in names if _NUMBER.fullmatch(name))
        for start, end, form in reversed(self.tokens):
            words[start:end] = [one_word(form, counts)]
            tags[start:end] = [_token_tag(range(start, end), sentence.tags, parents, language)]
            counts["words merged into multiword tokens"] += end - start
        counts["words that lost U+200C"] += sum(JOINER in word for word in words)
        return Sentence(tuple(word.replace(JOINER, "") or word for word in words), tuple(tags))


def _blocks(path: Path, counts: Counter[str], part: Iterable[Numbered]) -> Iterator[_Block]:
    place, line = next(read_lines(path))
    names, found = NAMES, bool(part)
    if line.startswith(PLUS):
        names = line.removeprefix(PLUS).removeprefix(" =").split()
        if missing := {"ID", "FORM", "UPOS"}.difference(names):
            raise place.fault(f"global.columns lacks {', '.join(sorted(missing))}")
    for lines in paragraphs(part or read_lines(path, must_end=True)):
        block = _Block()
        for place, line in lines:
            if line.startswith(_TEXT):
                block.text = line.removeprefix(_TEXT)
            elif line.strip() and not line.startswith("#"):
                columns = line.split("\t")
                if len(columns) != len(names):
                    raise place.fault(f"{len(columns)} tab-separated columns; expected {len(names)}")
                block.add(place, dict(zip(names, columns, strict=True)), counts)
        if block.text or block.tokens or block.rows:
            if line.strip():
                raise place.fault("no blank line after the last sentence: add one, unless it is truncated")
            if not block.rows:
                raise place.fault("a sentence without words: remove its comments, unless it is truncated")
            found = True
            yield block
    if not found:
        raise BadInput("this file contains no sentences", path)


def _token_tag(
    words: Sequence[int], tags: Sequence[str], parents: Sequence[Iterable[int]], language: str
) -> str:
    # `parents` lists each word's heads.
    ancestors: dict[int, set[int]] = {word: set() for word in words}
    for word, above in ancestors.items():
        stack = [*parents[word]]
        while stack:
            parent = stack.pop()
            if parent != word and parent not in above:
                above.add(parent)
                stack += parents[parent] if 0 <= parent < len(parents) else ()
    fewest = min(map(len, ancestors.values()))
    code = language.lower().replace("_", "-").partition("-")[0]
    ranking = [*_TABLE.get(f"ranked_{code}", ()), *_TABLE["ranked"]]
    return min((tags[word] for word in words if len(ancestors[word]) == fewest), key=ranking.index)


def relation_fault(relation: str, head: int) -> str | None:
    """Return a message if a word's relation to its head (-1: root) is invalid in UD v2."""
    match = _RELATION.fullmatch(relation)
    if match and match[1] in RELATIONS and (match[1] == "root") == (head < 0):
        return None
    expected = "a relation of UD v2, such as nsubj or nmod:poss, or root if and only if HEAD is 0"
    return f"DEPREL {relation!r} with HEAD {head + 1}; expected {expected}"


def tree_fault(heads: Sequence[int]) -> tuple[int, str] | None:
    """Return an invalid word and a message if 0-based heads (-1: root) do not form a tree with one root."""
    n, roots = len(heads), [i for i, head in enumerate(heads) if head < 0]
    for i, head in enumerate(heads):
        if not -1 <= head < n or head == i:
            return i, f"HEAD {head + 1} of word {i + 1} in a sentence of {n} words"
    if len(roots) > 1:
        return roots[1], f"{len(roots)} roots, words {roots[0] + 1} and {roots[1] + 1}; expected one"
    reached = {-1}
    for word in range(n):
        path: list[int] = []
        while word not in reached:
            if word in path:
                return word, f"word {word + 1} is its own ancestor"
            path.append(word)
            word = heads[word]
        reached.update(path)
    return None

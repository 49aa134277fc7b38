"""Trees for sentences without one, parsed once and kept in files."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from calque.derive.artefact import read_sealed, write_sealed
from calque.derive.errors import BadInput
from calque.derive.fingerprint import fingerprint
from calque.derive.parser import StanzaParser
from calque.derive.sentence import Sentence

MANY = 20  # if this many sentences all fail, the parser is at fault
COLUMNS = ("tags", "heads", "relations")  # the columns of a tree in a shard, entries separated by spaces
SHARD = 2_000  # sentences parsed and written together, the most that a killed run loses


@dataclass(frozen=True)
class ParsedTrees:
    """A parser with a cache of its trees. A shard is a file of sealed JSON in `cache`, with the tree of each of up to
    `SHARD` sentences, or the reason why it has none, named after the words and the parser."""

    parser: StanzaParser
    cache: Path

    def add_to(self, sentences: Sequence[Sentence], counts: Counter[str]) -> list[Sentence]:
        """The sentences with tags and trees; gold ones stay. Sentences left without a tree are counted."""
        lacking = list(dict.fromkeys(s.words for s in sentences if s.words and not s.heads))
        blocks = [lacking[first : first + SHARD] for first in range(0, len(lacking), SHARD)]
        trees = {words: tree for block in blocks for words, tree in zip(block, self._shard(block), strict=True)}
        with_trees = []
        for sentence in sentences:
            tree = trees.get(sentence.words) if not sentence.heads else None
            if isinstance(tree, Sentence):
                sentence = replace(
                    sentence, tags=sentence.tags or tree.tags, heads=tree.heads, relations=tree.relations
                )
            elif tree:
                counts[f"sentences without a tree: {tree}"] += 1
            with_trees.append(sentence)
        return with_trees

    def _shard(self, block: list[tuple[str, ...]]) -> Iterator[Sentence | str]:
        """Each sentence's tree, or the reason why it has none, from the cache or, the first time, from the parser."""
        path = self.cache / f"{fingerprint(self.parser.fingerprint(), block)}.parsed.json"
        if not path.exists():
            parsed = self.parser.trees(block)
            if len(block) >= MANY and all(isinstance(tree, str) for tree in parsed):
                raise BadInput(f"none of {len(block):,} sentences could be parsed; the last: {parsed[-1]}")
            rows = [
                tree if isinstance(tree, str) else [" ".join(map(str, getattr(tree, name))) for name in COLUMNS]
                for tree in parsed
            ]
            write_sealed(path, {"sentences": len(block), "words": sum(map(len, block)), "trees": rows})
        for words, row in zip(block, read_sealed(path, "parsed sentences")["trees"], strict=True):
            if isinstance(row, str):
                yield row
            else:
                tags, heads, relations = map(str.split, row)
                yield Sentence(words, tuple(tags), tuple(map(int, heads)), tuple(relations))

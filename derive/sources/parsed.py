"""A source whose sentences have trees: those that lack one are parsed once, and kept in files."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

from derive.artefact import read_sealed, write_sealed
from derive.errors import BadInput
from derive.example import Question
from derive.files import fingerprint
from derive.parser import StanzaParser
from derive.sentence import Sentence
from derive.source import Source, TaskData

MANY = 20  # sentences that do not all fail by themselves: when they do, the parser is at fault
COLUMNS = ("tags", "heads", "relations")  # of a tree in a shard, each between spaces
SHARD = 2_000  # sentences that are parsed and written together: what a killed run loses at most


@dataclass(frozen=True)
class Parsed(Source):
    """`source` with a tag and a tree for each sentence; gold trees, tags, spans and labels stay. A shard is a file of
    sealed JSON with the trees of up to `SHARD` sentences, or why they have none. It is named after their words and the
    parser, and serves every study."""

    source: Source
    parser: StanzaParser
    cache: Path

    @property
    def title(self) -> str:
        return self.source.title

    def chunks(self) -> Iterable[Any]:
        return self.source.chunks()

    def sentences(self, chunk: Any) -> tuple[list[Sentence], Counter[str]]:
        sentences, left_out = self.source.sentences(chunk)
        return self._with_trees(sentences, counts := Counter(left_out)), counts

    def has_images(self, chunk: Any) -> bool:
        return self.source.has_images(chunk)

    def questions(self) -> Sequence[Question]:
        return self.source.questions()

    @property
    def tasks(self) -> tuple[str, ...]:
        return self.source.tasks

    def corpus_fingerprint(self, trees: bool = True) -> str:
        return fingerprint("parsed", self.source.corpus_fingerprint(), self.parser.fingerprint(), SHARD)

    def task_fingerprint(self, task: str, trees: bool = True) -> str:
        return fingerprint("parsed", self.source.task_fingerprint(task), self.parser.fingerprint(), SHARD)

    def task_data(self, task: str) -> TaskData:
        data, parsed = self.source.task_data(task), TaskData({}, {})
        for split, examples in data.examples.items():
            counts = parsed.left_out[split] = Counter(data.left_out.get(split, ()))
            flat = [sentence for example in examples for text in example.texts for sentence in text]
            trees = iter(self._with_trees(flat, counts))
            parsed.examples[split] = [
                replace(example, texts=tuple(tuple(islice(trees, len(text))) for text in example.texts))
                for example in examples
            ]
        return parsed

    def _with_trees(self, sentences: list[Sentence], counts: Counter[str]) -> list[Sentence]:
        """The sentences in their order; what is in order without a tree is counted."""
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
        """Each sentence's tree, or why it has none: from the cache or, the first time, from the parser."""
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

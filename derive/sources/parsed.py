"""A source whose sentences have trees: those that lack one are parsed once, and kept as CoNLL-U."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

from derive.artefact import read_sealed, write_sealed
from derive.errors import BadInput
from derive.example import Question
from derive.files import fingerprint, sha256
from derive.parser import StanzaParser
from derive.readers.conllu import read_treebank, write_treebank
from derive.sentence import Sentence
from derive.source import Source, TaskData

MANY = 20  # sentences that do not all fail by themselves: when they do, the parser is at fault
TREES = "trees"
"""The key of the digest of a shard's file in its account; nothing where no sentence has a tree."""
SHARD = 2_000  # sentences that are parsed and written together: what a killed run loses at most


@dataclass(frozen=True)
class Parsed(Source):
    """`source` with a tag and a tree for each sentence; gold trees, tags, spans and labels stay. A shard holds the
    trees of up to `SHARD` sentences, is named after their words and the parser, and serves every study. Its account,
    sealed JSON written last, says why some have no tree, and has the digest of the others'."""

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
        lacking = dict.fromkeys(s.words for s in sentences if s.words and not s.heads)
        trees: dict[tuple[str, ...], Sentence | str] = {}
        words = iter(lacking)
        while block := list(islice(words, SHARD)):
            trees.update(zip(block, self._shard(block), strict=True))
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
        name = fingerprint(self.parser.fingerprint(), block)
        path, account = self.cache / f"{name}.conllu", self.cache / f"{name}.trees.json"
        if not account.exists():
            parsed = self.parser.trees(block)
            trees = [replace(tree, words=_forms(tree.words)) for tree in parsed if isinstance(tree, Sentence)]
            if not trees and len(block) >= MANY:
                raise BadInput(f"none of {len(block):,} sentences could be parsed; the last: {parsed[-1]}")
            if trees:
                write_treebank(path, trees)
            facts = {
                "sentences": len(block),
                "words": sum(map(len, block)),
                "failed": {i: tree for i, tree in enumerate(parsed) if isinstance(tree, str)},
                TREES: sha256(path) if trees else None,
            }
            write_sealed(account, facts)
        yield from _read(path, account, block)


def _read(path: Path, account: Path, block: list[tuple[str, ...]]) -> Iterator[Sentence | str]:
    facts = read_sealed(account, "the account of some parsed sentences")
    digest, failed = facts.get(TREES), facts.get("failed", {})
    if digest and not (path.is_file() and sha256(path) == digest):
        raise BadInput(f"not the trees that {account.name} tells of; remove both, to parse again", path)
    trees = read_treebank(path) if digest else iter(())
    for i, words in enumerate(block):
        if why := failed.get(str(i)):
            yield why
        elif (tree := next(trees, None)) is not None and tree.words == _forms(words):
            yield tree
        else:
            raise BadInput(f"trees of other sentences than {account.name} names; remove both, to parse again", path)


def _forms(words: tuple[str, ...]) -> tuple[str, ...]:
    """Words as CoNLL-U holds them: without the white space inside, and not empty. The sentence keeps its own."""
    return tuple("".join(word.split()) or "_" for word in words)

"""Syntax trees of sentences, parsed with Stanza or read from files. Only this module imports Stanza."""

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

from calque.derive.errors import BadInput
from calque.derive.files import digest, read_sealed, write_sealed
from calque.derive.fingerprint import fingerprint
from calque.derive.readers.conllu import UPOS, read_conllu, relation_fault, tree_fault
from calque.derive.readers.lines import read_lines
from calque.derive.sentence import Sentence, printable

RESOURCES = "resources.json"
MANY = 20  # if at least this many sentences all fail, the parser is at fault
SHARD = 2_000  # number of sentences parsed and saved together
NOT_STORED = "no stored tree"
LONGEST = 500  # maximum number of words in a sentence to parse; memory use is quadratic


@dataclass(frozen=True)
class StanzaParser:
    """Stanza's tagger, parser and optional lemmatizer, loaded from a folder."""

    folder: Path

    def fingerprint(self) -> str:
        files = sorted((self.folder / _language(self.folder)).rglob("*.pt"))
        prints = [[path.relative_to(self.folder).as_posix(), digest(path)] for path in files]
        return fingerprint("stanza", prints)

    def trees(self, sentences: Sequence[Sequence[str]]) -> list[Sentence | str]:
        """Return each sentence with tags and a tree, or the reason why it could not be parsed."""
        fit = [tuple(words) for words in sentences if 0 < len(words) <= LONGEST]
        pipeline, torch = _pipeline(self.folder), sys.modules["torch"]  # Stanza imports torch
        threads = torch.get_num_threads()
        torch.set_num_threads(1)
        try:
            parsed = iter(list(_parse(pipeline, fit)) if fit else [])
        finally:
            torch.set_num_threads(threads)
        too_long = f"more than {LONGEST} words"
        return [too_long if len(s) > LONGEST else next(parsed) if s else Sentence(()) for s in sentences]


@dataclass(frozen=True)
class StoredTrees:
    """Stored trees: line i of `file` is the tree of line i of `text`, with one `tag.distance.relation` per
    word, such as `PRON.1.nsubj VERB.0.root`; distances are from words to heads (0: root). `treebanks` contain
    further sentences with trees."""

    text: Path
    file: Path
    treebanks: tuple[Path, ...] = ()

    def fingerprint(self) -> str:
        return fingerprint("stored trees", [digest(path) for path in (self.text, self.file, *self.treebanks)])

    def trees(self, sentences: Sequence[Sequence[str]]) -> list[Sentence | str]:
        """Return each sentence's tree, or NOT_STORED if no tree is stored for it."""
        stored = _stored(self)
        return [_tree(tuple(words), stored.get(" ".join(words)) or NOT_STORED) for words in sentences]


def _tree(words: tuple[str, ...], stored: Sentence | str) -> Sentence | str:
    if isinstance(stored, Sentence) or stored == NOT_STORED:
        return stored
    tags, distances, relations = zip(*(part.split(".") for part in stored.split()), strict=True)
    heads = tuple(place + int(distance) if int(distance) else -1 for place, distance in enumerate(distances))
    return Sentence(words, tags, heads, relations)


@lru_cache(maxsize=1)
def _stored(trees: StoredTrees) -> dict[str, Sentence | str]:
    pairs = zip(read_lines(trees.text), read_lines(trees.file), strict=True)
    stored: dict[str, Sentence | str] = {text: tree for (_, text), (_, tree) in pairs}
    sentences = chain.from_iterable(map(read_conllu, trees.treebanks))
    return stored | {sentence.text: sentence for sentence in sentences}


@dataclass(frozen=True)
class ParsedTrees:
    """A parser with a cache of JSON files with the trees of up to SHARD sentences each."""

    parser: StanzaParser | StoredTrees
    cache: Path

    def add_to(self, sentences: Sequence[Sentence], counts: Counter[str]) -> list[Sentence]:
        """Add tags and trees to sentences without gold trees; count failures by reason."""
        unparsed = list(dict.fromkeys(s.words for s in sentences if s.words and not s.heads))
        trees, with_trees = dict[tuple[str, ...], Sentence | str](), list[Sentence]()
        for first in range(0, len(unparsed), SHARD):
            block = unparsed[first : first + SHARD]
            trees |= zip(block, self._shard(block), strict=True)
        for sentence in sentences:
            tree = trees.get(sentence.words) if not sentence.heads else None
            if isinstance(tree, Sentence):
                tags = sentence.tags or tree.tags
                sentence = replace(sentence, tags=tags, heads=tree.heads, relations=tree.relations)
            elif tree:
                counts[f"sentences without a tree: {tree}"] += 1
            with_trees.append(sentence)
        return with_trees

    def _shard(self, block: list[tuple[str, ...]]) -> Iterator[Sentence | str]:
        path = self.cache / f"{fingerprint(self.parser.fingerprint(), block)}.parsed.json"
        if not path.exists():
            rows: list[Any] = []
            for tree in self.parser.trees(block):
                columns = () if isinstance(tree, str) else (tree.tags, tree.heads, tree.relations)
                rows.append([" ".join(map(str, column)) for column in columns] or tree)
            if len(block) >= MANY and all(isinstance(row, str) for row in rows):
                raise BadInput(f"none of {len(block):,} sentences could be parsed: {rows[-1]}")
            write_sealed(path, {"sentences": len(block), "words": sum(map(len, block)), "trees": rows})
        for words, row in zip(block, read_sealed(path, "parsed sentences")["trees"], strict=True):
            if isinstance(row, str):
                yield row
            else:
                tags, heads, relations = map(str.split, row)
                yield Sentence(words, tuple(tags), tuple(map(int, heads)), tuple(relations))


def _parse(pipeline: Any, sentences: list[tuple[str, ...]]) -> Iterator[Sentence | str]:
    """Yield each sentence's parse, or why it failed; a failure does not affect other sentences."""
    try:
        parsed = pipeline([printable(words) for words in sentences]).sentences
        if len(parsed) != len(sentences):
            raise ValueError(f"Stanza returned {len(parsed)} parses of {len(sentences)} sentences")
    except Exception as error:
        if isinstance(error, MemoryError) or "out of memory" in str(error):  # not the sentences' fault
            raise
        if len(sentences) == 1:
            yield type(error).__name__  # the message quotes words and would differ for each sentence
        else:
            middle = len(sentences) // 2
            yield from chain(_parse(pipeline, sentences[:middle]), _parse(pipeline, sentences[middle:]))
    else:
        for words, sentence in zip(sentences, parsed, strict=True):
            yield _sentence(words, sentence.words)


def _sentence(words: tuple[str, ...], parsed: list[Any]) -> Sentence | str:
    tags = tuple(word.upos for word in parsed)
    heads = tuple(word.head - 1 for word in parsed)
    if len(parsed) != len(words) or tree_fault(heads):
        return "not a tree"
    relations = []  # predicted independently of heads, so `root` on a word with a head becomes `dep`
    for word, head in zip(parsed, heads, strict=True):
        relation = "dep" if word.deprel.partition(":")[0] == "root" else word.deprel
        relations.append(relation if head >= 0 else "root")
    if not UPOS.issuperset(tags) or any(map(relation_fault, relations, heads)):
        return "not a tag or relation of UD v2"
    return Sentence(words, tags, heads, tuple(relations))


@lru_cache(maxsize=2)
def _pipeline(folder: Path) -> Any:
    language = _language(folder)
    lemma = "default" if any((folder / language / "lemma").glob("*.pt")) else "identity"
    try:
        import stanza

        return stanza.Pipeline(
            language,
            dir=str(folder),
            processors={"tokenize": "default", "pos": "default", "lemma": lemma, "depparse": "default"},
            tokenize_pretokenized=True,
            depparse_resolve_head_constraints=False,  # if true, Stanza runs a slow search in Python
            download_method=None,
            logging_level="CRITICAL",
        )
    except ModuleNotFoundError as error:
        raise BadInput(f"{error}; parsing needs Stanza, so run: pip install stanza") from error
    except (OSError, ValueError, KeyError, EOFError, RuntimeError, UnpicklingError) as error:
        raise BadInput(f"Stanza cannot load these models: {type(error).__name__}: {error}", folder) from error


def _language(folder: Path) -> str:
    languages = sorted({path.parent.parent.name for path in folder.glob("*/depparse/*.pt")})
    if len(languages) != 1 or not (folder / RESOURCES).is_file():
        expected = f"{RESOURCES} and Stanza's tagger and parser for one language (docs/word-order.md)"
        names = ", ".join(languages) or "no language"
        raise BadInput(f"found parsers for {names}; expected {expected}", folder)
    return languages[0]

"""Trees that were parsed earlier and stored, used in place of a parser."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from calque.derive.artefact import digest
from calque.derive.fingerprint import fingerprint
from calque.derive.readers.conllu import read_conllu
from calque.derive.readers.lines import Lines
from calque.derive.sentence import Sentence

NONE = "no stored tree"


@dataclass(frozen=True)
class StoredTrees:
    """Trees for the lines of `text`, stored in the same lines of `file`, and for sentences in treebanks."""

    text: Path
    file: Path
    treebanks: tuple[Path, ...] = ()

    def fingerprint(self) -> str:
        return fingerprint("stored trees", [digest(path) for path in (self.text, self.file, *self.treebanks)])

    def trees(self, sentences: Sequence[Sequence[str]]) -> list[Sentence | str]:
        """Return each sentence's tree, or NONE if it is not stored."""
        lines = _lines(self)
        trees: list[Sentence | str] = []
        for words in sentences:
            line = lines.get(" ".join(words))
            trees.append(_tree(tuple(words), line) if line else NONE)
        return trees


def line_of(sentence: Sentence) -> str:
    """Format a tree as `tag.distance.relation` per word, with the distance to its head: `PRON.1.nsubj
    VERB.0.root`."""
    distances = (head - place if head >= 0 else 0 for place, head in enumerate(sentence.heads))
    return " ".join(map("{}.{}.{}".format, sentence.tags, distances, sentence.relations))


def _tree(words: tuple[str, ...], line: str) -> Sentence:
    tags, distances, relations = zip(*(part.split(".") for part in line.split()), strict=True)
    heads = tuple(place + int(distance) if int(distance) else -1 for place, distance in enumerate(distances))
    return Sentence(words, tags, heads, relations)


@lru_cache(maxsize=1)
def _lines(trees: StoredTrees) -> dict[str, str]:
    pairs = zip(Lines(trees.text), Lines(trees.file), strict=True)
    lines = {text: tree for (_, text), (_, tree) in pairs}
    for path in trees.treebanks:
        lines |= {sentence.text: line_of(sentence) for sentence in read_conllu(path)}
    return lines

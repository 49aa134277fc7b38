"""Translate the sentences in a text or file into derived languages that are given by name."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from calque.derive.build import trial_image
from calque.derive.errors import BadInput, excluded
from calque.derive.parser import StanzaParser, StoredTrees
from calque.derive.preview import side_by_side
from calque.derive.readers.english import split_sentences
from calque.derive.readers.text import detect
from calque.derive.sentence import CHUNKS, Sentence, shown
from calque.derive.sources.files import Files
from calque.derive.transform import Account, Transform, image_of
from calque.derive.transforms import transform
from calque.derive.types import OURS, Usage
from calque.derive.vocabulary import SMALLEST


@dataclass(frozen=True)
class Derived:
    """A sentence's image in a derived language; `str` shows it aligned with the source, word by word."""

    source: Sentence
    transform: Transform

    @property
    def words(self) -> tuple[str, ...]:
        """The words, in the derived language's spelling."""
        return tuple(map(self.transform.spell, self._image.words))

    @property
    def origin(self) -> tuple[int, ...]:
        """The 0-based source position of each word."""
        return tuple(self._image.origin)

    @property
    def _image(self) -> Sentence:
        return image_of(self.transform, self.source, 0, Account())

    def __str__(self) -> str:
        return side_by_side(self.source, [self.transform], 0)


def transforms_of(
    names: Iterable[str],
    parser: Path | StoredTrees | None,
    cache: Path,
    own: Mapping[str, Transform] | None = None,
    parsed: bool = False,
) -> tuple[list[Transform], list[str]]:
    """Return the transforms for the named languages, ready to use, and messages about invalid names. `own`
    contains additional transforms, keyed by name; `parsed` says whether the sentences already have trees."""
    found, wrong = [], []
    for name in names:
        try:
            derivation = (own or {}).get(name) or transform(name)
            if "trees" in derivation.needs and not parsed:
                if parser is None:
                    raise BadInput(f"{name} needs parsed sentences; use --parser FOLDER, with Stanza models")
                trees = parser if isinstance(parser, StoredTrees) else StanzaParser(parser)
                trees.fingerprint()  # fail early: learning a word order takes a minute
            trial_image(derivation, SMALLEST)
            found.append(derivation.ready(cache))
        except (BadInput, ValueError) as error:
            wrong.append(str(error))
    return found, wrong


def sentences_of(
    text: str, transforms: Sequence[Transform], parser: Path | None
) -> tuple[list[Sentence], Counter[str]]:
    """Split a text into sentences, parse them if a transform needs trees, and count parsing failures by
    reason."""
    failed = Counter[str]()
    sentences = [Sentence(tuple(words)) for words in split_sentences(text)]
    if not sentences:
        raise BadInput("the text contains no words")
    if parser is not None and any("trees" in transform.needs for transform in transforms):
        for place, tree in enumerate(StanzaParser(parser).trees([each.words for each in sentences])):
            if isinstance(tree, str):
                failed[tree] += 1
            else:
                sentences[place] = tree
    return sentences, failed


def derive_file(
    source: Files, transform: Transform, account: Account, cache: Path, pairs: bool = False
) -> Iterator[str]:
    """Apply a transform to the only file of `source`, and yield the lines of its image: CoNLL-U if the file
    is a treebank, otherwise text. With `pairs`, the output is always text, and each line starts with the
    original sentence and a tab. Random transforms draw the same random numbers as in a study."""
    usual = transform.informed(Usage.even(SMALLEST))
    moved = (usual.image(SMALLEST) != np.arange(SMALLEST))[OURS.ordinary(SMALLEST)]
    if usual.places(SMALLEST) is not None or moved.any() != moved.all():
        raise BadInput(f"text cannot represent {transform.name}, which shares sub-words; use trans")
    (path,) = source.text
    treebank = detect(path) == "treebank" and not pairs
    source = source.ready(cache, "trees" in transform.needs)
    found = False
    for index, chunk in enumerate(source.chunks()):
        sentences, left_out = source.sentences(chunk)
        account.left_out += left_out
        for place, sentence in enumerate(sentences):
            found = True
            image = image_of(transform, sentence, CHUNKS.number(index, place), account)
            words = shown([transform.spell(word) for word in image.words])
            if treebank:
                yield from _conllu(image, words)
            elif words:
                yield f"{sentence.text}\t{' '.join(words)}" if pairs else " ".join(words)
    if not found:
        raise BadInput(f"no sentence is left{excluded(account.left_out)}", path)


def _conllu(image: Sentence, words: Sequence[str]) -> Iterator[str]:
    yield f"# text = {' '.join(words)}"
    for place, (word, group) in enumerate(zip(words, image.rendered, strict=True)):
        head, relation = (str(image.heads[place] + 1), image.relations[place]) if image.heads else ("_", "_")
        misc = f"Source={'+'.join(str(source + 1) for source in group)}"
        columns = (word, "_", image.tags[place], "_", "_", head, relation, "_", misc)
        yield "\t".join([str(place + 1), *columns])
    yield ""

"""Derive the sentences in a text or file into languages that are given by name."""

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
from calque.derive.readers.iob2 import read_iob2, read_word_labels
from calque.derive.readers.kinds import Head, are_numbered
from calque.derive.sentence import CHUNKS, EXAMPLES, Sentence, iob2, shown, word_labels
from calque.derive.sources.files import Files
from calque.derive.transform import Account, Transform, image_of
from calque.derive.transforms import transform
from calque.derive.types import OURS, Usage
from calque.derive.vocabulary import SMALLEST


@dataclass(frozen=True)
class Derived:
    """A sentence's image in a derived language; `str` compares it with the source word by word."""

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
    contains additional transforms by name."""
    found, wrong = [], []
    for name in names:
        try:
            derivation = (own or {}).get(name) or transform(name)
            if "trees" in derivation.needs and not parsed:
                if parser is None:
                    raise BadInput(f"{name} needs parsed sentences; use --parser FOLDER, with Stanza models")
                if isinstance(parser, Path):
                    StanzaParser(parser).fingerprint()  # fail early: learning a word order takes a minute
            trial_image(derivation, SMALLEST)
            found.append(derivation.ready(cache))
        except (BadInput, ValueError) as error:
            wrong.append(str(error))
    return found, wrong


def sentences_of(
    text: str, transforms: Sequence[Transform], parser: Path | None
) -> tuple[list[Sentence], Counter[str]]:
    """Split a text into sentences, parsed if a transform needs trees, and count parsing failures by
    reason."""
    failed = Counter[str]()
    sentences = [Sentence(tuple(words)) for words in split_sentences(text)]
    if not sentences:
        raise BadInput("the text contains no words")
    if parser is not None and any("trees" in transform.needs for transform in transforms):
        trees = StanzaParser(parser).trees([sentence.words for sentence in sentences])
        failed.update(tree for tree in trees if isinstance(tree, str))
        pairs = zip(sentences, trees, strict=True)
        sentences = [sentence if isinstance(tree, str) else tree for sentence, tree in pairs]
    return sentences, failed


def derive_file(
    source: Files, transform: Transform, account: Account, cache: Path, pairs: bool = False
) -> Iterator[str]:
    """Derive the only file of `source`, and yield the image's lines: text (if `pairs`, preceded by the
    original and a tab), CoNLL-U, or words with labels. Random transforms draw the same numbers as in a
    study."""
    _check_spelling(transform)
    (path,) = source.text
    head = Head.of(path)
    texts = [line for _, line in head.lines]
    split = all(line.count("\t") == 1 for line in texts) and not all(line.startswith("\t") for line in texts)
    entities = head.kind == "entities"
    labelled = entities or (split and not are_numbered(texts))
    if labelled and (pairs or source.easy):
        place, _ = head.lines[0]
        raise place.fault("this file contains labelled words, but pairs and easy sentences need text")
    source = source.ready(cache, "trees" in transform.needs)
    numbered = _labelled(source, entities, account) if labelled else _chunked(source, account)
    found = 0
    for found, (number, sentence) in enumerate(numbered, start=1):  # noqa: B007
        image = image_of(transform, sentence, number, account)
        words = shown([transform.spell(word) for word in image.words])
        if labelled:
            labels = iob2(image) if entities else word_labels(image)
            yield from (f"{word}\t{label}" for word, label in zip(words, labels, strict=True))
            yield ""
        elif head.kind == "treebank" and not pairs:
            yield from _conllu(image, words)
        elif words:
            yield f"{sentence.text}\t{' '.join(words)}" if pairs else " ".join(words)
    if not found:
        raise BadInput(f"no sentence is left{excluded(account.left_out)}", path)


def _check_spelling(transform: Transform) -> None:
    usual = transform.informed(Usage.even(SMALLEST))
    moved = (usual.image(SMALLEST) != np.arange(SMALLEST))[OURS.ordinary(SMALLEST)]
    if usual.places(SMALLEST) is not None or moved.any() != moved.all():
        raise BadInput(f"text cannot represent {transform.name}, which shares sub-words; use trans")


Numbered = Iterator[tuple[int, Sentence]]  # sentences with the numbers that seed random transforms


def _labelled(source: Files, entities: bool, account: Account) -> Numbered:
    (path,) = source.text
    sentences = list((read_iob2 if entities else read_word_labels)(path, account.left_out))
    if source.trees:
        sentences = source.trees.add_to(sentences, account.left_out)
    for place, sentence in enumerate(sentences):
        yield EXAMPLES.number(place, 0), sentence


def _chunked(source: Files, account: Account) -> Numbered:
    for index, chunk in enumerate(source.chunks()):
        sentences, left_out = source.sentences(chunk)
        account.left_out += left_out
        for place, sentence in enumerate(sentences):
            yield CHUNKS.number(index, place), sentence


def _conllu(image: Sentence, words: Sequence[str]) -> Iterator[str]:
    yield f"# text = {' '.join(words)}"
    for place, (word, group) in enumerate(zip(words, image.rendered, strict=True)):
        head, relation = (str(image.heads[place] + 1), image.relations[place]) if image.heads else ("_", "_")
        misc = f"Source={'+'.join(str(source + 1) for source in group)}"
        columns = (word, "_", image.tags[place], "_", "_", head, relation, "_", misc)
        yield "\t".join([str(place + 1), *columns])
    yield ""

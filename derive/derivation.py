"""Interactive derivation: the sentences of a text in languages given by name."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from calque.derive.bpe import SMALLEST
from calque.derive.build import trial_image
from calque.derive.errors import BadInput
from calque.derive.parser import StanzaParser
from calque.derive.preview import side_by_side
from calque.derive.readers.text import split_sentences
from calque.derive.sentence import Sentence
from calque.derive.transform import Account, Transform, image_of
from calque.derive.transforms import transform


@dataclass(frozen=True)
class Derived:
    """A sentence in a derived language; its text is a word-by-word comparison with the source."""

    source: Sentence
    transform: Transform

    @property
    def words(self) -> tuple[str, ...]:
        """The words as the language spells them."""
        return tuple(map(self.transform.spell, self._image.words))

    @property
    def origin(self) -> tuple[int, ...]:
        """The position of each word in the source, from 0."""
        return tuple(self._image.origin)

    @property
    def _image(self) -> Sentence:
        return image_of(self.transform, self.source, 0, Account())

    def __str__(self) -> str:
        return side_by_side(self.source, [self.transform], 0)


def transforms_of(
    names: Iterable[str],
    parser: Path | None,
    cache: Path,
    own: Mapping[str, Transform] | None = None,
    parsed: bool = False,
) -> tuple[list[Transform], list[str]]:
    """The transforms of languages, ready to use, and messages about invalid names. `cache` is the folder of learnt word
    orders, `own` has further transforms by name, and `parsed` sentences need no parser."""
    found, wrong = [], []
    for name in names:
        try:
            derivation = own[name] if own and name in own else transform(name)
            if "trees" in derivation.needs and not parsed:
                if parser is None:
                    raise BadInput(f"{name} needs a tree: name a folder of Stanza models with --parser")
                StanzaParser(parser).fingerprint()  # before learning an order, which may take a minute
            trial_image(derivation, SMALLEST)
            found.append(derivation.ready(cache))
        except (BadInput, ValueError) as error:
            wrong.append(str(error))
    return found, wrong


def sentences_of(
    text: str, transforms: Sequence[Transform], parser: Path | None
) -> tuple[list[Sentence], Counter[str]]:
    """The sentences of a text, with trees if a transform needs them, and counts of sentences without one by reason."""
    failed: Counter[str] = Counter()
    sentences = [Sentence(tuple(words)) for words in split_sentences(text)]
    if not sentences:
        raise BadInput("no word in the text; expected a sentence")
    if parser is not None and any("trees" in transform.needs for transform in transforms):
        trees = StanzaParser(parser).trees([sentence.words for sentence in sentences])
        failed.update(tree for tree in trees if isinstance(tree, str))
        pairs = zip(sentences, trees, strict=True)
        sentences = [sentence if isinstance(tree, str) else tree for sentence, tree in pairs]
    return sentences, failed

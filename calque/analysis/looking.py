"""Inspect a checkpoint using a sentence and a few words, and print the results on an 80-column terminal.
Shapes: n words in the sentence, m in its derivation, L layers, k pairs of words."""

import base64
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from textwrap import fill
from typing import Any, NamedTuple

import numpy as np

from calque.analysis.aligners.methods import DEFAULT, centred
from calque.analysis.checkpoint import Checkpoint, Derivation, Guess, Neighbour
from calque.analysis.measures.alignment import nearest
from calque.analysis.records.record import ROTATED
from calque.derive.errors import BadInput, unknown
from calque.derive.languages import SOURCE, Bitext
from calque.pretrain.lazy import F, Tensor, torch
from calque.pretrain.model import counts_from_padding, first_position, main_layer

LENGTHS = range(7, 9)  # sentence lengths, in words, that fit on a terminal and on a phone
LINES = 1_000  # number of lines searched for such a sentence
WORDS, PAIRS = 4, 30  # number of words whose neighbours are shown, and number of pairs in the embedding map
GUESSES = 5  # number of guesses or neighbours per word
WIDTH = 80
LABEL = 18  # width of a row's label
MOST = 500_000  # maximum number of weights that a page can contain
ACTIVATION = "gelu"  # the only activation that `live.js` implements
WordPair = tuple[str, str, int, int]  # a source word, its image, and their ids


class Answers(NamedTuple):
    """The model's guesses for a masked `word`, or the words in `language` nearest to it; the best come
    first."""

    language: str
    word: str
    best: list[Guess] | list[Neighbour]


@dataclass(frozen=True)
class Alignment:
    """The centred cosines (n, m) of the states of a pair's words after `layer`, and the links extracted from
    them by mutual argmax, as in `calque align`."""

    pair: Derivation
    layer: int
    cosines: np.ndarray
    links: list[tuple[int, int]]

    @property
    def summary(self) -> str:
        right = len({*self.links} & {*self.pair.links})
        return f"{len(self.links)} links for {len(self.pair.words)} words, {right} of them to the counterpart"


@dataclass(frozen=True)
class EmbeddingMap:
    """The embeddings of k frequent words and their translations, projected onto their first two principal
    components. `places` (k, 2, 2) is indexed by pair, side and coordinate."""

    words: tuple[tuple[str, str], ...]
    places: np.ndarray
    found: int
    held_out: tuple[float, float] | None = None

    @property
    def summary(self) -> str:
        words = f"{self.found} of {len(self.words)} frequent words"
        text = f"{words} are nearest to their own image among these images"
        if not self.held_out:
            return text
        raw, rotated = (f"{100 * share:.0f} %" for share in self.held_out)
        return f"{text}; among all words outside the dictionary, {raw} are, and {rotated} after one rotation"


@dataclass(frozen=True)
class Look:
    """The results of inspecting a checkpoint. Results that require a known derivation may be None. `before`
    is the map for the initial weights, and `live` is the input for `calque/analysis/report/live.js`."""

    languages: tuple[str, ...]
    blanks: tuple[Answers, ...] = ()
    neighbours: tuple[Answers, ...] = ()
    alignment: Alignment | None = None
    map: EmbeddingMap | None = None
    before: EmbeddingMap | None = None
    glosses: Mapping[str, str] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()
    live: Mapping[str, Any] | None = None

    def glossed(self, word: str) -> str:
        """Return a word, with its source word in parentheses if that differs."""
        gloss = self.glosses.get(word, word)
        return word if gloss == word else f"{word} ({gloss})"

    def __str__(self) -> str:
        parts = [self._listed("Guesses for each masked word", self.blanks, "{:.0%}")]
        parts.append(self._listed("Nearest words, by the cosine of embeddings", self.neighbours, "{:.2f}"))
        if self.alignment:
            parts.append(f"Alignment after layer {self.alignment.layer}: {self.alignment.summary}")
        notes = [f"left out: {note}" for note in self.left_out]
        if self.map:
            before = f" ({self.before.found} before training)" if self.before else ""
            notes.insert(0, f"{self.map.summary}{before}")
        parts += [fill(note, WIDTH, subsequent_indent="  ") for note in notes]
        return "\n\n".join(filter(None, parts))

    def _listed(self, title: str, answers: Sequence[Answers], number: str) -> str:
        """Return one line per word, with as many of the best answers as fit; "" without words."""
        lines = [title] if answers else []
        for language, group in groupby(answers, key=lambda answer: answer.language):
            lines.append(f" {language}")
            for answer in group:
                line = f"  {self.glossed(answer.word)}".ljust(LABEL)
                for word, _, value in answer.best:
                    cell = f"  {self.glossed(word)} {number.format(value)}"
                    if len(line) + len(cell) > WIDTH:
                        break
                    line += cell
                lines.append(line)
        return "\n".join(lines)


def look(model: Checkpoint, sentence: str = "", words: Sequence[str] = (), language: str = "") -> Look:
    """Inspect a checkpoint; the arguments and errors are the same as for `calque.look`."""
    return _Viewer(model).look(sentence, words, language)


class _Viewer:
    """Computes what `look` shows, and notes what it leaves out."""

    def __init__(self, model: Checkpoint) -> None:
        self.model, self.left_out, self.glosses = model, list[str](), dict[str, str]()
        self.mask = model.tokenizers[SOURCE].mask_token
        self.bitexts: list[Bitext] = []  # with gold links
        for name in model.derived:
            if name in model.languages and model.data and (bitext := model.data.bitext(SOURCE, name)).gold:
                self.bitexts.append(bitext)
                self.glosses |= {image: word for word, image, *_ in self.word_pairs(name)}

    def look(self, text: str, words: Sequence[str], language: str) -> Look:
        model = self.model
        if language and language not in model.languages[1:]:
            raise BadInput(unknown("derived language", language, model.languages[1:]))
        source, images = self.typed(text.split()) if text else self.of_corpus()
        texts = {SOURCE: source} if source else {}
        texts |= {name: image.words for name, image in images.items()}
        pair = images.get(language or "".join(model.languages[1:2]))
        if not pair:
            self.left_out.append("alignment and the embedding map: they need a derivation")
        if not model.has_head:
            self.left_out.append("guesses: the model has no prediction head")
        return Look(
            model.languages,
            tuple(blank for name, sentence in texts.items() for blank in self.blanks(sentence, name)),
            tuple(self.neighbours(words or self.long_words(source))),
            self.alignment(pair) if pair else None,
            *(self.maps(pair.language) if pair else (None, None)),
            self.glosses,
            tuple(self.left_out),
            live_data(model, texts, self.glosses) if model.has_head else None,
        )

    def of_corpus(self) -> tuple[tuple[str, ...], dict[str, Derivation]]:
        """Return a short corpus sentence of frequent words, with its derivations."""
        data = self.model.data
        if data is None:
            self.left_out.append("guesses: this model's corpus was not found; give a sentence")
            return (), {}
        first, counts, corpus = data.languages[0], data.vocabulary.counts, data.languages[0].corpus
        derived_lines = (bitext.lines[:LINES, 0].tolist() for bitext in self.bitexts)
        lines = sorted(set(range(min(LINES, len(corpus)))).intersection(*derived_lines) or {0})
        fitting = [line for line in lines if len(corpus.pieces[line]) in LENGTHS]
        shortest = min(lines, key=lambda line: len(corpus.pieces[line]))
        line, images = max(fitting, key=lambda line: counts[corpus[line]].min(), default=shortest), {}
        for bitext in self.bitexts:
            for pair in np.flatnonzero(bitext.lines[:, 0] == line)[:1].tolist():
                images[bitext.second.name] = self.model.pair_of(bitext, pair)
        return self.model.spelt(SOURCE, first.ids(corpus[line]), corpus.pieces[line]), images

    def typed(self, words: Sequence[str]) -> tuple[tuple[str, ...], dict[str, Derivation]]:
        """Return the user's sentence, with its derivations."""
        if not words:
            raise BadInput("the sentence is empty; expected source words separated by spaces")
        special, missing = {*self.model.tokenizers[SOURCE].all_special_ids}, []
        for word, ids in zip(words, self.model.pieces(words), strict=True):
            if word != self.mask and (not ids or special.intersection(ids)):
                missing.append(repr(word))
        if missing:
            what = f"not in the model's vocabulary: {', '.join(missing)}"
            raise BadInput(f"{what}; use words from its training text, separated by spaces")
        images = {}
        for name in self.model.languages[1:]:
            try:
                images[name] = self.model.derive(words, name)
            except BadInput as error:
                self.left_out.append(str(error))
        return tuple(words), images

    def word_pairs(self, language: str) -> Iterator[WordPair]:
        """Yield the words whose image is a different type, from the rarest to the most frequent."""
        data = self.model.data
        assert data
        vocabulary, images = data.vocabulary, data[language].images
        for i in vocabulary.types[np.argsort(vocabulary.counts[vocabulary.types], kind="stable")].tolist():
            word, image = self.model.name(i)[0], int(images[i])
            if image not in (-1, i) and word and " " not in word and vocabulary.encode(word) == (i,):
                yield word, self.model.name(image)[0], i, image

    def blanks(self, words: Sequence[str], language: str) -> Iterator[Answers]:
        """Yield guesses for the sentence's masks or, if it has none, for each word in turn."""
        if not self.model.has_head:
            return
        if self.mask in words:
            filled = self.model.fill_all(" ".join(words), language, GUESSES)
            yield from (Answers(language, self.mask, guesses) for guesses in filled)
            return
        for place, word in enumerate(words):
            text = " ".join([*words[:place], self.mask, *words[place + 1 :]])
            yield Answers(language, word, self.model.fill(text, language, GUESSES))

    def long_words(self, sentence: Sequence[str]) -> list[str]:
        """Return the sentence's longest words that are single types."""
        types = [word for word in sentence if word.isalpha() and self.model.is_type(word, SOURCE)]
        return sorted(dict.fromkeys(types), key=len, reverse=True)[:WORDS]

    def neighbours(self, words: Sequence[str]) -> Iterator[Answers]:
        """Yield the types nearest to each word in each language."""
        languages, owners = self.model.languages, list[tuple[str, str]]()
        for word in words:
            owner = next((name for name in languages if self.model.is_type(word, name)), None)
            if owner is None:
                raise BadInput(f"{word!r} is not a single type in {' or '.join(languages)}")
            owners.append((word, owner))
        for name in languages:
            for word, owner in owners:
                yield Answers(name, word, self.model.nearest(word, owner, name, GUESSES))

    def alignment(self, pair: Derivation) -> Alignment:
        """Align a sentence pair's words, at the main layer."""
        (source,) = self.model.states([pair.source])
        (target,) = self.model.states([pair.words], pair.language)
        layer = main_layer(len(source.layers) - 1)
        sides = [torch.from_numpy(side.layers[layer][None]) for side in (source, target)]
        masks = [torch.ones(side.shape[:2], dtype=torch.bool) for side in sides]
        links = DEFAULT.extract(DEFAULT.score(*sides, *masks), *masks)[:, 1:].tolist()
        return Alignment(pair, layer, centred(*sides, *masks)[0].numpy(), sorted((i, j) for i, j in links))

    def maps(self, language: str) -> tuple[EmbeddingMap | None, EmbeddingMap | None]:
        """Return the maps after and before training."""
        pairs = [pair for pair in self.word_pairs(language) if pair[0].isalpha() and len(pair[0]) > 1]
        pairs = pairs[::-1][:PAIRS]  # the most frequent ones
        if len(pairs) < 3:
            self.left_out.append("the embedding map: fewer than three words have an image of their own")
            return None, None
        model, identity, shares = self.model.model, self.model.identity, self.model.alignment(language)
        held_out = (shares["held-out"], shares[ROTATED]) if ROTATED in shares else None
        after = _embedding_map(pairs, model, held_out)
        if not identity or "start" in identity:
            return after, None
        torch.manual_seed(identity["seed"])
        return after, _embedding_map(pairs, type(model)(model.config))


def _embedding_map(
    pairs: Sequence[WordPair], model: Any, held_out: tuple[float, float] | None = None
) -> EmbeddingMap:
    from sklearn.decomposition import PCA

    table: Tensor = model.get_input_embeddings().weight.detach()
    sides = [F.normalize(table[[pair[side] for pair in pairs]]) for side in (2, 3)]
    flat = PCA(2, svd_solver="full").fit_transform(torch.cat(sides).numpy())
    places = flat.reshape(2, len(pairs), 2).swapaxes(0, 1)
    correct = int((nearest(*sides) == np.arange(len(pairs))).sum())
    return EmbeddingMap(tuple((word, image) for word, image, *_ in pairs), places, correct, held_out)


def live_data(
    model: Checkpoint, texts: Mapping[str, Sequence[str]], glosses: Mapping[str, str]
) -> dict[str, Any] | None:
    """Return the input for `live.js`, or None if the model is too large or is not a RoBERTa model."""
    config, parameters = model.model.config, [weight.detach().numpy() for weight in model.model.parameters()]
    roberta = counts_from_padding(config) and config.hidden_act == ACTIVATION
    if not roberta or not texts or sum(weight.size for weight in parameters) > MOST:
        return None
    tokenizer = model.tokenizers[SOURCE]
    names = [model.name(i)[0] for i in range(config.vocab_size)]
    types = {}
    for language in model.languages:
        ids = model.ids(language).tolist()
        encoded = model.pieces([names[i] for i in ids], language)
        types[language] = [i for i, pieces in zip(ids, encoded, strict=True) if pieces == [i]]
    weights = np.concatenate([weight.ravel() for weight in parameters]).astype("<f2")
    return {
        "names": names,
        "glosses": {i: glosses[name] for i, name in enumerate(names) if glosses.get(name, name) != name},
        "types": types,
        "numbers": {language: model.token_type(language) for language in types},
        "texts": {language: _masked(words, tokenizer.mask_token) for language, words in texts.items()},
        "mask": [tokenizer.mask_token, tokenizer.mask_token_id],
        "around": tokenizer("")["input_ids"],
        "shape": {**config.to_dict(), "first": first_position(config)},
        "weights": base64.b64encode(weights.tobytes()).decode(),
    }


def _masked(words: Sequence[str], mask: str) -> str:
    """Mask a sentence's longest word, unless the sentence already contains a mask."""
    place = words.index(mask) if mask in words else words.index(max(words, key=len))
    return " ".join(mask if i == place else word for i, word in enumerate(words))

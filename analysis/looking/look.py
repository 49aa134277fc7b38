"""Inspect a checkpoint with a sentence and a few words. Shapes: n words in the sentence, m in its derivation,
L layers, H hidden, k pairs of words."""

import base64
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import normalize

from calque.analysis.aligners.methods import DEFAULT, centred
from calque.analysis.checkpoint import Checkpoint
from calque.analysis.looking.parts import Alignment, Blank, Derivation, EmbeddingMap, Look, Neighbours
from calque.analysis.measures.neighbours import nearest
from calque.analysis.records.record import ROTATED
from calque.derive.errors import BadInput, unknown
from calque.derive.language import SOURCE
from calque.pretrain.architecture import ROBERTA, XLM_R, main_layer

LENGTHS = range(7, 9)  # lengths in words of a sentence that fits on a terminal and on a phone
LINES = 1_000  # number of lines searched for such a sentence
WORDS, PAIRS = 4, 30  # number of words with neighbours, and number of pairs in the map
GUESSES = 5  # number of guesses or neighbours per word


def look(model: Checkpoint, sentence: str = "", words: Sequence[str] = (), language: str = "") -> Look:
    """Inspect a checkpoint; the arguments and errors are the same as for `calque.look`."""
    return _Viewer(model).look(sentence, words, language)


class _Viewer:
    def __init__(self, model: Checkpoint) -> None:
        self.model, self.left_out = model, list[str]()
        self.mask = model.tokenizers[SOURCE].mask_token

    def look(self, text: str, words: Sequence[str], language: str) -> Look:
        derived = self.model.languages[1:]
        if language and language not in derived:
            raise BadInput(unknown("derived language", language, derived))
        source, images = self._typed(text.split()) if text else self._of_corpus()
        pair = images.get(language or next(iter(derived), ""))
        texts = {SOURCE: source} if source else {}
        texts |= {name: image.words for name, image in images.items()}
        self.left_out += [] if pair else ["alignment and the embedding map: they need a derivation"]
        self.left_out += [] if self.model.has_head else ["guesses: the model has no prediction head"]
        maps = self._maps(pair.language) if pair else {}
        return Look(
            self.model.languages,
            tuple(blank for name, sentence in texts.items() for blank in self._blanks(sentence, name)),
            tuple(self._neighbours(words or self._long_words(source))),
            pair,
            self._alignment(pair) if pair else None,
            maps.get("after"),
            maps.get("before"),
            self._glosses,
            tuple(self.left_out),
            live_data(self.model, texts, self._glosses) if self.model.has_head else None,
        )

    def _of_corpus(self) -> tuple[tuple[str, ...], dict[str, Derivation]]:
        if self.model.data is None:
            self.left_out.append("guesses: this model's corpus was not found; give a sentence")
            return (), {}
        first, images = self.model.data.languages[0], {}
        bitexts = {name: self.model.data.bitext(SOURCE, name) for name in self._derived}
        derived = (bitext.lines[:LINES, 0].tolist() for bitext in bitexts.values())
        lines = sorted({*range(len(first.corpus))[:LINES]}.intersection(*derived) or {0})
        counts = self.model.data.vocabulary.counts
        sizes = {line: len(first.corpus.pieces[line]) for line in lines}
        short = [line for line in lines if sizes[line] in LENGTHS] or [min(sizes, key=sizes.__getitem__)]
        line = max(short, key=lambda line: counts[first.corpus[line]].min())  # avoid rare words
        for name, bitext in bitexts.items():
            if pairs := np.flatnonzero(bitext.lines[:, 0] == line).tolist():
                images[name] = self.model.pair_of(bitext, pairs[0])
        return self.model.spelt(SOURCE, first.ids(first.corpus[line]), first.corpus.pieces[line]), images

    def _typed(self, words: Sequence[str]) -> tuple[tuple[str, ...], dict[str, Derivation]]:
        self._check_known(words)
        images = {}
        for name in self.model.languages[1:]:
            try:
                images[name] = self.model.derive(words, name)
            except BadInput as error:
                self.left_out.append(str(error))
        return tuple(words), images

    def _check_known(self, words: Sequence[str]) -> None:
        if not words:
            raise BadInput("the sentence is empty; expected source words separated by spaces")
        special = {*self.model.tokenizers[SOURCE].all_special_ids}
        read = self.model.data.vocabulary.counts if self.model.data and self._derived else None
        missing = [
            word
            for word, ids in zip(words, self.model.pieces(words), strict=True)
            if word != self.mask
            and (not ids or any(i in special or (read is not None and not read[i]) for i in ids))
        ]
        if missing:
            words = ", ".join(map(repr, missing))
            raise BadInput(f"not in the training text: {words}; use words from it, separated by spaces")

    @cached_property
    def _derived(self) -> tuple[str, ...]:
        data = self.model.data
        if data is None or SOURCE not in (language.name for language in data.languages):
            return ()
        names = (name for name in data.others if name in self.model.languages)
        return tuple(name for name in names if data.bitext(SOURCE, name).gold)

    @cached_property
    def _glosses(self) -> dict[str, str]:
        glosses: dict[str, str] = {}
        for name in self._derived:
            glosses |= {image: word for word, image, *_ in self._pairs(name)}
        return glosses

    def _pairs(self, language: str) -> Iterator[tuple[str, str, int, int]]:
        assert self.model.data
        vocabulary, images = self.model.data.vocabulary, self.model.data[language].images
        for i in vocabulary.types[np.argsort(vocabulary.counts[vocabulary.types], kind="stable")].tolist():
            word, image = self.model.name(i)[0], int(images[i])
            if image not in (-1, i) and word and " " not in word and vocabulary.encode(word) == (i,):
                yield word, self.model.name(image)[0], i, image

    def _blanks(self, words: Sequence[str], language: str) -> Iterator[Blank]:
        if not self.model.has_head:
            return
        if places := [place for place, word in enumerate(words) if word == self.mask]:
            filled = self.model.fill_all(" ".join(words), language, GUESSES)
            for place, guesses in zip(places, filled, strict=True):
                yield Blank(language, place, self.mask, tuple(guesses))
            return
        for place, word in enumerate(words):
            text = " ".join([*words[:place], self.mask, *words[place + 1 :]])
            yield Blank(language, place, word, tuple(self.model.fill(text, language, GUESSES)))

    def _long_words(self, sentence: Sequence[str]) -> list[str]:
        words = filter(str.isalpha, dict.fromkeys(sentence))
        whole = [word for word in words if self.model.is_type(word, SOURCE)]
        return sorted(whole, key=len, reverse=True)[:WORDS]

    def _neighbours(self, words: Sequence[str]) -> Iterator[Neighbours]:
        for word in words:
            of = next((name for name in self.model.languages if self.model.is_type(word, name)), None)
            if of is None:
                raise BadInput(f"{word!r} is not a single type in {' or '.join(self.model.languages)}")
            for name in self.model.languages:
                yield Neighbours(word, of, name, tuple(self.model.nearest(word, of, name, GUESSES)))

    def _alignment(self, pair: Derivation) -> Alignment:
        (source,) = self.model.states([pair.source])
        (target,) = self.model.states([pair.words], pair.language)
        layer = main_layer(len(source.layers) - 1)
        sides = [torch.from_numpy(side.layers[layer][None]) for side in (source, target)]
        masks = [torch.ones(side.shape[:2], dtype=torch.bool) for side in sides]
        links = DEFAULT.extract(DEFAULT.score(*sides, *masks), *masks)[:, 1:].tolist()
        return Alignment(layer, centred(*sides, *masks)[0].numpy(), sorted((i, j) for i, j in links))

    def _maps(self, language: str) -> dict[str, EmbeddingMap]:
        pairs = [pair for pair in self._pairs(language) if pair[0].isalpha() and len(pair[0]) > 1]
        pairs = pairs[::-1][:PAIRS]  # the most frequent ones
        if len(pairs) < 3:
            self.left_out.append("the embedding map: fewer than three words have an image of their own")
            return {}
        model, models = self.model.model, {"after": self.model.model}
        if self.model.identity and "start" not in self.model.identity:
            torch.manual_seed(self.model.identity["seed"])
            models["before"] = type(model)(model.config)
        tables = {name: each.get_input_embeddings().weight.detach() for name, each in models.items()}
        maps = {name: _map(pairs, table) for name, table in tables.items()}
        shares = self.model.alignment(language)
        if ROTATED in shares:
            maps["after"] = replace(maps["after"], held_out=(shares["held-out"], shares[ROTATED]))
        return maps


def _map(pairs: Sequence[tuple[str, str, int, int]], table: Tensor) -> EmbeddingMap:
    sides = [normalize(table[[pair[side] for pair in pairs]]) for side in (2, 3)]
    vectors = torch.cat(sides).double().numpy()
    _, _, axes = np.linalg.svd(vectors - vectors.mean(0), full_matrices=False)
    axes = axes[:2] * np.sign(axes[np.arange(2), np.abs(axes[:2]).argmax(1)])[:, None]
    places = ((vectors - vectors.mean(0)) @ axes.T).reshape(2, len(pairs), 2).swapaxes(0, 1)
    found = int((nearest(*sides) == np.arange(len(pairs))).sum())
    return EmbeddingMap(tuple((word, image) for word, image, *_ in pairs), places, found)


MOST = 500_000  # maximum number of weights that a page can contain
ACTIVATION = "gelu"  # the only activation that `live.js` implements


def live_data(
    model: Checkpoint, texts: Mapping[str, Sequence[str]], glosses: Mapping[str, str]
) -> dict[str, Any] | None:
    """Return the input for `analysis/report/live.js`; None if the model is too large or not a RoBERTa."""
    config, parameters = model.model.config, [each.detach().numpy() for each in model.model.parameters()]
    size, known = sum(each.size for each in parameters), {ROBERTA.model_type, XLM_R.model_type}
    if config.model_type not in known or config.hidden_act != ACTIVATION or size > MOST or not texts:
        return None
    tokenizer = model.tokenizers[SOURCE]
    names = [model.name(i)[0] for i in range(config.vocab_size)]
    before, after = tokenizer("")["input_ids"]
    types = {}
    for language in model.languages:
        ids = model.ids(language).tolist()
        encoded = model.pieces([names[i] for i in ids], language)
        types[language] = [i for i, found in zip(ids, encoded, strict=True) if found == [i]]
    shape = {
        "words": config.vocab_size,
        "layers": config.num_hidden_layers,
        "heads": config.num_attention_heads,
        "hidden": config.hidden_size,
        "ffn": config.intermediate_size,
        "positions": config.max_position_embeddings,
        "first": ROBERTA.first_position(config),
        "types": config.type_vocab_size,
        "eps": config.layer_norm_eps,
    }
    halves = np.concatenate([each.ravel() for each in parameters]).astype("<f2")
    return {
        "names": names,
        "glosses": {i: glosses[name] for i, name in enumerate(names) if glosses.get(name, name) != name},
        "types": types,
        "numbers": {language: model.token_type(language) for language in types},
        "texts": {language: _masked(words, tokenizer.mask_token) for language, words in texts.items()},
        "mask": [tokenizer.mask_token, tokenizer.mask_token_id],
        "around": [before, after],
        "shape": shape,
        "weights": base64.b64encode(halves.tobytes()).decode(),
    }


def _masked(words: Sequence[str], mask: str) -> str:
    place = words.index(mask) if mask in words else max(range(len(words)), key=lambda i: len(words[i]))
    return " ".join(mask if i == place else word for i, word in enumerate(words))

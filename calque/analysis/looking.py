"""Inspect a checkpoint using a sentence."""

import base64
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np

from calque.analysis.checkpoint import Checkpoint, Guess, Neighbour
from calque.analysis.measures.alignment import cosine
from calque.derive.corpus import Ragged
from calque.derive.errors import BadInput
from calque.derive.languages import SOURCE, Language, Languages
from calque.pretrain.lazy import torch
from calque.pretrain.model import counts_from_padding, first_position

LENGTH = 8  # preferred sentence length in words
LINES = 1_000  # lines searched for such a sentence
WORDS, ANSWERS = 4, 3  # number of words whose neighbours are shown, and number of guesses or neighbours
LABEL = 18  # width of a row's label
MOST = 500_000  # maximum number of weights that a page can contain
ACTIVATION = "gelu"  # the only activation that `live.js` implements


class Answers(NamedTuple):
    """The model's guesses for a masked `word`, or the words in `language` most similar to it, best first."""

    language: str
    word: str
    best: list[Guess] | list[Neighbour]


@dataclass(frozen=True)
class Look:
    """The results of inspecting a checkpoint; `live` is the input for `calque/analysis/report/live.js`."""

    languages: tuple[str, ...]
    blanks: tuple[Answers, ...] = ()
    neighbours: tuple[Answers, ...] = ()
    alignment: tuple[Answers, ...] = ()
    glosses: Mapping[str, str] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()
    live: Mapping[str, Any] | None = None

    def __str__(self) -> str:
        lines = []
        for title, answers, form in (
            ("Guesses for each masked word", self.blanks, ".0%"),
            ("Nearest words, by the cosine of embeddings", self.neighbours, ".2f"),
            ("Alignment, by the cosine of hidden states", self.alignment, ".2f"),
        ):
            for language, group in groupby(answers, key=attrgetter("language")):
                lines.append(f"{title}: {language}")
                for answer in group:
                    best = (f"  {self._glossed(word)} {value:{form}}" for word, _, value in answer.best)
                    lines.append(f"  {self._glossed(answer.word)}".ljust(LABEL) + "".join(best))
                lines.append("")
        return "\n".join([*lines, *(f"left out: {note}" for note in self.left_out)]).rstrip()

    def _glossed(self, word: str) -> str:
        return f"{word} ({self.glosses[word]})" if self.glosses.get(word, word) != word else word


def look(model: Checkpoint, sentence: str = "") -> Look:
    """Inspect a checkpoint; the arguments and errors are the same as for `calque.look`."""
    notes = list[str]()
    texts = _typed(model, sentence.split(), notes) if sentence else _of_corpus(model, notes)
    if not model.has_head:
        notes.append("guesses: the model has no prediction head")
    glosses = {image: word for data, name in _derived(model) for image, word in _glosses(model, data, name)}
    types = [word for word in texts.get(SOURCE, ()) if word.isalpha() and model.is_type(word, SOURCE)]
    long_words = sorted(dict.fromkeys(types), key=len, reverse=True)[:WORDS]
    return Look(
        model.languages,
        tuple(blank for name, text in texts.items() for blank in _blanks(model, text, name)),
        tuple(
            Answers(name, word, model.nearest(word, SOURCE, name, ANSWERS))
            for name in model.languages
            for word in long_words
        ),
        tuple(answers for name in texts if name != SOURCE for answers in _aligned(model, texts, name)),
        glosses,
        tuple(notes),
        _live(model, texts, glosses) if model.has_head else None,
    )


def _derived(model: Checkpoint) -> list[tuple[Languages, str]]:
    """Return the languages whose gold links with the source are known, with the study's data."""
    names = [name for name in model.derived if name in model.languages]
    return [(model.data, name) for name in names if model.data and model.data.bitext(SOURCE, name).gold]


def _glosses(model: Checkpoint, data: Languages, language: str) -> Iterator[tuple[str, str]]:
    """Yield the images that are different types, each with its word."""
    for i in data.vocabulary.types.tolist():
        word, image = model.name(i)[0], int(data[language].images[i])
        if image not in (-1, i) and word and " " not in word and data.vocabulary.encode(word) == (i,):
            yield model.name(image)[0], word


def _of_corpus(model: Checkpoint, notes: list[str]) -> Mapping[str, Sequence[str]]:
    """Return a short corpus sentence of frequent words, in each language."""
    if model.data is None:
        notes.append("guesses: this model's corpus was not found; give a sentence")
        return {}
    source, counts = model.data.languages[0], model.data.vocabulary.counts
    corpus, bitexts = source.corpus, [data.bitext(SOURCE, name) for data, name in _derived(model)]
    lines = set(range(min(LINES, len(corpus)))).intersection(*(bitext.lines[:, 0] for bitext in bitexts))

    def preference(line: int) -> tuple[int, int]:
        return abs(len(corpus.pieces[line]) - LENGTH), -counts[corpus[line]].min()

    line = min(sorted(lines) or [0], key=preference)
    texts = {SOURCE: _words(model, source, line)}
    for bitext in bitexts:
        for derived_line in bitext.lines[bitext.lines[:, 0] == line, 1].tolist()[:1]:
            texts[bitext.second.name] = _words(model, bitext.second, derived_line)
    return texts


def _words(model: Checkpoint, language: Language, line: int) -> tuple[str, ...]:
    decode = model.tokenizers.get(language.name, model.tokenizers[SOURCE]).decode
    words = Ragged.of(language.ids(language.corpus[line]), language.corpus.pieces[line])
    return tuple(decode(word.tolist()).strip() for word in words)


def _typed(model: Checkpoint, words: Sequence[str], notes: list[str]) -> Mapping[str, Sequence[str]]:
    tokenizer, texts = model.tokenizers[SOURCE], {SOURCE: tuple(words)}
    special, missing = {*tokenizer.all_special_ids}, []
    for word, ids in zip(words, model.pieces(words), strict=True):
        if word != tokenizer.mask_token and (not ids or special.intersection(ids)):
            missing.append(repr(word))
    if missing or not words:
        what = f"not in the model's vocabulary: {', '.join(missing)}" if missing else "the sentence is empty"
        raise BadInput(f"{what}; use words from its training text, separated by spaces")
    for name in model.languages[1:]:
        try:
            texts[name] = model.derive(words, name)
        except BadInput as error:
            notes.append(str(error))
    return texts


def _blanks(model: Checkpoint, words: Sequence[str], language: str) -> Iterator[Answers]:
    """Yield guesses for the sentence's mask or, if it has none, for each word in turn."""
    mask = model.tokenizers[SOURCE].mask_token
    for place, word in enumerate(words if model.has_head else ()):
        if word == mask or mask not in words:
            text = " ".join([*words[:place], mask, *words[place + 1 :]])
            yield Answers(language, word, model.fill(text, language, ANSWERS))


def _aligned(model: Checkpoint, texts: Mapping[str, Sequence[str]], language: str) -> Iterator[Answers]:
    """Yield each source word's derived words with the most similar states, centred over both sentences."""
    source, derived = model.states(texts[SOURCE]), model.states(texts[language], language)
    mean = torch.cat([source, derived]).mean(0)
    for word, cosines in zip(texts[SOURCE], cosine(source - mean, derived - mean), strict=True):
        best = cosines.topk(min(ANSWERS, len(cosines)))
        pairs = zip(best.indices.tolist(), best.values.tolist(), strict=True)
        yield Answers(language, word, [Neighbour(texts[language][i], language, value) for i, value in pairs])


def _live(
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
    weights = np.concatenate([weight.ravel() for weight in parameters]).astype("<f4")
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
    place = words.index(mask if mask in words else max(words, key=len))
    return " ".join([*words[:place], mask, *words[place + 1 :]])

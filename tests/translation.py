"""Folders with pairs of sentences and their translations, without links."""

import hashlib
from collections import Counter
from itertools import chain

import numpy as np

from calque.derive.build import encode_sentences, write_corpora
from calque.derive.corpus import Corpus
from calque.derive.dictionary import write_dictionary
from calque.derive.files import making, write_json
from calque.derive.fingerprint import fingerprint
from calque.derive.languages import DICTIONARY, FORMAT, IMAGE, KIND, LETTERS, SOURCE, VOCABULARY
from calque.derive.sentence import Sentence
from calque.derive.transform import Account
from calque.derive.vocabulary import learn_of_words

SIZE = 300


def made(count=300, seed=0):
    random = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        words = random.integers(0, 40, random.integers(1, 9)).tolist()
        found.append((tuple(f"ab{word}" for word in words), (*(f"cd{word}" for word in words[::-1]), "!")))
    return found


def write_translation(pairs, language, vocabulary_size, folder):
    """Write `pairs` of sentences in a source language and `language`, with a shared vocabulary, unlinked."""
    digest = hashlib.sha256()
    for source, target in pairs:
        digest.update(f"{' '.join(source)}\t{' '.join(target)}\n".encode())
    vocabulary = learn_of_words(Counter(chain.from_iterable(chain.from_iterable(pairs))), vocabulary_size)
    print_ = fingerprint(FORMAT, digest.hexdigest(), vocabulary_size)
    facts = {"format": FORMAT, "fingerprint": print_, VOCABULARY: vocabulary.account}
    facts |= {"languages": {}, "pairs": [{"languages": [SOURCE, language], "folder": language}]}
    with making(folder, KIND, facts) as part:
        vocabulary.save(part / VOCABULARY)
        folders = {name: part / name for name in (SOURCE, language)}
        for name, (counts, _) in write_corpora(folders, vocabulary, _pairs(pairs, vocabulary)).items():
            facts["languages"][name] = {"out": counts, "fingerprint": print_}
        np.save(part / language / IMAGE, np.arange(vocabulary.size))
        write_json(part / language / LETTERS, {})
        write_dictionary(part / language / DICTIONARY, np.empty((0, 2), np.int64), vocabulary)
    return folder


def _pairs(pairs, vocabulary):
    sides = zip(*pairs, strict=True)
    lines = [encode_sentences(list(map(Sentence, side)), vocabulary) for side in sides]
    pieces = lines[1].pieces
    lines[1] = Corpus.of(lines[1].tokens.values, pieces.values, pieces.sizes)  # without origin
    yield [(side, Account()) for side in lines]


def write_gold(folder, name, count):
    """Write a gold set of `count` pairs, such as de-en, to `folder`."""
    home, (source, target) = folder / name, name.split("-")
    home.mkdir(parents=True)
    pairs = made(count, seed=len(name) + count)
    (home / f"test.{source}").write_text("".join(" ".join(s).upper() + "\n" for s, _ in pairs))
    (home / f"test.{target}").write_text("".join(" ".join(t) + "\n" for _, t in pairs))
    links = [(n, i + 1, len(s) - i, "S") for n, (s, _) in enumerate(pairs, start=1) for i in range(len(s))]
    (home / "alignv2.txt").write_text("".join(f"{n} {i} {j} {kind}\n" for n, i, j, kind in links))

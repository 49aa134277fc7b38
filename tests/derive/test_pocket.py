"""Pocket English: trees, agreement, names, types and determinism."""

import hashlib
import math
import os
import random
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import islice

import pytest

from calque.derive.errors import BadInput
from calque.derive.pocket.language import CHUNK, Pocket
from calque.derive.pocket.lexicon import (
    inflect,
)
from calque.derive.sentence import Sentence

POCKET = Pocket(600)
SENTENCES = tuple(POCKET.sentences(8_000))

UPOS = {"ADJ", "ADP", "ADV", "AUX", "CCONJ", "DET", "NOUN", "NUM", "PART", "PRON", "PROPN", "PUNCT", "SCONJ", "VERB"}
RELATIONS = {
    "acl:relcl", "advcl", "advmod", "amod", "aux", "aux:pass", "case", "cc", "ccomp", "compound", "conj", "cop", "det",
    "expl", "flat", "iobj", "mark", "nmod", "nmod:poss", "nsubj", "nsubj:pass", "nummod", "obj", "obl", "obl:agent",
    "punct", "root", "xcomp",
}  # fmt: skip


def ancestors(sentence: Sentence, i: int) -> Iterator[int]:
    for _ in range(len(sentence)):
        i = sentence.heads[i]
        if i < 0:
            return
        yield i
    raise AssertionError(f"a cycle in {sentence}")


def test_trees_have_one_root_no_cycle_and_no_crossing() -> None:
    for sentence in SENTENCES:
        assert sentence.heads.count(-1) == 1
        assert sentence.relations[sentence.heads.index(-1)] == "root"
        for i, head in enumerate(sentence.heads):
            list(ancestors(sentence, i))
            if head >= 0:
                for between in range(min(i, head) + 1, max(i, head)):
                    assert head in ancestors(sentence, between), sentence


def test_columns_hold_what_ud_knows_and_every_construction_occurs() -> None:
    assert {tag for sentence in SENTENCES for tag in sentence.tags} == UPOS
    assert {relation for sentence in SENTENCES for relation in sentence.relations} == RELATIONS
    for sentence in SENTENCES:
        assert sentence.origin == tuple(range(len(sentence)))
        assert (sentence.words[-1] == "?") == (sentence.tags[-1] == "PUNCT" and asks(sentence))


def asks(sentence: Sentence) -> bool:
    """Whether the root has a question word, or its first auxiliary stands before its subject."""
    root = sentence.heads.index(-1)
    below = [i for i, head in enumerate(sentence.heads) if head == root]
    subjects = [i for i in below if sentence.relations[i].startswith("nsubj")]
    if any(sentence.words[i] in ("who", "what", "where") for i in below):
        return True
    return any(sentence.tags[i] == "AUX" and i < min(subjects) for i in below)


@pytest.mark.parametrize(
    ("lemma", "kind", "forms"),
    [
        ("church", "place", ("church", "churches")),
        ("city", "place", ("city", "cities")),
        ("mouse", "animal", ("mouse", "mice")),
        ("stop", "intr", ("stop", "stops", "stopped", "stopped")),
        ("carry", "tr", ("carry", "carries", "carried", "carried")),
        ("play", "tr", ("play", "plays", "played", "played")),
        ("fix", "tr", ("fix", "fixes", "fixed", "fixed")),
        ("wait", "intr", ("wait", "waits", "waited", "waited")),
        ("give", "ditr", ("give", "gives", "gave", "given")),
        ("quickly", "manner", ("quickly",)),
    ],
)
def test_inflection(lemma: str, kind: str, forms: tuple[str, ...]) -> None:
    assert inflect(lemma, kind) == forms


def test_a_becomes_an_before_a_vowel() -> None:
    pairs = [(a, b) for sentence in SENTENCES for a, b in zip(sentence.words, sentence.words[1:], strict=False)]
    assert all((a == "an") == (b[0] in "aeiou") for a, b in pairs if a in ("a", "an"))


def test_names_look_like_other_words_and_their_words_are_shared() -> None:
    common = {word for s in SENTENCES for word, tag in zip(s.words, s.tags, strict=True) if tag != "PROPN"}
    labels: defaultdict[str, set[str]] = defaultdict(set)
    lengths: defaultdict[str, set[int]] = defaultdict(set)
    for sentence in SENTENCES:
        inside: set[int] = set()
        assert " ".join(sentence.words).islower()
        for span in sentence.spans:
            inside.update(range(span.start, span.end))
            lengths[span.label].add(span.end - span.start)
            for word in sentence.words[span.start : span.end]:
                labels[word].add(span.label)
        for i, (word, tag) in enumerate(zip(sentence.words, sentence.tags, strict=True)):
            assert (tag == "PROPN") == (i in inside and word != "of"), sentence
    assert lengths == {"PER": {1, 2, 3}, "LOC": {1, 2}, "ORG": {1, 2, 3}}
    assert sum(len(kinds) > 1 for kinds in labels.values()) > len(labels) / 2
    assert sum(word in common for word in labels) > len(labels) / 4


@pytest.mark.parametrize("types", [300, 301, 600, 1_500, 5_000])
def test_the_dial_counts_word_types_exactly(types: int) -> None:
    pocket = Pocket(types, seed=3)
    assert len(pocket.forms) == types
    assert {word for sentence in pocket.sentences(2_000) for word in sentence.words} <= pocket.forms


@pytest.mark.parametrize("types", [299, 5_001])
def test_an_impossible_size_is_refused(types: int) -> None:
    with pytest.raises(BadInput, match=r"word types, expected 300 to 5,000"):
        Pocket(types)


def test_a_verb_tells_much_about_its_object() -> None:
    """More than a bit, beyond what the same counts give when objects are dealt to verbs at random."""
    pairs = [
        (sentence.words[sentence.heads[i]], sentence.words[i])
        for sentence in POCKET.sentences(20_000)
        for i, relation in enumerate(sentence.relations)
        if relation == "obj" and sentence.tags[i] == "NOUN"
    ]
    objects = [noun for _, noun in pairs]
    random.Random(0).shuffle(objects)
    dealt = [(verb, noun) for (verb, _), noun in zip(pairs, objects, strict=True)]
    assert information(pairs) - information(dealt) > 1


def information(pairs: list[tuple[str, str]]) -> float:
    """Mutual information in bits, from counts."""
    joint, left, right = Counter(pairs), Counter(a for a, _ in pairs), Counter(b for _, b in pairs)
    n = len(pairs)
    return sum(count / n * math.log2(count * n / left[a] / right[b]) for (a, b), count in joint.items())


def test_chunks_are_the_stream_whoever_makes_them() -> None:
    stream = list(POCKET.sentences(2 * CHUNK + 10, stream=4))
    assert list(POCKET.chunk(4, 1)) == stream[CHUNK : 2 * CHUNK]
    assert list(islice(POCKET.chunk(4, 2), 10)) == stream[2 * CHUNK :]
    assert list(POCKET.sentences(50, stream=5)) != stream[:50]
    assert list(Pocket(600, seed=1).sentences(50, stream=4)) != stream[:50]


def test_the_bytes_do_not_depend_on_the_process() -> None:
    program = (
        "from calque.derive.pocket.language import Pocket; p = Pocket(900, seed=2)\n"
        "for s in p.sentences(300): print(*s.words)\n"
        "for e in p.pairs(60): print(e)"
    )
    digests = set()
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)}
        out = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, check=True)
        digests.add(hashlib.sha256(out.stdout).hexdigest())
    assert len(digests) == 1

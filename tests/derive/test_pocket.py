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
    ALL_CORE,
    BASE,
    FUNCTION,
    PAST,
    PLURAL,
    SINGULAR,
    THIRD,
    VERBS,
    Lexicon,
    inflect,
)
from calque.derive.pocket.preferences import SIZE, Preferences, Role
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


def test_lengths_are_those_of_short_text() -> None:
    lengths = [len(sentence) for sentence in SENTENCES]
    assert 9 <= sum(lengths) / len(lengths) <= 12
    assert max(lengths) <= 25


def is_singular(sentence: Sentence, i: int, plurals: set[str], both: set[str]) -> bool | None:
    """Whether a subject is singular; None where its form does not tell."""
    word, tag = sentence.words[i], sentence.tags[i]
    if any(head == i and sentence.relations[j] == "conj" for j, head in enumerate(sentence.heads)):
        return None if tag == "NOUN" and sentence.relations[sentence.heads[i]] == "acl:relcl" else False
    if word in ("who", "that") and sentence.relations[sentence.heads[i]] == "acl:relcl":
        noun = sentence.heads[sentence.heads[i]]
        return None if sentence.words[noun] in both else sentence.words[noun] not in plurals
    if tag == "PRON":
        return word not in ("they", "there", "these", "those")
    return None if word in both else tag == "PROPN" or word not in plurals


def test_finite_verbs_agree_with_their_subjects() -> None:
    plurals: set[str] = set()
    both: set[str] = set()
    third: set[str] = set()
    base: set[str] = set()
    for topic in Lexicon(600, 0).topics:
        for kind, lexemes in topic.items():
            for forms in (lexeme.forms for lexeme in lexemes):
                if kind in VERBS and forms[BASE] != forms[PAST]:
                    third.add(forms[THIRD])
                    base.add(forms[BASE])
                elif len(forms) == 2:
                    (both if forms[SINGULAR] == forms[PLURAL] else plurals).add(forms[PLURAL])
    checked = Counter[bool]()
    for sentence in SENTENCES:
        for i, head in enumerate(sentence.heads):
            if sentence.relations[i] not in ("nsubj", "nsubj:pass"):
                continue
            singular = is_singular(sentence, i, plurals, both)
            helpers = [
                sentence.words[j] for j, h in enumerate(sentence.heads)
                if h == head and sentence.tags[j] == "AUX" and sentence.words[j] != "be"
            ]  # fmt: skip
            finite = helpers[0] if helpers else sentence.words[head]
            if singular is None or (not helpers and sentence.tags[head] != "VERB"):
                continue
            if finite in third or finite in ("is", "was", "does", "has"):
                assert singular, sentence
                checked[True] += 1
            elif finite in base or finite in ("are", "were", "do", "have"):
                assert not singular, sentence
                checked[False] += 1
    assert min(checked[True], checked[False]) > 500


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


def test_without_a_tail_every_word_of_a_small_language_is_used_and_few_are_rare() -> None:
    counts = Counter(word for sentence in Pocket(300, tail=0).sentences(20_000) for word in sentence.words)
    assert set(counts) == Pocket(300).forms >= FUNCTION
    assert sum(count < 20 for count in counts.values()) < 15


def test_a_longer_tail_has_more_words_that_occur_once() -> None:
    def hapaxes(tail: float) -> int:
        counts = Counter(word for sentence in Pocket(1_000, tail=tail).sentences(10_000) for word in sentence.words)
        return sum(count == 1 for count in counts.values())

    assert hapaxes(0.0) + 10 < hapaxes(0.1) < hapaxes(0.4)


@pytest.mark.parametrize("tail", [-0.1, 0.6, float("nan")])
def test_a_tail_that_is_no_share_of_the_words_is_refused(tail: float) -> None:
    with pytest.raises(BadInput, match=r"tail is a share of the words between 0 and 0\.5"):
        Pocket(tail=tail)


@pytest.mark.parametrize("zipf", [-1.0, 4.1, 1e308, float("nan")])
def test_an_exponent_that_no_weights_have_is_refused(zipf: float) -> None:
    with pytest.raises(BadInput, match=r"exponent of word frequencies is between 0 and 4, not"):
        Pocket(zipf=zipf)
    assert {len(list(Pocket(300, zipf=edge).sentences(3))) for edge in (0, 4)} == {3}


@pytest.mark.parametrize("types", [300, 600])
def test_a_word_that_is_asked_for_its_kind_has_one(types: int) -> None:
    """Whatever is drawn, a rare word too: three of 640,000 sentences of 300 types asked a dish what it is."""
    for seed in range(3):
        topics = Preferences(Lexicon(types, seed), seed, zipf=1.0, tail=0.1).topics
        places = {sense for topic in topics for sense in topic.tables[Role.HYPONYM]}
        assert any(not rare.tables[Role.HYPERNYM] for sense in places for rare in sense.rare)
        for topic in topics:
            for place, sense in enumerate(topic.tables[Role.HYPONYM]):
                chances = ((place + sense.rarity * (i + 0.5) / SIZE) / SIZE for i in range(SIZE))
                drawn = [topic.draw(Role.HYPONYM, chance) for chance in chances]
                assert all(word.tables[Role.HYPERNYM] for word in drawn)


def test_no_invented_word_is_one_of_the_core() -> None:
    """The core's notation, lemma/opposite:hypernym, is taken apart: each of its words is one by itself."""
    assert {"horse", "animal"} <= ALL_CORE
    assert all(word.isalpha() for word in ALL_CORE)


@pytest.mark.parametrize("types", [299, 5_001])
def test_an_impossible_size_is_refused(types: int) -> None:
    with pytest.raises(BadInput, match=r"word types, expected 300 to 5,000"):
        Pocket(types)


def test_more_zipf_makes_frequent_words_more_frequent() -> None:
    def top_share(zipf: float) -> float:
        counts = Counter(
            word
            for sentence in Pocket(600, zipf=zipf).sentences(3_000)
            for word, tag in zip(sentence.words, sentence.tags, strict=True)
            if tag == "NOUN"
        )
        return sum(count for _, count in counts.most_common(20)) / counts.total()

    assert top_share(0.3) < top_share(0.8) < top_share(1.3)


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

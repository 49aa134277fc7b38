from collections import Counter
from itertools import chain

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import logsumexp

from calque.analysis.tasks.score import BagOfWords, Gazetteer, Unigram
from calque.derive.sentence import Example, Sentence


def as_is(word):
    return word


def pair(first, second, label=""):
    texts = tuple((Sentence(tuple(text.split())),) for text in (first, second))
    return Example(texts, label), (label,)


def asked(examples):
    return [example for example, _ in examples]


def slow_unigram(train, test):
    pairs = (zip(example.texts[0][0].words, tags, strict=True) for example, tags in train)
    tokens = list(chain.from_iterable(pairs))
    order = sorted({tag for _, tag in tokens}, key=lambda tag: (-[t for _, t in tokens].count(tag), tag))

    def best(word):
        return max(order, key=lambda tag: tokens.count((word, tag)))  # the first of equals

    return [tuple(best(word) for word in example.texts[0][0].words) for example in test]


def slow_gazetteer(train, test):
    """Look up every stretch of words, longest first, among all names."""
    names = []
    for example, tags in train:
        words = example.texts[0][0].words
        for begin in range(len(words)):
            for end in range(begin + 1, len(words) + 1):
                whole = tags[begin][0] == "B" and all(tag[0] == "I" for tag in tags[begin + 1 : end])
                if whole and (end == len(words) or tags[end][0] != "I"):
                    names.append((words[begin:end], tags[begin][2:]))
    kinds = sorted({kind for _, kind in names}, key=lambda kind: (-[k for _, k in names].count(kind), kind))
    said = []
    for example in test:
        words, tags = example.texts[0][0].words, [""] * len(example.texts[0][0].words)
        for begin in range(len(words)):
            for end in range(len(words), begin, -1):
                if not any(tags[begin:end]) and any(name == words[begin:end] for name, _ in names):
                    kind = max(kinds, key=lambda kind: names.count((words[begin:end], kind)))
                    tags[begin:end] = [f"B-{kind}", *[f"I-{kind}"] * (end - begin - 1)]
        said.append([tag or "O" for tag in tags])
    return said


WORDS = st.sampled_from("abcd")


@st.composite
def sentences(draw, marks):
    words = draw(st.lists(WORDS, min_size=1, max_size=6))
    if marks == "tags":
        return Example(((Sentence(tuple(words)),),)), tuple(draw(st.sampled_from("XYZ")) for _ in words)
    tags = []
    for _ in words:
        inside = [f"I-{tags[-1][2:]}"] if tags and tags[-1] != "O" else []
        tags.append(draw(st.sampled_from(["O", "B-P", "B-Q", *inside])))
    return Example(((Sentence(tuple(words)),),)), tuple(tags)


@given(st.lists(sentences("tags"), min_size=1, max_size=6), st.lists(sentences("tags"), max_size=4))
def test_unigram_equals_brute_force(train, test):
    assert Unigram().learn(train, as_is)(asked(test), as_is) == slow_unigram(train, asked(test))


@given(st.lists(sentences("names"), min_size=1, max_size=6), st.lists(sentences("names"), max_size=4))
def test_gazetteer_equals_brute_force(train, test):
    said = Gazetteer().learn(train, as_is)(asked(test), as_is)
    assert [list(tags) for tags in said] == slow_gazetteer(train, asked(test))


HYPOTHESIS = BagOfWords(1, "hypothesis-only", "hypothesis-only")


def slow_regression(train, test):
    """Multinomial logistic regression with the loss in scikit-learn's documentation at C=1."""
    words = sorted({word for example, _ in train for word in example.texts[1][0].words})
    labels = sorted({label for _, (label,) in train})

    def row(example):
        counts = Counter(example.texts[1][0].words)
        return [float(counts[word]) for word in words]

    x = np.array([row(example) for example, _ in train])
    y = np.array([labels.index(label) for _, (label,) in train])

    def loss(flat):
        weights = flat.reshape(len(labels), -1)
        scores = x @ weights[:, 1:].T + weights[:, 0]
        fit = logsumexp(scores, axis=1) - scores[np.arange(len(y)), y]
        return float(fit.sum() + (weights[:, 1:] ** 2).sum() / 2)

    best = minimize(loss, np.zeros(len(labels) * (1 + len(words))), tol=1e-12).x.reshape(len(labels), -1)
    scores = np.array([row(example) for example, _ in test]) @ best[:, 1:].T + best[:, 0]
    return [labels[place] for place in scores.argmax(axis=1)]


def test_regression_equals_its_definition():
    random = np.random.default_rng(0)
    texts = [" ".join(random.choice(list("abcdef"), 4)) for _ in range(60)]
    labels = [
        "x" if "a" in text else "y" if "bc" in text.replace(" ", "") else random.choice(["x", "y", "z"])
        for text in texts
    ]
    made = [pair("-", text, str(label)) for text, label in zip(texts, labels, strict=True)]
    said = HYPOTHESIS.learn(made[:40], as_is)(asked(made[40:]), as_is)
    assert [label for (label,) in said] == slow_regression(made[:40], made[40:])

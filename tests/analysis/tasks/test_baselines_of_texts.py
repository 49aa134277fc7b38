from collections import Counter

import numpy as np
from scipy.optimize import minimize
from scipy.special import logsumexp

from calque.analysis.tasks.baselines import BagOfWords, KnownAnswer
from calque.derive.example import Example
from calque.derive.sentence import Sentence, Span
from tests.analysis.tasks.handmade import as_is, asked, pair

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


def question_about(question, context, answer=(0, 0, 1)):
    sentences = [Sentence(tuple(f"{part}.".replace(".", " .").split())) for part in context.split(" . ")]
    place, start, end = answer
    spans = (Span(start, end, "answer"),)
    sentences[place] = Sentence(sentences[place].words, spans=spans)
    return Example(((Sentence(tuple(question.split())),), tuple(sentences)))


ANSWERED = [
    (question_about("who saw tom ?", "the dog saw tom . eve ran", (0, 0, 2)), ("the dog",)),
    (question_about("who ran ?", "the dog saw tom . eve ran", (1, 0, 1)), ("eve",)),
]


def answer_to(question, context):
    learnt = KnownAnswer().learn(ANSWERED, as_is)
    ((answer,),) = learnt([question_about(question, context)], as_is)
    return answer


def test_known_answer_comes_from_the_most_similar_sentence():
    # `the` is in the question.
    assert answer_to("who saw the man ?", "eve ran . eve saw a man . the dog saw the man") == "eve"
    assert answer_to("who saw tom ?", "eve ran . the dog saw tom") == "the dog"
    assert answer_to("who saw eve ?", "tom saw eve . the dog ran") == "the dog"  # eve is in the question

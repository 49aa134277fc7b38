from hypothesis import given
from hypothesis import strategies as st

from calque.analysis.tasks.baselines import Gazetteer, Unigram
from calque.derive.example import Example
from calque.derive.sentence import Sentence
from tests.analysis.tasks.handmade import as_is, asked


def slow_unigram(train, test):
    tokens = [
        (word, tag)
        for (example, tags) in train
        for word, tag in zip(example.texts[0][0].words, tags, strict=True)
    ]
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

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from calque.derive.grammar import CLASSES, MOST, Grammar, Tree
from calque.derive.order import PocketTreebank, Reorder, superstrate
from calque.derive.sentence import Sentence, Span
from tests.derive.grammar.made import below, trees

ENGLISH, FINAL = PocketTreebank("english", size=600), PocketTreebank("verbfinal", size=600)
ANY = Reorder(FINAL, ENGLISH, grammar=Grammar({}))  # all orders are equally likely


def sentence_of(heads, seed):
    rng, n = random.Random(seed), len(heads)
    return Sentence(
        words=tuple(f"w{i}" for i in range(n)),
        tags=tuple(rng.choice(("NOUN", "VERB", "ADJ", "PROPN", "ADP")) for _ in range(n)),
        heads=heads,
        relations=tuple(rng.choice(("nsubj", "obj", "amod", "case", "obl")) for _ in range(n)),
        spans=(Span(0, (n + 1) // 2, "PER"),),
    )


@settings(max_examples=300)
@given(trees(), st.integers(0, 10**6))
def test_subtrees_stay_contiguous(heads, seed):
    before = sentence_of(heads, seed)
    after = ANY(before, seed)
    tree, there = Tree.of(heads), {old: new for new, old in enumerate(after.origin)}
    for word in range(len(heads)):
        if tree.whole[word]:
            places = sorted(there[i] for i in below(heads, word))
            assert places == list(range(places[0], places[0] + len(places)))
    if all(tree.whole):
        assert all(Tree.of(after.heads).whole)
        for head, words in enumerate(tree.dependents):
            if before.tags[head] not in CLASSES or len(words) >= MOST:
                node = sorted([head, *words])
                assert sorted(node, key=there.__getitem__) == node


def test_parallel_treebanks_are_a_last_resort(tmp_path, monkeypatch):
    monkeypatch.setenv("CALQUE_DATA", str(tmp_path))
    for name in ("xx_pud-ud-test", "xx_gsd-ud-test", "xx_a-ud-train"):
        path = tmp_path / "ud" / name / f"{name}.conllu"
        path.parent.mkdir(parents=True)
        path.touch()
        assert superstrate("xx").paths == (path,)

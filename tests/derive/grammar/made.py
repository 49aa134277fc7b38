import random
from itertools import permutations

from hypothesis import strategies as st

from calque.derive.grammar import Grammar, item, orders
from tests.derive.grammar import twin

DEPENDENTS = [
    item(*pair) for pair in (("DET", "det"), ("ADJ", "amod"), ("NOUN", "nmod"), ("ADP", "case"), ("X", "dep"))
]


def node(n, seed, tag="NOUN"):
    rng = random.Random(f"{n}:{seed}")
    return (*sorted(rng.choices(DEPENDENTS, k=n - 1)), f"@{tag} @")


def random_grammar(nodes, seed=0):
    rng = random.Random(seed)
    weights = {}
    for items in nodes:
        for order in rng.sample(list(permutations(range(len(items)))), k=min(6, len(orders(len(items))))):
            for feature in twin.features(items, order):
                weights[feature] = rng.gauss(0, 1)
    return Grammar({"NOUN": weights})


@st.composite
def trees(draw):
    n = draw(st.integers(1, 10))
    rng = random.Random(draw(st.integers(0, 10**6)))
    words = rng.sample(range(n), n)
    heads = [-1] * n
    for i, word in enumerate(words[1:], start=1):
        heads[word] = words[rng.randrange(i)]
    return tuple(heads)


def below(heads, word):
    return {word}.union(*(below(heads, i) for i, head in enumerate(heads) if head == word))

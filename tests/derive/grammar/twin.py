"""The ordering model by its definition, feature by feature and order by order."""

import math
from itertools import permutations


def features(items, order):
    """Every feature of one order of a node, whose last slot is the head's, once per occurrence."""
    line = [items[slot] for slot in order]
    head = order.index(len(items) - 1)
    found = []

    def pair(kind, one, other):
        for grain in (0, 1, 2):
            found.append((kind, _label(one, grain), _label(other, grain)))

    for one, other in zip(["<", *line], [*line, ">"], strict=True):
        pair("adjacent", one, other)
    for i in range(len(line)):
        for j in range(i + 1, len(line)):
            pair("ordered", line[i], line[j])
            if j < head:
                pair("before", line[i], line[j])
            if i < head < j:
                pair("around", line[i], line[j])
            if head < i:
                pair("after", line[i], line[j])
    padded = ["<", *line, ">"]
    for k in range(3, min(5, len(items)) + 1):
        for start in range(len(padded) - k + 1):
            found.append(("sequence", *padded[start : start + k]))
    return found


def _label(item, grain):
    if item in "<>" or grain == 2:
        return item
    return item.split(" ")[grain]


def probabilities(weights, items):
    """The probability of each order, in lexicographic order of the slots."""
    scores = [
        math.fsum(weights.get(feature, 0.0) for feature in features(items, order))
        for order in permutations(range(len(items)))
    ]
    highest = max(scores)
    total = math.fsum(math.exp(score - highest) for score in scores)
    return [math.exp(score - highest) / total for score in scores]

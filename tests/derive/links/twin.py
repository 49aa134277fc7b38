"""fast_align by its definition, with dictionaries and loops."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from dataclasses import dataclass, field

from scipy.special import digamma

NULL = ""


def h(i, j, n, m):
    return -abs(i / n - j / m)


def z(j, n, m, tension):
    return sum(math.exp(tension * h(i, j, n, m)) for i in range(1, n + 1))


def geometric(j, n, m, tension):
    """z as the published tool sums it; it differs from z where j > m, where the series never ends."""
    below, ratio = int(j * n / m), math.exp(-tension / n)
    first, second = (math.exp(tension * h(i, j, n, m)) / (1 - ratio) for i in (below, below + 1))
    return first * (1 - ratio**below) + second * (1 - ratio ** (n - below) if below <= n else 1)


def slope(j, n, m, tension):
    """The numerator of the derivative of log z over a z with its lengths exchanged."""
    near = [h(i, j, n, m) for i in range(1, n + 1)]
    return sum(x * math.exp(tension * x) for x in near) / geometric(j, m, n, tension)


@dataclass
class Twin:
    tension: float = 4.0
    t: defaultdict[tuple[str, str], float] = field(default_factory=lambda: defaultdict(lambda: 1e-9))

    def joint(self, pair, j):
        """The joint probabilities of the word at target place j and the null word or each source word."""
        (source, target), n, m = pair, len(pair[0]), len(pair[1])
        scale = z(j, n, m, self.tension) / 0.92
        heights = [math.exp(self.tension * h(i, j, n, m)) / scale for i in range(1, n + 1)]
        f = target[j - 1]
        return [0.08 * self.t[NULL, f], *(self.t[e, f] * p for e, p in zip(source, heights, strict=True))]

    def learn(self, pairs, passes):
        words = sum(len(target) for _, target in pairs)
        for number in range(passes):
            counts = defaultdict(float)
            seen = 0.0
            for pair in pairs:
                n, m = len(pair[0]), len(pair[1])
                for j in range(1, m + 1):
                    joint = self.joint(pair, j)
                    for i, (e, weight) in enumerate(zip((NULL, *pair[0]), joint, strict=True)):
                        posterior = weight / sum(joint)
                        counts[e, pair[1][j - 1]] += posterior
                        seen += h(i, j - 1, n, m) * posterior if i else 0.0
            for _ in range(8 if number else 0):
                sizes = Counter((len(source), len(target)) for source, target in pairs)
                model = sum(
                    k * slope(j, n, m, self.tension) for (n, m), k in sizes.items() for j in range(1, m + 1)
                )
                self.tension = min(max(self.tension + 20 * (seen - model) / words, 0.1), 14)
            totals = defaultdict(float)
            for (e, _), count in counts.items():
                totals[e] += count + 0.01
            for (e, f), count in counts.items():
                self.t[e, f] = math.exp(digamma(count + 0.01) - digamma(totals[e]))
        return self

    def joints(self, pair):
        return [self.joint(pair, j) for j in range(1, len(pair[1]) + 1)]


def grow_diag(forward, reverse):
    """Add links of the union that neighbour a link, in scan order, until none is added."""
    links = set(forward) & set(reverse)
    while True:
        before = len(links)
        for i, j in sorted(set(forward) | set(reverse)):
            near = any(max(abs(i - a), abs(j - b)) == 1 for a, b in links)
            linked = i in {a for a, _ in links} and j in {b for _, b in links}
            if (i, j) not in links and near and not linked:
                links.add((i, j))
        if len(links) == before:
            return links

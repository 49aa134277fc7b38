from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calque.derive import word_links
from calque.derive.word_links import SYMMETRISATIONS, FastAlign, StatisticalAligner
from tests.derive.links.twin import Twin

ORACLES = Path(__file__).parents[4] / "shared" / "data" / "oracles"

words = st.lists(st.sampled_from("abcde"), min_size=1, max_size=5).map(tuple)
corpora = st.lists(st.tuples(words, words), min_size=1, max_size=6)


def oracle(name):
    path = ORACLES / f"fast_align.en-fr.{name}"
    if not path.exists():
        pytest.skip(f"the published tool's links do not lie in {ORACLES}")
    lines = path.read_text().split("\n")[:-1]
    return [sorted((int(i), int(j)) for i, j in (link.split("-") for link in line.split())) for line in lines]


@pytest.fixture(scope="module")
def english_french(calque_data):
    files = (calque_data / "align" / "en-fr" / name for name in ("test.en", "test.fr"))
    sides = [[tuple(line.split()) for line in file.read_text().split("\n")[:-1]] for file in files]
    return list(zip(*sides, strict=True))


@pytest.fixture(scope="module")
def forward(english_french):
    return FastAlign.train(english_french)


@pytest.fixture(scope="module")
def reverse(english_french):
    return FastAlign.train(english_french, reverse=True)


def test_directions_equal_the_published_tool(english_french, forward, reverse):
    assert list(forward.align(english_french)) == oracle("forward")
    assert list(reverse.align(english_french)) == oracle("reverse")


@pytest.mark.parametrize("name", SYMMETRISATIONS)
def test_symmetrisations_equal_the_published_tool(name, english_french, forward, reverse):
    both = StatisticalAligner(forward, reverse, SYMMETRISATIONS[name])
    assert list(both.align(english_french)) == oracle(name)


@settings(max_examples=80)
@given(corpora, st.integers(1, 5), st.booleans())
def test_model_equals_its_definition(pairs, passes, reverse):
    turned = [(target, source) for source, target in pairs] if reverse else pairs
    twin = Twin().learn(turned, passes - 1)
    with patch.object(word_links, "PASSES", passes):
        model = FastAlign.train(pairs, reverse=reverse)
    assert model.tension == pytest.approx(twin.tension, rel=1e-9)
    for pair, links in zip(turned, model.align(pairs), strict=True):
        best = dict(links) if reverse else {j: i for i, j in links}
        assert len(best) == len(links)
        for place, joint in enumerate(twin.joints(pair)):
            # Equally likely words differ in their last bits, which depend on the order of summation.
            assert joint[best.get(place, -1) + 1] == pytest.approx(max(joint), rel=1e-9)


def test_training_in_small_chunks_is_the_same_and_not_quadratic(monkeypatch):
    pairs = [((f"s{number}",), (f"t{number}", "t")) for number in range(200)]
    whole, sizes = FastAlign.train(pairs), []

    def measured(sort):
        return lambda *arrays, **options: sizes.append(sum(map(np.size, arrays))) or sort(*arrays, **options)

    for name in ("unique", "union1d"):
        monkeypatch.setattr(np, name, measured(getattr(np, name)))
    monkeypatch.setattr(word_links, "_CELLS", 1)
    parts = FastAlign.train(pairs)
    assert np.array_equal(parts.keys, whole.keys) and np.array_equal(parts.probabilities, whole.probabilities)
    assert sum(sizes) < 10 * len(whole.keys)

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from calque.derive.errors import BadInput
from calque.derive.files import Artefact
from calque.derive.languages import Languages
from calque.pretrain.batch import UNLABELLED
from calque.pretrain.config import Mixture
from calque.pretrain.objective import Sum
from calque.pretrain.objectives.dictionary import AlignMLM
from calque.pretrain.objectives.mlm import MLM, DictMLM
from calque.pretrain.objectives.xlm import TLM
from calque.pretrain.run import Pretraining
from calque.pretrain.saved_model import RUN
from calque.pretrain.train import Draws
from tests.pretrain.made import MODEL, TRAIN, check_resumes, pretrain

NAMES = ("trans", "inv")


@pytest.mark.parametrize(
    ("changes", "mistake"),
    [
        ({"shares": (1, 2)}, "shares must be 3 numbers, one per language, not 2"),
        ({"shares": (1, 2, -1)}, "shares must be positive"),
        ({"shares": (1, 2, float("nan"))}, "shares must be finite"),
        ({"shares": (1, 1, 1), "exponent": 0.7}, "cannot be combined"),
        ({"exponent": -1.0}, "exponent must be between 0"),
        ({"bitext_exponent": float("nan")}, "bitext_exponent must be finite"),
        ({"pairs": 0.0}, "pairs must be between 0 and 1, not 0"),
        ({"pairs": 1.0}, "pairs must be between 0 and 1, not 1"),
    ],
)
def test_mistakes_are_named(several, changes, mistake):
    with pytest.raises(BadInput, match=mistake):
        Mixture(**changes).read(Languages.open(several, NAMES))


@pytest.mark.parametrize(
    ("batch", "pairs", "rows"),
    [(2, 0.01, [1, 1]), (2, 0.99, [1, 1]), (10, 0.04, [9, 1]), (10, 0.26, [7, 3]), (10, 0.96, [1, 9])],
)
def test_text_and_pairs_get_at_least_one_row(batch, pairs, rows):
    assert Mixture(pairs=pairs).rows(batch, [5, 0, 500], [False, False, True]) == [rows[0], 0, rows[1]]


@given(
    st.lists(st.tuples(st.integers(1, 10**9), st.booleans()), min_size=2, max_size=5), st.floats(0.01, 0.99)
)
def test_rows_sum_to_the_batch_and_to_the_share_of_pairs(streams, pairs):
    sizes, paired = zip(*streams, strict=True)
    assume(any(paired) and not all(paired))
    rows = Mixture(pairs=pairs).rows(1000, sizes, paired)
    assert sum(rows) == 1000 and min(rows) >= 1
    of_pairs = sum(row for row, kind in zip(rows, paired, strict=True) if kind)
    assert abs(of_pairs - 1000 * pairs) <= len(streams)


def rows_by_part(order, parts, steps):
    """The number of rows of each language or pair in the first steps."""
    drawn = np.concatenate([order.at(step) for step in range(steps)])
    part_of_row = np.searchsorted(np.cumsum(list(parts.values())), drawn, side="right")
    return dict(zip(parts, np.bincount(part_of_row, minlength=len(parts)).tolist(), strict=True))


@pytest.mark.parametrize("mixture", [Mixture((0.1, 0.1, 0.8)), Mixture(exponent=0.5)], ids=lambda x: x.name)
def test_languages_have_their_shares(mixture, several):
    (stream,) = MLM().streams(Languages.open(several, NAMES), MODEL.length, 0)
    (order,) = Draws([stream], 8, 0, mixture).orders
    weights = np.array(mixture.shares or np.array(list(stream.parts.values())) ** 0.5)
    rows = rows_by_part(order, stream.parts, 100)
    assert rows.keys() == {("source",), *((name,) for name in NAMES)}
    assert (np.abs(np.array(list(rows.values())) - 800 * weights / weights.sum()) <= 1).all()


def test_bitexts_are_sampled_with_an_exponent(several):
    languages = Languages.open(several, NAMES)
    streams = Sum("both", (MLM(), TLM(0.5))).streams(languages, 2 * MODEL.length, 0)
    orders = Draws(streams, 8, 0, Mixture(bitext_exponent=0.0)).orders
    text, bitexts = (
        rows_by_part(order, stream.parts, 100) for stream, order in zip(streams, orders, strict=True)
    )
    assert text.keys() == {("source",), ("trans",), ("inv",)}
    assert bitexts.keys() == {("source", "trans"), ("source", "inv")}
    assert abs(bitexts["source", "inv"] - bitexts["source", "trans"]) <= 1


def test_mixture_resumes_to_the_same_bytes(several, tmp_path):
    mixture = Mixture((0.45, 0.1, 0.45))
    config = Pretraining(Languages.open(several, NAMES), AlignMLM(), MODEL, TRAIN, seed=2, mixture=mixture)
    check_resumes(tmp_path, config)
    with pytest.raises(BadInput, match="mixture"):
        pretrain(tmp_path / "stopped", replace(config, mixture=Mixture((1, 1, 1))))


def test_disjoint_halves_train_and_resume_to_the_same_bytes(several, tmp_path):
    whole, mixture = Languages.open(several, ["trans"]), Mixture(disjoint=True)
    check_resumes(tmp_path, Pretraining(whole, AlignMLM(), MODEL, TRAIN, seed=1, mixture=mixture))
    halves = [len(language.corpus) for language in mixture.read(whole).languages]
    assert sum(halves) == 400 and min(halves) > 120
    with pytest.raises(BadInput, match=r"no parallel sentences.*mixture\.disjoint"):
        pretrain(tmp_path / "run", Pretraining(whole, TLM(0.5), MODEL, TRAIN, 1, mixture=mixture))


def test_only_the_source_is_trained(several, tmp_path):
    config = Pretraining(Languages.open(several, ()), MLM(), MODEL, TRAIN, seed=0)
    pretrain(tmp_path / "run", config)
    facts = Artefact.open(tmp_path / "run", RUN).facts
    assert facts["identity"]["data"].keys() == {"source"}
    for objective in (AlignMLM(), DictMLM()):
        with pytest.raises(BadInput, match="no dictionary"):
            pretrain(tmp_path / objective.name, replace(config, objective=objective))


THREE = ("trans", "trans-25.inv", "inv")


def meaning(languages):
    """The source type of each id in each language, (languages, rows); -1 if the language lacks the id."""
    types = np.full((len(languages.languages), languages.rows), -1)
    for language in languages.languages:
        types[language.number, language.table] = np.arange(languages.size)
    return types


def test_rows_of_a_language_contain_only_its_ids(several):
    languages = Languages.open(several, THREE)
    (stream,) = MLM(mask_rate=0.9).streams(languages, MODEL.length, 0)
    rows, _ = stream.draw(range(stream.instances), np.random.default_rng(0))
    assert set(rows.languages.unique().tolist()) == {0, 1, 2, 3}
    types, numbers = meaning(languages), rows.languages.numpy()
    shown, labels = rows.ids.numpy(), rows.labels.numpy()
    assert (types[numbers, shown] >= 0).all()  # even random replacements
    asked = labels != UNLABELLED
    assert (types[numbers[asked], labels[asked]] >= 0).all()
    assert (labels[asked] != shown[asked]).any()


@pytest.mark.parametrize("fraction", [0.5, 1.0])
def test_parallel_rows_pair_the_source_with_each_language(several, fraction):
    languages = Languages.open(several, THREE)
    (stream,) = TLM(fraction, mask_rate=0.0).streams(languages, 2 * MODEL.length, 0)
    rows, _ = stream.draw(range(stream.instances), np.random.default_rng(0))
    types, met = meaning(languages), Counter()
    for ids, numbers in zip(rows.ids.numpy(), rows.languages.numpy(), strict=True):
        sides = []
        for half in np.split(np.arange(len(ids)), 2):
            real = half[numbers[half] != languages.padding]
            (language,) = set(numbers[real].tolist())
            sides.append((language, sorted(types[language, ids[real]].tolist())))
        (source, words), (other, images) = sides
        assert source == 0 and words == images
        met[other] += 1
    assert met.keys() == {1, 2, 3}
    assert met.total() == stream.instances

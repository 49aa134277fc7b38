"""What a study may say, limit by limit: what is just right, and what is just wrong."""

from dataclasses import dataclass, replace

import pytest

from calque.derive.order import Invert
from calque.derive.transforms import transform as parse_transform
from calque.experiments.names import study as named
from calque.experiments.places import RESERVED
from calque.experiments.study import Alone, Study
from calque.experiments.study_mistakes import study_mistakes
from calque.pretrain.config import TrainConfig
from calque.pretrain.mixture import Mixture
from calque.pretrain.objective import After, Sum
from calque.pretrain.objectives import parse
from calque.pretrain.objectives.mlm import MLM
from calque.pretrain.objectives.word_aligned import WordAligned
from calque.pretrain.objectives.xlm import XLM

TRAIN = TrainConfig(steps=1_000, warmup=100, batch=64)


@pytest.fixture(scope="module")
def pocket() -> Study:
    """Derived languages, one seed."""
    return named("pocket")


def told(study: Study) -> str:
    """All that is wrong with it."""
    return "; ".join(study_mistakes(study))


def test_what_studies_say_is_right(pocket: Study) -> None:
    assert told(pocket) == ""


@dataclass(frozen=True)
class Renamed(Invert):
    """A transform with a name of the user's."""

    own: str = "swap"

    @property
    def name(self) -> str:
        return self.own


@pytest.mark.parametrize("name", [*RESERVED, "Report"])
def test_parts_with_the_names_of_folders_are_refused(pocket: Study, name: str) -> None:
    alone = replace(pocket, objectives=(MLM(),))
    assert told(alone.changed(transforms=(Renamed(),))) == ""
    assert f"{name} is the name of one of Calque's folders" in told(alone.changed(transforms=(Renamed(own=name),)))


@pytest.mark.parametrize("seeds", [(0,), (2**63 - 1,), (3, 1)])
def test_seeds(pocket: Study, seeds: tuple[int, ...]) -> None:
    assert told(replace(pocket, seeds=seeds)) == ""


@pytest.mark.parametrize(
    ("seeds", "said"),
    [
        ((-1,), "seeds are from 0 to below 2**63"),
        ((0, 2**63), "seeds are from 0 to below 2**63"),
        ((), "seeds names at least one"),
        ((1, 1), "seeds names one twice"),
    ],
)
def test_seeds_that_nothing_can_be_drawn_with(pocket: Study, seeds: tuple[int, ...], said: str) -> None:
    assert said in told(replace(pocket, seeds=seeds))


@pytest.mark.parametrize(("threads", "right"), [(0, False), (1, True), (1_024, True), (1_025, False)])
def test_threads(pocket: Study, threads: int, right: bool) -> None:
    assert (told(replace(pocket, threads=threads)) == "") == right


@pytest.mark.parametrize(("rate", "right"), [(-0.01, False), (0.0, True), (0.99, True), (1.0, False)])
def test_mask_rates_of_objectives_and_of_their_parts(pocket: Study, rate: float, right: bool) -> None:
    for objective in (MLM(rate), Sum("both", (MLM(rate), XLM()))):
        assert ("mask_rate is a share" in told(replace(pocket, objectives=(objective,)))) != right


def test_an_objective_that_cannot_start_alone_needs_another_before_it(pocket: Study) -> None:
    for objective in (WordAligned(), After(MLM(), WordAligned())):
        said = told(replace(pocket, objectives=(objective,)))
        assert f"{WordAligned().name} cannot start from random weights" in said
    assert told(replace(pocket, objectives=(After(WordAligned(), MLM()),))) == ""


@pytest.mark.parametrize("objective", ["ALIGN-MLM", "PREALIGN", "MLM-after-ALIGN-MLM"])
@pytest.mark.parametrize(
    ("transform", "fraction", "right"),
    [
        *(("trans", 0.25, True), ("trans.inv", 0.25, True), ("cipher-noun", 0.25, True), ("trans.drop-det", 1.0, True)),
        *(("inv", 0.25, False), ("inv.drop-det", 0.25, False), ("agg", 1.0, False), ("split", 0.25, False)),
        ("trans", 0.0, False),
    ],
)
def test_an_objective_that_aligns_words_needs_different_ones(
    pocket: Study, objective: str, transform: str, fraction: float, right: bool
) -> None:
    dictionary = replace(pocket.languages.dictionary, fraction=fraction)  # type: ignore[union-attr]
    changes = {"transforms": (parse_transform(transform),), "objectives": (parse(objective),)}
    said = told(pocket.changed(dictionary=dictionary, **changes))
    assert (f"{transform} it has none" not in said) == right
    assert "it has none" not in told(pocket.changed(**changes | {"objectives": (MLM(), XLM())}))


@pytest.mark.parametrize(
    ("objective", "right"),
    [
        *((name, True) for name in ("MLM", "DICT-MLM", "ALIGN-MLM", "LINK", "MLM-after-ALIGN-MLM")),
        *(
            (name, False)
            for name in ("XLM", "XLM-ALIGN", "WEAM-gold", "PPA", "XLM-ALIGN-after-MLM", "DICT-MLM-after-XLM")
        ),
    ],
)
def test_disjoint_halves_have_no_parallel_sentences(pocket: Study, objective: str, right: bool) -> None:
    halved = pocket.changed(mixture=Mixture(disjoint=True), objectives=(parse(objective),))
    said = f"objectives: {objective} learns from parallel sentences; mixture.disjoint leaves none"
    assert told(halved) == ("" if right else said)


def test_natural_languages_have_no_halves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CALQUE_DATA", "data")
    gold = replace(named("word_alignment"), mixture=Mixture(disjoint=True))
    assert "mixture.disjoint is about derived languages" in told(gold)


def test_a_paper_about_natural_languages_is_about_no_derived_ones(pocket: Study) -> None:
    for paper in ("xtreme", "links"):
        assert f"paper: {paper} is about natural languages" in told(replace(pocket, paper=paper))
    assert told(replace(pocket, paper="equal_terms")) == ""


@pytest.mark.parametrize(
    ("budgets", "batches", "accumulation", "said"),
    [
        ((0.5, 1.0), (), 1, ""),
        ((0.001, 0.5, 1.0), (1, 63), 1, ""),
        ((0.5, 1.0), (2, 8), 2, ""),
        ((1.0,), (), 1, "budgets are two or more"),
        ((0.5, 0.9), (), 1, "budgets are two or more"),
        ((0.5, 0.5, 1.0), (), 1, "budgets are two or more"),
        ((0.6, 0.5, 1.0), (), 1, "budgets are two or more"),
        ((0.0, 1.0), (), 1, "budgets are above 0"),
        ((0.5, 1.0), (64,), 1, "batches are ascending numbers"),
        ((0.5, 1.0), (0, 8), 1, "batches are ascending numbers"),
        ((0.5, 1.0), (8, 8), 1, "batches are ascending numbers"),
        ((0.5, 1.0), (16, 8), 1, "batches are ascending numbers"),
        ((0.5, 1.0), (1, 8), 2, "batches: grad_accumulation (2) is at most a batch, not above 1"),
    ],
)
def test_models_of_the_source_alone(
    budgets: tuple[float, ...], batches: tuple[int, ...], accumulation: int, said: str
) -> None:
    found = Alone(MLM(), budgets, batches).mistakes(replace(TRAIN, grad_accumulation=accumulation))
    assert found[0].startswith(said) if said else found == []


def test_models_of_the_source_alone_warm_up_in_proportion() -> None:
    variants = dict(Alone(MLM(), (0.0001, 0.25, 1.0), (8, 16)).variants(TRAIN))
    assert {name: (train.steps, train.warmup, train.batch) for name, train in variants.items()} == {
        "of-1": (1, 0, 64),
        "of-250": (250, 25, 64),
        "of-1000": (1_000, 100, 64),
        "by-8": (1_000, 100, 8),
        "by-16": (1_000, 100, 16),
    }

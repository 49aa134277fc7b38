"""Mixtures: names, mistakes, and what a model of several languages is shown."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from calque.derive.artefact import Artefact
from calque.derive.build import derive_languages
from calque.derive.dictionary import DictionaryConfig
from calque.derive.errors import BadInput
from calque.derive.fingerprint import plain
from calque.derive.languages import Languages
from calque.derive.order import Invert
from calque.derive.pocket.language import Pocket
from calque.derive.script import Transliterate
from calque.derive.sources.pocket import PocketEnglish, Sizes
from calque.pretrain.distributed import one_process
from calque.pretrain.mixture import ALL_TOGETHER, Mixture, Phase, parse, shares
from calque.pretrain.objective import Objective, Sum
from calque.pretrain.objectives.align_mlm import AlignMLM
from calque.pretrain.objectives.dict_mlm import DictMLM
from calque.pretrain.objectives.mlm import MLM
from calque.pretrain.objectives.xlm import TLM
from calque.pretrain.run import Pretraining, pretrain
from calque.pretrain.saved_model import RUN
from calque.pretrain.train import Draws
from tests.pretrain.made import MODEL, TRAIN, check_resumes

FEW = Sizes(10, 5, 5)
NAMES = ("trans", "inv")
LATER = Mixture((Phase((0.1, 0.1, 0.8), 0.5), Phase((0.8, 0.1, 0.1))))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("mixture") / "data"
    source = PocketEnglish(Pocket(types=300), 400, FEW, FEW, FEW)
    return derive_languages(source, (Transliterate(), Invert()), 500, DictionaryConfig(), out, out.parent / "cache")


@pytest.mark.parametrize(
    ("mixture", "name", "title"),
    [
        (ALL_TOGETHER, "together", "all in one order"),
        (shares(0.9, 0.1), "90-10", "90/10"),
        (shares(9, 1), "90-10", "90/10"),
        (shares(1, 1, 1), "33.33-33.33-33.33", "33.33/33.33/33.33"),
        (
            LATER,
            "10-10-80-until-50-then-80-10-10",
            "10/10/80 until 50 % of the steps, then 80/10/10",
        ),
        (Mixture(exponent=0.7), "sizes-0.7", "by size to the power 0.7"),
        (Mixture(pairs=0.5), "together-pairs-50", "all in one order, 50 % of the rows pairs"),
        (Mixture(shares(9, 1).phases, text=(1, 0.25)), "90-10-of-100-25", "90/10, of 100/25 % of the text"),
        (Mixture(disjoint=True), "together-disjoint", "all in one order, disjoint halves"),
        (
            Mixture(shares(9, 1).phases, pairs=0.5, disjoint=True),
            "90-10-pairs-50-disjoint",
            "90/10, 50 % of the rows pairs, disjoint halves",
        ),
    ],
)
def test_names(mixture: Mixture, name: str, title: str) -> None:
    assert (mixture.name, mixture.title) == (name, title)
    assert mixture.mistakes(len(mixture.phases[0].shares) if mixture.phases else 2) == []
    assert parse(name).name == name


def test_a_new_setting_changes_no_older_fingerprint() -> None:
    assert plain(Mixture()).keys().isdisjoint({"pairs", "disjoint"})
    assert plain(Mixture(disjoint=True))["disjoint"]


def test_the_language_with_the_fewest_rows_has_so_many_of_all() -> None:
    assert shares(9, 1).averages == pytest.approx([0.9, 0.1]) and Mixture().averages == []
    assert min(LATER.averages) == pytest.approx(0.1)
    assert Mixture((Phase((1, 0), 0.75), Phase((1, 3)))).averages == pytest.approx([0.8125, 0.1875])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"phases": shares(1, 2).phases}, "shares of 2 languages in a model of 3"),
        ({"phases": shares(1, 2, -1).phases}, "shares are 0 or more"),
        ({"phases": shares(0, 0, 0).phases}, "not all 0"),
        ({"phases": shares(1, 1, 0).phases}, "a share of 0 throughout"),
        ({"phases": (Phase((1, 1, 1), 0.5), Phase((1, 1, 1), 0.5))}, "ascending fractions"),
        ({"phases": (Phase((1, 1, 1), 0.5),)}, "the last at 1"),
        ({"phases": shares(1, 1, 1).phases, "exponent": 0.7}, "not both"),
        ({"exponent": -1.0}, "exponent is between 0"),
        ({"bitext_exponent": float("nan")}, "bitext_exponent is between 0"),
        ({"text": (1.0, 0.5)}, "text of 2 languages"),
        ({"text": (1.0, 0.5, 0.0)}, "text holds fractions"),
        ({"held_out": 1.0}, "held_out is a fraction below 1"),
        ({"pairs": 0.0}, "pairs is a fraction between 0 and 1, not 0"),
        ({"pairs": 1.0}, "pairs is a fraction between 0 and 1, not 1"),
        ({"bitexts": (("trans", "trans"),)}, "bitexts are between two"),
        ({"dictionaries": (("trans", "inv"), ("inv", "trans"))}, "dictionaries are between two languages, each pair"),
        ({"bitexts": (("source", "perm"),)}, "no language perm in the model"),
        ({"held_out": 0.9999}, "none is left"),
        ({"text": (1.0, 1.0, 1e-6)}, r"inv: 1e-06 of \d+ rows is less than one row"),
    ],
)
def test_what_is_wrong_is_told(folder: Path, changes: dict[str, Any], message: str) -> None:
    mixture = Mixture(**changes)
    with pytest.raises(BadInput, match=message):
        (stream,) = MLM().streams(mixture.of(Languages.open(folder, NAMES)), MODEL.length, 0)
        mixture.order(stream.parts, stream.instances, 10, 0, 0)


@pytest.mark.parametrize(
    "mixture",
    [
        Mixture(exponent=0.0),
        Mixture(exponent=10.0, bitext_exponent=10.0),
        Mixture(bitext_exponent=0.0),
        Mixture(text=(1.0, 0.001)),
        Mixture(held_out=0.999),
        Mixture(pairs=0.001),
        Mixture(pairs=0.999),
        Mixture(bitexts=(("a", "b"), ("b", "c")), dictionaries=()),
        Mixture((Phase((1, 0), 0.001), Phase((0, 1)))),
    ],
    ids=str,
)
def test_limits_are_right_themselves(mixture: Mixture) -> None:
    assert mixture.mistakes(2) == []


@pytest.mark.parametrize(
    "mixture",
    [
        Mixture(exponent=10.1),
        Mixture(bitext_exponent=-0.1),
        Mixture(text=(1.0, 1.1)),
        Mixture(held_out=-0.1),
        Mixture(pairs=-0.1),
        Mixture(bitexts=(("a", "b"), ("c", "c"))),
        Mixture((Phase((1, float("inf"))),)),
        Mixture((Phase((1, float("nan"))),)),
        Mixture((Phase((1, 1), 0.0), Phase((1, 1)))),
        Mixture((Phase((1, 1), 0.6), Phase((1, 1), 0.5), Phase((1, 1)))),
        Mixture((Phase((1, 1), 1.1),)),
    ],
    ids=str,
)
def test_what_is_beyond_them_is_told_once(mixture: Mixture) -> None:
    assert len(mixture.mistakes(2)) == 1


@pytest.mark.parametrize(
    ("batch", "pairs", "rows"),
    [(2, 0.01, [1, 1]), (2, 0.99, [1, 1]), (10, 0.04, [9, 1]), (10, 0.26, [7, 3]), (10, 0.96, [1, 9])],
)
def test_text_and_pairs_have_a_row_each_at_least(batch: int, pairs: float, rows: list[int]) -> None:
    assert Mixture(pairs=pairs).rows(batch, [5, 0, 500], [False, False, True]) == [rows[0], 0, rows[1]]


def test_a_part_of_the_rows_is_of_pairs_whatever_the_sizes(folder: Path) -> None:
    languages = Languages.open(folder, NAMES)
    both = Sum("both", (MLM(), TLM(0.05))).streams(languages, 2 * MODEL.length, 0)
    assert Draws(both, 20, 0).rows[1] < 5
    draws = Draws(both, 20, 0, Mixture(pairs=0.4), 100)
    assert draws.rows == [12, 8]
    assert len(draws.at(0)[0][0]) == 12


@given(st.lists(st.tuples(st.integers(1, 10**9), st.booleans()), min_size=2, max_size=5), st.floats(0.01, 0.99))
def test_rows_sum_to_the_batch_and_those_of_pairs_to_their_part(streams: list[tuple[int, bool]], pairs: float) -> None:
    sizes, paired = zip(*streams, strict=True)
    assume(any(paired) and not all(paired))
    rows = Mixture(pairs=pairs).rows(1000, sizes, paired)
    assert sum(rows) == 1000 and min(rows) >= 1
    of_pairs = sum(row for row, kind in zip(rows, paired, strict=True) if kind)
    assert abs(of_pairs - 1000 * pairs) <= len(streams)


def test_pairs_without_a_bitext_are_refused(folder: Path) -> None:
    (stream,) = MLM().streams(Languages.open(folder, NAMES), MODEL.length, 0)
    with pytest.raises(BadInput, match=r"pairs = 0.5 of the rows, but the objective reads no bitext"):
        Draws([stream], 8, 0, Mixture(pairs=0.5), 100)
    with pytest.raises(BadInput, match=r"pairs = 0.5 of the rows, but a step has one; expected a batch of two or more"):
        Mixture(pairs=0.5).rows(1, [9, 9], [False, True])


def test_an_objective_of_pairs_alone_has_all_rows_of_them() -> None:
    assert Mixture(pairs=0.5).rows(8, [62], [True]) == [8]
    assert sum(Mixture(pairs=0.25).rows(8, [62, 9], [True, True])) == 8


def test_a_language_whose_share_comes_later_is_welcome() -> None:
    later = Mixture((Phase((1, 0), 0.5), Phase((1, 1))))
    assert later.mistakes(2) == []


def test_sizes_with_an_exponent_decide_shares(folder: Path) -> None:
    languages = Languages.open(folder, NAMES)
    mixture = Mixture(exponent=0.5, text=(1.0, 1.0, 0.04))
    (stream,) = MLM().streams(languages, MODEL.length, 0)
    shown = Draws([stream], 8, 0, mixture, 100).shown(100)
    sizes = np.array([len(packed) for packed in stream.packed]) * (1.0, 1.0, 0.04)
    weights = np.round(sizes) ** 0.5
    rows = np.array([shown[name]["rows"] for name in ("source", *NAMES)])
    assert (np.abs(rows - 800 * weights / weights.sum()) <= 1).all()
    assert shown["inv"]["epochs"] == rows[2] / round(sizes[2])


def test_every_instance_is_drawn_and_no_other() -> None:
    """Also where instances are numbered over several languages."""
    order = Mixture(exponent=0.7).order({("a",): 3, ("b",): 5, ("c",): 1}, 9, 100, 0)
    assert {int(i) for step in range(100) for i in order.at(step, 4)} == set(range(9))


def test_bitexts_are_sampled_with_an_exponent(folder: Path) -> None:
    mixture = Mixture(bitext_exponent=0.0, bitexts=(("source", "inv"), ("inv", "trans")))
    streams = Sum("both", (MLM(), TLM(0.5))).streams(mixture.of(Languages.open(folder, NAMES)), 2 * MODEL.length, 0)
    draws = Draws(streams, 8, 0, mixture, 100)
    shown = draws.shown(100)
    assert shown.keys() == {"source", "trans", "inv", "source-inv", "inv-trans"}
    assert abs(shown["source-inv"]["rows"] - shown["inv-trans"]["rows"]) <= 1
    batches, _ = draws.at(3)
    assert set(batches[1].languages.unique().tolist()) <= {0, 1, 2, 3}  # type: ignore[attr-defined]


def test_held_out_sentences_are_in_no_row_and_in_no_bitext(folder: Path) -> None:
    whole = Languages.open(folder, NAMES)
    cut = Mixture(held_out=0.25).of(whole)
    assert [len(language.corpus) for language in cut.languages] == [300, 300, 300]
    for before, after in zip(whole.bitexts, cut.bitexts, strict=True):
        assert len(after) == 300
        for pair in (0, 299):
            assert all(map(np.array_equal, before.ids(pair), after.ids(pair)))
            assert np.array_equal(before.links(pair), after.links(pair))


@pytest.mark.parametrize("objective", [AlignMLM(), DictMLM()], ids=lambda objective: objective.name)
def test_a_schedule_trains_and_resumes_to_the_same_bytes(objective: Objective, folder: Path, tmp_path: Path) -> None:
    mixture = replace(LATER, held_out=0.1, dictionaries=(("source", "trans"), ("trans", "inv")))
    config = Pretraining(Languages.open(folder, NAMES), objective, MODEL, TRAIN, seed=2, mixture=mixture)
    check_resumes(tmp_path, config)
    shown = Artefact.open(tmp_path / "stopped", RUN).facts["shown"]
    exact = {"source": 0.45, "trans": 0.1, "inv": 0.45}
    rows = TRAIN.steps * TRAIN.batch
    assert all(abs(shown[name]["rows"] - share * rows) < 1 for name, share in exact.items())
    with pytest.raises(BadInput, match="mixture"):
        pretrain(tmp_path / "stopped", replace(config, mixture=shares(1, 1, 1)), one_process())


@pytest.mark.parametrize("objective", [MLM(), AlignMLM(), DictMLM()], ids=lambda objective: objective.name)
def test_disjoint_halves_train_and_resume_to_the_same_bytes(objective: Objective, folder: Path, tmp_path: Path) -> None:
    whole, mixture = Languages.open(folder, ["trans"]), Mixture(held_out=0.1, disjoint=True)
    config = Pretraining(whole, objective, MODEL, TRAIN, seed=1, mixture=mixture)
    check_resumes(tmp_path, config)
    facts = Artefact.open(tmp_path / "stopped", RUN).facts
    assert sum(facts["halves"].values()) == 360 and min(facts["halves"].values()) > 120
    with pytest.raises(BadInput, match="mixture"):
        pretrain(tmp_path / "stopped", replace(config, mixture=Mixture(held_out=0.1)), one_process())


def test_disjoint_halves_have_no_pairs_to_train_on(folder: Path, tmp_path: Path) -> None:
    whole = Languages.open(folder, ["trans"])
    config = Pretraining(whole, TLM(0.5), MODEL, TRAIN, seed=1, mixture=Mixture(disjoint=True))
    with pytest.raises(BadInput, match=r"no parallel sentences: .* \(mixture\.disjoint\)"):
        pretrain(tmp_path / "run", config, one_process())


def test_a_source_is_trained_alone(folder: Path, tmp_path: Path) -> None:
    config = Pretraining(Languages.open(folder, ()), MLM(), MODEL, TRAIN, seed=0, mixture=Mixture(held_out=0.1))
    pretrain(tmp_path / "run", config, one_process())
    made = Artefact.open(tmp_path / "run", RUN).facts
    assert made["shown"]["source"]["rows"] == TRAIN.steps * TRAIN.batch
    assert made["identity"]["data"].keys() == {"source"}
    for objective in (AlignMLM(), DictMLM()):
        with pytest.raises(BadInput, match="no dictionary"):
            pretrain(tmp_path / objective.name, replace(config, objective=objective), one_process())

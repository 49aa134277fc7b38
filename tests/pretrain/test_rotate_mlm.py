"""ROTATE-MLM: MLM before its step, one rotation of the derived rows and their moments, and a run that is resumed."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from calque.derive.errors import BadInput
from calque.derive.languages import Languages
from calque.derive.types import OURS
from calque.pretrain.distributed import World, one_process
from calque.pretrain.mixture import Mixture
from calque.pretrain.model import build, state_of
from calque.pretrain.modules import Learner
from calque.pretrain.objective import Objective
from calque.pretrain.objectives.mlm import MLM
from calque.pretrain.objectives.rotate_mlm import LEFT_OPEN, RotateMLM, own_rows, rotate
from calque.pretrain.run import Pretraining
from calque.pretrain.train import make_optimizer, train
from tests.pretrain.made import (
    DERIVED,
    LANGUAGE,
    MODEL,
    SIZE,
    STILL,
    TRAIN,
    check_resumes,
    new_learner,
    only,
    with_dictionary,
)

WORDS = "model.roberta.embeddings.word_embeddings.weight"


def entries(languages: Languages) -> tuple[torch.Tensor, torch.Tensor]:
    source, derived = torch.from_numpy(languages.dictionary("source", LANGUAGE)).T
    return source, derived


def trained(objective: Objective, languages: Languages, steps: int, of: int) -> tuple[Learner, torch.optim.Optimizer]:
    """A learner after some of the steps of a run, and its optimizer."""
    learner, config = new_learner(objective), replace(TRAIN, steps=of)
    optimizer = make_optimizer(learner, config)

    class Enough(Exception):
        pass

    def stop(step: int, losses: dict[str, float], norm: float) -> None:
        if step == steps:
            raise Enough

    with pytest.raises(Enough):
        train(learner, optimizer, objective.streams(languages, STILL.length, 0), config, 0, one_process(), after=stop)
    return learner, optimizer


def test_it_is_mlm_bit_by_bit_until_its_step(languages: Languages) -> None:
    mlm, ours = (trained(objective, languages, 5, 10)[0] for objective in (MLM(), RotateMLM()))
    assert all(a.equal(b) for a, b in zip(state_of(mlm).values(), state_of(ours).values(), strict=True))
    mlm, ours = (trained(objective, languages, 6, 10)[0] for objective in (MLM(), RotateMLM()))
    before, after = (state_of(learner)[WORDS][SIZE + 5 :] for learner in (mlm, ours))
    assert (before - after).abs().max() > 0.1  # far more than one update


def by_hand(table: np.ndarray, source: np.ndarray, derived: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The derived rows after the rotation that Kabsch's algorithm finds, and the rotation."""
    start, end = table[derived].mean(0), table[source].mean(0)
    u, _, vt = np.linalg.svd((table[derived] - start).T @ (table[source] - end))
    return (table[SIZE + 5 : 2 * SIZE] - start) @ (u @ vt) + end, u @ vt


def test_the_rows_of_the_derived_language_and_their_moments_rotate_and_nothing_else(languages: Languages) -> None:
    learner, optimizer = trained(MLM(), languages, 5, 10)
    table = learner.model.get_input_embeddings().weight
    moments = optimizer.state[table]
    before = {name: tensor.clone() for name, tensor in state_of(learner).items()}
    mean, square = moments["exp_avg"].clone(), moments["exp_avg_sq"].clone()
    only(RotateMLM(), languages).start_step(5, 10, learner, optimizer, one_process())
    source, derived = (ids.numpy() for ids in entries(languages))
    expected, matrix = by_hand(before[WORDS].double().numpy(), source, derived)
    np.testing.assert_allclose(table.detach()[SIZE + 5 :].numpy(), expected, atol=1e-5)
    np.testing.assert_allclose(matrix @ matrix.T, np.eye(STILL.hidden), atol=1e-9)
    for name, old, turn in (("exp_avg", mean, matrix), ("exp_avg_sq", square, matrix**2)):
        rotated = old.double().numpy()[SIZE + 5 :] @ turn
        np.testing.assert_allclose(moments[name][SIZE + 5 :].numpy(), rotated, rtol=1e-3, atol=1e-7)
        assert moments[name][: SIZE + 5].equal(old[: SIZE + 5])
    torch.testing.assert_close(moments["exp_avg_sq"].sum(1), square.sum(1))  # a row's share of the updates stays
    assert table.detach()[: SIZE + 5].equal(before[WORDS][: SIZE + 5])
    after = state_of(learner)
    assert [name for name in after if not after[name].equal(before[name])] == [WORDS]  # also biases stay


def test_only_its_step_rotates(languages: Languages) -> None:
    learner = new_learner(MLM())
    optimizer, stream = make_optimizer(learner, TRAIN), only(RotateMLM(0.25), languages)
    before = state_of(learner)[WORDS].clone()
    for step in (0, 1, 2, 4, 7):
        stream.start_step(step, 12, learner, optimizer, one_process())
    assert state_of(learner)[WORDS].equal(before)
    stream.start_step(3, 12, learner, optimizer, one_process())  # without moments yet
    assert not state_of(learner)[WORDS].equal(before)


def test_translations_that_differ_by_a_rotation_become_equal_also_without_an_entry(languages: Languages) -> None:
    """And an output table of its own is rotated by a map of its own."""
    model = build(STILL, 2 * SIZE)
    model.lm_head.decoder.weight = torch.nn.Parameter(model.get_input_embeddings().weight.detach().clone())
    turns = [torch.linalg.qr(torch.randn(STILL.hidden, STILL.hidden))[0] for _ in range(2)]
    tables = [model.get_input_embeddings().weight, model.get_output_embeddings().weight]
    with torch.no_grad():
        for table, turn in zip(tables, turns, strict=True):
            table[SIZE + 5 :] = table[5:SIZE] @ turn + torch.randn(STILL.hidden)
    learner = Learner(model, {})
    only(RotateMLM(), languages).start_step(6, 12, learner, make_optimizer(learner, TRAIN), one_process())
    for table in tables:
        torch.testing.assert_close(table[SIZE + 5 :], table[5:SIZE], atol=1e-4, rtol=0)


def test_later_processes_take_the_rows_of_the_first(languages: Languages) -> None:
    first = new_learner(MLM()).model.get_input_embeddings().weight
    second = new_learner(MLM()).model.get_input_embeddings().weight
    optimizer, sent = make_optimizer(new_learner(MLM()), TRAIN), list[torch.Tensor]()

    class First(World):
        def add(self, numbers: torch.Tensor) -> torch.Tensor:
            sent.append(numbers.clone())
            return numbers

    class Second(World):
        def add(self, numbers: torch.Tensor) -> torch.Tensor:
            assert not numbers.any()
            return numbers.add_(sent.pop(0))

    rows, pairs = torch.arange(SIZE + 5, 2 * SIZE), torch.stack(entries(languages), dim=1)
    rotate(first, rows, pairs, optimizer, First(0, 2, torch.device("cpu")))
    rotate(second, rows, pairs, optimizer, Second(1, 2, torch.device("cpu")))
    assert first.equal(second) and not sent


def test_own_rows_are_those_of_the_new_script_alone(languages: Languages) -> None:
    assert own_rows(languages, DERIVED).tolist() == [*range(SIZE + len(OURS.ids), 2 * SIZE)]
    source, derived = languages.languages
    some = derived.table.copy()
    some[100:200] = np.arange(100, 200)
    shared = replace(languages, languages=(source, replace(derived, table=some)))
    assert own_rows(shared, DERIVED).tolist() == sorted({*some.tolist()} - {*range(SIZE)})
    none = replace(languages, languages=(source, replace(derived, table=source.table)))
    with pytest.raises(BadInput, match=r"trans\.inv has no rows of its own to rotate; expected a new script"):
        own_rows(none, DERIVED)


@pytest.mark.parametrize("pairs", [("source", LANGUAGE), (LANGUAGE, "source")])
def test_the_later_language_rotates_however_a_pair_is_named(pairs: tuple[str, str], languages: Languages) -> None:
    stream = only(RotateMLM(), Mixture(dictionaries=(pairs,)).of(languages))
    assert list(stream.own) == [DERIVED]
    expected = languages.dictionary("source", LANGUAGE)
    assert np.array_equal(np.sort(stream.pairs[DERIVED].numpy(), axis=0), np.sort(expected, axis=0))


def test_names_and_what_cannot_be(languages: Languages) -> None:
    assert (RotateMLM().name, RotateMLM(0.25).name) == ("ROTATE-MLM", "ROTATE-MLM-at-25")
    assert RotateMLM().traits.dictionary and not RotateMLM().traits.language_embeddings
    for wrong in (1.0, -0.1, float("nan")):
        with pytest.raises(ValueError, match="at is a share of the steps"):
            RotateMLM(wrong)
    with pytest.raises(BadInput, match="no dictionary between the languages"):
        RotateMLM().streams(Mixture(dictionaries=()).of(languages), STILL.length, 0)


def test_dimensions_that_few_entries_leave_open_are_counted_also_after_the_rotation(
    study: Path, tmp_path: Path
) -> None:
    lines = (study / LANGUAGE / "dictionary.tsv").read_text(encoding="utf-8").splitlines(keepends=True)
    learner = new_learner(MLM())
    for size, expected in ((10, STILL.hidden - 9), (STILL.hidden + 1, 0)):
        stream = only(RotateMLM(), with_dictionary(study, tmp_path / str(size), lines[:size]))
        stream.start_step(11, 12, learner, make_optimizer(learner, TRAIN), one_process())
        assert stream.left_out[LEFT_OPEN] == expected
        rows = learner.model.get_input_embeddings().weight[stream.pairs[DERIVED][:, 1]].detach()
        assert torch.linalg.matrix_rank(rows - rows.mean(0)) == STILL.hidden - expected


@pytest.mark.parametrize("stops", [(3,), (6,), (7,), (6, 9)])
def test_a_run_that_stops_around_its_step_ends_with_the_same_bits(
    stops: tuple[int, ...], study: Path, tmp_path: Path
) -> None:
    """States are saved after steps 3, 6 and 9, and the rotation is before the seventh step."""
    config = Pretraining(Languages.open(study, (LANGUAGE,)), RotateMLM(), MODEL, TRAIN, 0)
    check_resumes(tmp_path, config, *stops)

"""PreAlign: the contrast against a loop over transformers' own states, cuts, phases, and a run that is resumed."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn import functional as F

from calque.derive.errors import BadInput
from calque.derive.languages import Languages
from calque.derive.types import OURS
from calque.pretrain.distributed import one_process
from calque.pretrain.mixture import Mixture
from calque.pretrain.model import build, encode_each
from calque.pretrain.modules import Learner
from calque.pretrain.objectives.link import Link
from calque.pretrain.objectives.mlm import MLM
from calque.pretrain.objectives.prealign import Anchors, Contrast, PreAlign, Sides, WordContrast, contrast
from calque.pretrain.run import Pretraining
from calque.pretrain.train import make_optimizer, train
from tests.pretrain.made import (
    DERIVED,
    LANGUAGE,
    MODEL,
    SIZE,
    SOURCE,
    STILL,
    TRAIN,
    check_resumes,
    only,
    with_dictionary,
)

LENGTH = STILL.length


def stream(languages: Languages, objective: Contrast) -> WordContrast:
    made: WordContrast = only(objective, languages)
    return made


def by_hand(words: torch.Tensor, temperature: float, sides: Sides) -> torch.Tensor:
    """InfoNCE word by word over the words (2P, H) of P entries, no two of which share a word.

    The published code multiplies an anchor's product with itself by 0 after the largest possible product, 1 / T, was
    taken from all: so it counts as a cosine of 1, with no gradient.
    """
    words = words.double()
    pairs = len(words) // 2
    total = words.new_zeros(())
    for i in range(pairs if sides == "first" else 2 * pairs):
        scores = [torch.cosine_similarity(words[i], word, dim=0) / temperature for word in words]
        scores[i] = words.new_tensor(1 / temperature)
        total = total - (scores[(i + pairs) % (2 * pairs)] - torch.stack(scores).logsumexp(0))
    return total


@pytest.mark.parametrize(("temperature", "sides"), [(0.1, "first"), (0.7, "first"), (0.1, "both")])
def test_the_loss_is_that_of_a_loop_over_words_and_layers(
    languages: Languages, temperature: float, sides: Sides
) -> None:
    made = stream(languages, Contrast(pairs=9, temperature=temperature, anchors=sides))
    batch, counts = made.draw([], np.random.default_rng(0))
    model = build(STILL, 2 * SIZE)
    loss = float(made.losses(Learner(model, {}), batch)["words"].detach())
    words = [source for source, _ in batch.ids.tolist()] + [derived for _, derived in batch.ids.tolist()]
    with torch.no_grad():
        rows = torch.tensor([[OURS.start, word, OURS.end] for word in words])
        layers = model.roberta(rows, output_hidden_states=True).hidden_states
        expected = torch.stack([by_hand(hidden[:, 1], temperature, sides) for hidden in layers]).mean()
    assert counts == {"words": 9 if sides == "first" else 18}
    assert loss == pytest.approx(float(expected), rel=1e-5)


@pytest.mark.parametrize("sides", ["first", "both"])
def test_the_gradient_is_that_of_a_loop_over_words(sides: Sides) -> None:
    words = torch.randn(12, 5, generator=torch.Generator().manual_seed(0), requires_grad=True)
    ids = torch.arange(12).reshape(2, 6).T
    ours = torch.autograd.grad(contrast(words, Anchors(ids, torch.zeros_like(ids), 0, 6, sides), 0.2), words)
    theirs = torch.autograd.grad(by_hand(words, 0.2, sides), words)
    torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-5)


def test_a_step_has_some_entries_and_of_a_small_dictionary_all(languages: Languages) -> None:
    entries = {tuple(row) for row in languages.dictionary("source", LANGUAGE).tolist()}
    few, all_ = (stream(languages, Contrast(pairs=n)) for n in (10, 10_000))
    shown = set()
    for seed in range(40):
        batch, _ = few.draw([], np.random.default_rng(seed))
        rows = {tuple(row) for row in batch.ids.tolist()}
        assert len(rows) == len(batch) == 10
        shown |= rows
        assert batch.languages.tolist() == [[SOURCE, DERIVED]] * 10
    assert shown == entries
    assert len(all_.draw([], np.random.default_rng(0))[0]) == len(entries)


@given(st.integers(1, 7), st.integers(2, 12), st.integers(0, 99), st.sampled_from(["first", "both"]))
def test_parts_add_up_to_the_whole_with_its_gradient(parts: int, pairs: int, seed: int, sides: Sides) -> None:
    generator = torch.Generator().manual_seed(seed)
    ids = torch.randint(0, 2 * pairs, (pairs, 2), generator=generator)  # at times a word has several translations
    ids[:, 1] += 2 * pairs
    words = torch.randn(2 * pairs, 5, generator=generator, requires_grad=True)
    batch = Anchors(ids, torch.zeros_like(ids), 0, pairs, sides)
    whole = contrast(words, batch, 0.3)
    cut = sum(contrast(words, batch.part(i, parts), 0.3) for i in range(parts) if len(batch.part(i, parts)))
    assert isinstance(cut, torch.Tensor)
    torch.testing.assert_close(cut, whole, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(*(torch.autograd.grad(loss, words)[0] for loss in (cut, whole)), rtol=1e-5, atol=1e-5)


def test_a_word_is_not_held_against_its_other_translations() -> None:
    ids = torch.tensor([[1, 11], [1, 12], [3, 13], [4, 11]])
    barred = Anchors(ids, torch.zeros_like(ids), 0, 4, "both").barred
    against = {i: (~row).nonzero().flatten().tolist() for i, row in enumerate(barred)}
    # 0 to 3 are the words 1, 1, 3, 4 and 4 to 7 their translations 11, 12, 13, 11.
    assert against[0] == [0, 2, 4, 6]  # itself, 11, and of the others those of the entry (3, 13)
    assert against[1] == [1, 2, 3, 5, 6, 7]  # 12, the entry (3, 13), and (4, 11), which shares nothing with (1, 12)
    assert against[2] == [0, 1, 2, 3, 4, 5, 6, 7]
    assert against[7] == [1, 2, 3, 5, 6, 7]
    assert Anchors(ids, torch.zeros_like(ids), 0, 4, "first").barred.equal(barred[:4])


def test_the_first_phase_pulls_translations_together_at_every_layer(languages: Languages) -> None:
    """After a few steps the nearest word of the other language is the translation, far oftener than before."""
    objective = PreAlign().first
    learner = objective.learner(build(STILL, 2 * SIZE), 0)
    batch, _ = stream(languages, Contrast(pairs=10_000)).draw([], np.random.default_rng(0))

    def found() -> list[float]:
        with torch.no_grad():
            states = [F.normalize(h[:, 1], dim=1).chunk(2) for h in encode_each(learner.model, batch.rows(OURS))]
        right = torch.arange(len(batch))
        return [float(((a @ b.T).argmax(1) == right).float().mean()) for a, b in states]

    before = found()
    config = replace(TRAIN, steps=60)
    train(learner, make_optimizer(learner, config), objective.streams(languages, LENGTH, 0), config, 0, one_process())
    assert len(before) == STILL.layers + 1
    assert max(before) < 0.3
    assert min(found()) > 0.9


def test_both_phases_take_the_steps_of_one_objective_and_switch_a_twentieth() -> None:
    objective = PreAlign(mask_rate=0.3)
    first, portion = objective.traits.start
    assert (objective.name, objective.title, portion) == ("PREALIGN", "PreAlign", 0.1)
    assert PreAlign(portion=0.25).name == "PREALIGN-for-25"
    assert PreAlign(anchors="both").name == "PREALIGN-both" != PreAlign(anchors="both").first.name
    assert objective.parts == (Link(0.05, 0.3),)
    assert list(first.parts) == [MLM(0.3), Contrast(128, 0.1)]
    assert not objective.traits.language_embeddings and not first.traits.language_embeddings
    for wrong, said in (
        ({"portion": 0.0}, "portion is a fraction of the steps"),
        ({"pairs": 1}, "pairs is at least 2"),
        ({"temperature": 0.0}, "temperature is above 0"),
        ({"anchors": "second"}, "anchors are first or both"),
        ({"share": 2.0}, "share is a fraction of the words"),
    ):
        with pytest.raises(ValueError, match=said):
            PreAlign(**wrong)


def test_without_entries_to_tell_apart_it_is_refused(study: Path, languages: Languages, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no dictionary between the languages"):
        Contrast().streams(Mixture(dictionaries=()).of(languages), LENGTH, 0)
    entry = (study / LANGUAGE / "dictionary.tsv").read_text(encoding="utf-8").splitlines(keepends=True)[:1]
    with pytest.raises(BadInput, match="one entry of two different types"):
        Contrast().streams(with_dictionary(study, tmp_path / "one", entry), LENGTH, 0)


@pytest.mark.parametrize("sides", ["first", "both"])
def test_a_stopped_first_phase_and_the_second_after_it_end_with_the_same_bits(
    sides: Sides, study: Path, tmp_path: Path
) -> None:
    objective = PreAlign(pairs=20, anchors=sides)
    first, _ = objective.traits.start
    start = check_resumes(tmp_path / "0", Pretraining(Languages.open(study, (LANGUAGE,)), first, MODEL, TRAIN, 0), 4, 8)
    config = Pretraining(Languages.open(study, (LANGUAGE,)), objective, MODEL, TRAIN, 0, start)
    end = check_resumes(tmp_path / "1", config, 4, 8)
    assert (start / "model.safetensors").read_bytes() != (end / "model.safetensors").read_bytes()

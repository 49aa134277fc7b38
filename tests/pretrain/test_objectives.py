"""Each objective's rows and losses against a computation by hand."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn import functional as F
from transformers import RobertaForMaskedLM
from transformers.models.roberta.modeling_roberta import RobertaEmbeddings

from calque.derive.artefact import write_manifest
from calque.derive.errors import BadInput
from calque.derive.folder import KIND
from calque.derive.languages import Languages
from calque.derive.types import OURS
from calque.pretrain.batch import UNLABELLED, Rows
from calque.pretrain.distributed import one_process
from calque.pretrain.model import build
from calque.pretrain.modules import Learner
from calque.pretrain.objective import After, Objective, Stream, Sum
from calque.pretrain.objectives.align_mlm import Align, AlignMLM
from calque.pretrain.objectives.dict_mlm import DictMLM
from calque.pretrain.objectives.mlm import MLM, PackedLines
from calque.pretrain.objectives.ppa import PPA
from calque.pretrain.objectives.repel_mlm import Repel, RepelMLM
from calque.pretrain.objectives.weam import WEAM
from calque.pretrain.objectives.word_aligned import WordAligned
from calque.pretrain.objectives.xlm import TLM, XLM
from calque.pretrain.objectives.xlm_align import XLMAlign
from calque.pretrain.train import make_optimizer, train
from tests.pretrain.made import (
    DERIVED,
    LANGUAGE,
    MODEL,
    OBJECTIVES,
    PADDING,
    SENTENCES,
    SIZE,
    SOURCE,
    STILL,
    TRAIN,
    corpora,
    new_learner,
    only,
    study_facts,
    with_dictionary,
)

FIRST = len(OURS.ids)
"""The first id that is not special."""

LENGTH = STILL.length
EVERY = 40


def dictionary(languages: Languages) -> np.ndarray:
    return languages.dictionary("source", LANGUAGE)


def by_hand(model: RobertaForMaskedLM, rows: Rows) -> float:
    """Cross-entropy summed label by label over transformers' own logits."""
    with torch.no_grad():
        logits = model(
            input_ids=rows.ids,
            attention_mask=(rows.ids != OURS.pad).long(),
            token_type_ids=rows.languages if model.config.type_vocab_size > 1 else None,
            position_ids=None if rows.places is None else rows.places + OURS.pad + 1,
        ).logits.double()
    total = 0.0
    for row, place in (rows.labels != UNLABELLED).nonzero().tolist():
        scores = logits[row, place]
        total -= float(scores[rows.labels[row, place]] - scores.exp().sum().log())
    return total


def test_a_trait_that_nothing_would_read_is_refused() -> None:
    with pytest.raises(TypeError, match="Embedded: language_embeddings: expected in `traits`"):

        class Embedded(MLM):
            @property
            def language_embeddings(self) -> bool:
                return True


@pytest.mark.parametrize("objective", [MLM(), TLM(), DictMLM(), DictMLM(side="label")], ids=lambda o: o.name)
def test_prediction_losses(objective: Objective, languages: Languages) -> None:
    stream = only(objective, languages)
    learner = new_learner(objective)
    rows, counts = stream.draw(range(stream.instances)[:6], np.random.default_rng(0))
    losses = stream.losses(learner, rows)
    assert losses.keys() == counts.keys() == stream.weights.keys()
    (name,) = losses
    assert counts[name] == (rows.labels != UNLABELLED).sum() > 0
    assert float(losses[name].detach()) == pytest.approx(by_hand(learner.model, rows), rel=1e-5)


def test_alignment_loss(languages: Languages) -> None:
    stream = only(Align(alpha=7.0), languages)
    model = build(STILL, 2 * SIZE)
    batch, counts = stream.draw([], np.random.default_rng(0))
    table = model.get_input_embeddings().weight.detach().double().numpy()
    total = 0.0
    for source, derived in dictionary(languages):
        a, b = table[source], table[derived]
        total -= a @ b / np.sqrt((a @ a) * (b @ b))
    assert float(stream.losses(Learner(model, {}), batch)["align"].detach()) == pytest.approx(total, abs=1e-5)
    assert counts == {"align": len(dictionary(languages))}
    assert stream.weights == {"align": 7.0}


def test_the_alignment_gradient_is_the_dense_one_and_reaches_both_sides(languages: Languages) -> None:
    stream = only(Align(), languages)
    model = build(STILL, 2 * SIZE)
    table = model.get_input_embeddings().weight
    stream.losses(Learner(model, {}), stream.draw([], np.random.default_rng(0))[0])["align"].backward()
    ours = table.grad.to_dense()
    table.grad = None
    source, derived = torch.from_numpy(dictionary(languages)).T
    (-F.cosine_similarity(table[source], table[derived]).sum()).backward()
    torch.testing.assert_close(ours, table.grad)
    touched = ours.abs().sum(1).nonzero().squeeze(1)
    assert touched.tolist() == sorted(dictionary(languages).ravel())


def test_repulsion_is_the_positive_part_of_the_cosines_and_its_gradient_moves_similar_pairs_only(
    languages: Languages,
) -> None:
    stream = only(Repel(alpha=7.0), languages)
    model = build(STILL, 2 * SIZE)
    batch, counts = stream.draw([], np.random.default_rng(0))
    (loss,) = stream.losses(Learner(model, {}), batch).values()
    loss.backward()
    table = model.get_input_embeddings().weight
    rows, total, moved = table.detach().double().numpy(), 0.0, set[int]()
    for source, derived in dictionary(languages):
        a, b = rows[source], rows[derived]
        cosine = a @ b / np.sqrt((a @ a) * (b @ b))
        total += max(0.0, cosine)
        moved |= {source, derived} if cosine > 0 else set()
    assert 0 < len(moved) < 2 * len(dictionary(languages))
    assert float(loss.detach()) == pytest.approx(total, abs=1e-5)
    assert table.grad.to_dense().abs().sum(1).nonzero().squeeze(1).tolist() == sorted(moved)
    assert (counts, stream.weights) == ({"repel": len(dictionary(languages))}, {"repel": 7.0})


def test_repulsion_ends_with_pairs_that_are_not_similar_and_not_opposite(languages: Languages) -> None:
    learner, objective, config = new_learner(RepelMLM()), RepelMLM(), replace(TRAIN, steps=100)
    table, (source, derived) = learner.model.get_input_embeddings().weight, dictionary(languages).T
    with torch.no_grad():
        table[derived] += table[source]
    before = F.cosine_similarity(table[source], table[derived])
    streams = objective.streams(languages, LENGTH, 0)
    train(learner, make_optimizer(learner, config), streams, config, 0, one_process())
    after = F.cosine_similarity(table[source], table[derived])
    assert before.mean() > 0.6 and after.max() < 0.1 and after.mean() > -0.2


def test_shared_types_are_not_aligned(study: Path, languages: Languages, tmp_path: Path) -> None:
    """With overlapping vocabularies a type may be its own image: its cosine is 1 and says nothing."""
    entries = dictionary(languages)
    own = entries[:5, 0]
    table = languages.languages[1].table.copy()
    table[own] = own

    def changed(folder: Path, count: int) -> Languages:
        """The same languages with five types that both have, and `count` entries of the dictionary."""
        lines = [f"{a}\t{table[a]}\tw{a}\n" for a in entries[:count, 0].tolist()]
        with_dictionary(study, folder, lines)
        np.save(folder / LANGUAGE / "image.npy", table)
        write_manifest(folder, KIND, study_facts())
        return Languages.open(folder, [LANGUAGE])

    mixed = changed(tmp_path / "mixed", len(entries))
    assert only(Align(), mixed).draw([], np.random.default_rng(0))[1] == {"align": len(entries) - 5}
    with pytest.raises(BadInput, match="nothing to align"):
        only(Align(), changed(tmp_path / "own", 5))


def test_mlm_shows_every_packed_row_of_both_languages_once(languages: Languages) -> None:
    stream = only(MLM(mask_rate=0.0), languages)
    rows, _ = stream.draw(range(stream.instances), np.random.default_rng(0))
    packed = [PackedLines(language, languages.specials, LENGTH) for language in languages.languages]
    expected = [p.row(i) for p in packed for i in range(len(p))]
    assert np.array_equal(rows.ids.numpy(), np.stack(expected))
    assert rows.languages[:, 0].tolist() == [SOURCE] * len(packed[0]) + [DERIVED] * len(packed[1])
    assert stream.left_out == {"ids in an unfilled last row": sum(p.left_over for p in packed)}
    assert not rows.padded


@dataclass(frozen=True)
class Half:
    """One half of a TLM row, read back."""

    lines: list[tuple[int, ...]]
    padding: int

    @classmethod
    def read(cls, ids: list[int], languages: list[int], language: int) -> Half:
        used = ids.index(OURS.pad) if OURS.pad in ids else len(ids)
        assert ids[0] == OURS.start
        assert ids[used - 1] == OURS.end
        assert ids[used:] == [OURS.pad] * (len(ids) - used)
        assert languages == [language] * used + [PADDING] * (len(ids) - used)
        lines, line = [], []
        for i in ids[1:used]:
            if i == OURS.end:
                lines.append(tuple(line))
                line = []
            else:
                line.append(i)
        return cls(lines, len(ids) - used)


@pytest.mark.parametrize("fraction", [0.1, 0.25, 1.0])
def test_tlm_rows(languages: Languages, fraction: float) -> None:
    """Parallel lines side by side, each sampled line once, as many a row as fit, longer ones counted."""
    stream = only(TLM(fraction, mask_rate=0.0), languages)
    rows, _ = stream.draw(range(stream.instances), np.random.default_rng(0))
    half = LENGTH // 2
    assert rows.padded
    assert rows.ids.shape == rows.languages.shape == (stream.instances, 2 * half)
    pairs: Counter[tuple[tuple[int, ...], tuple[int, ...]]] = Counter()
    firsts, spare = [], []
    for ids, numbers in zip(rows.ids.tolist(), rows.languages.tolist(), strict=True):
        source = Half.read(ids[:half], numbers[:half], SOURCE)
        derived = Half.read(ids[half:], numbers[half:], DERIVED)
        pairs.update(zip(source.lines, derived.lines, strict=True))
        firsts.append((len(source.lines[0]) + 1, len(derived.lines[0]) + 1))
        spare.append((source.padding, derived.padding))
    first, second = corpora(languages)
    corpus = Counter((tuple(first[i].tolist()), tuple(second[i].tolist())) for i in range(SENTENCES))
    assert not pairs - corpus  # gold pairs, without replacement
    assert pairs.total() + stream.left_out["parallel sentences longer than half a row"] == round(fraction * SENTENCES)
    for (a, b), (room_a, room_b) in zip(firsts[1:], spare, strict=False):
        assert a > room_a or b > room_b  # the next pair did not fit


def test_tlm_positions_count_from_the_start_in_each_half(languages: Languages) -> None:
    """As RoBERTa counts the ids of a row of its own; what padding holds changes no loss."""
    stream = only(TLM(), languages)
    rows, _ = stream.draw(range(4), np.random.default_rng(0))
    assert (rows.ids == OURS.pad).any()
    model = build(STILL, 2 * SIZE, 3, 0)
    learner = Learner(model, {})
    before = stream.losses(learner, rows)["tlm"].detach()
    with torch.no_grad():
        embeddings = model.roberta.embeddings
        noise = torch.randn(STILL.hidden)
        embeddings.token_type_embeddings.weight[PADDING] += noise
        embeddings.position_embeddings.weight[OURS.pad] += noise
        halves = rows.ids.view(-1, LENGTH // 2)
        alone = RobertaEmbeddings.create_position_ids_from_input_ids(halves, OURS.pad)
        assert rows.places is not None
        assert (rows.places + OURS.pad + 1).equal(alone.view_as(rows.ids))
        most = OURS.pad + int((halves != OURS.pad).sum(1).max())
        embeddings.position_embeddings.weight[most + 1 :] += noise
        assert stream.losses(learner, rows)["tlm"].equal(before)
        embeddings.position_embeddings.weight[most] += noise
        assert not stream.losses(learner, rows)["tlm"].equal(before)


def test_longer_pairs_are_left_out_and_counted(languages: Languages) -> None:
    (short,) = TLM(1.0).streams(languages, 16, 0)
    longest = np.diff(corpora(languages)[0].lines) + 2 > 8
    assert short.left_out == {"parallel sentences longer than half a row": int(longest.sum())}
    assert longest.any()
    with pytest.raises(BadInput, match="none of"):
        TLM(1.0).streams(languages, 4, 0)


def test_dict_mlm_shows_images_and_asks_for_the_originals(languages: Languages) -> None:
    stream = only(DictMLM(), languages)
    entries = dictionary(languages).tolist()
    image = dict(entries) | {b: a for a, b in entries}
    shows: Counter[str] = Counter()
    for seed in range(EVERY):
        rows, _ = stream.draw(range(stream.instances), np.random.default_rng(seed))
        clean, languages = stream.read(range(stream.instances))  # type: ignore[attr-defined]
        shown, labels = rows.ids.numpy(), rows.labels.numpy()
        selected = labels != UNLABELLED
        assert np.array_equal(labels[selected], clean[selected])
        assert np.array_equal(shown[~selected], clean[~selected])
        for a, b, was, now in zip(
            clean[selected], shown[selected], languages[selected], rows.languages.numpy()[selected], strict=True
        ):
            known = int(a) in image
            crossed = (b >= SIZE) != (a >= SIZE) and b >= FIRST
            if crossed:
                assert b == image[int(a)]
            assert now == (1 - was if crossed else was)
            kind = "image" if crossed else "mask" if b == OURS.mask else "itself" if a == b else "random"
            shows[f"{'known' if known else 'unknown'} {kind}"] += 1
        assert np.array_equal(rows.languages.numpy()[~selected], languages[~selected])
    for known, shares in (
        ("known", {"image": 0.5, "mask": 0.4, "itself": 0.05, "random": 0.05}),
        ("unknown", {"image": 0.0, "mask": 0.4, "itself": 0.55, "random": 0.05}),
    ):
        n = sum(count for kind, count in shows.items() if kind.startswith(f"{known} "))
        for kind, share in shares.items():
            # One random replacement in SIZE is the word itself: far inside the error.
            assert abs(shows[f"{known} {kind}"] - n * share) <= 4 * np.sqrt(n * share * (1 - share)), (known, kind)


def test_dict_mlm_may_ask_for_images_instead(languages: Languages) -> None:
    stream = only(DictMLM(side="label"), languages)
    entries = dictionary(languages).tolist()
    image = dict(entries) | {b: a for a, b in entries}
    asked: Counter[str] = Counter()
    for seed in range(EVERY):
        rows, _ = stream.draw(range(stream.instances), np.random.default_rng(seed))
        clean, languages = stream.read(range(stream.instances))  # type: ignore[attr-defined]
        assert np.array_equal(rows.languages.numpy(), languages)
        selected = rows.labels.numpy() != UNLABELLED
        for a, label in zip(clean[selected].tolist(), rows.labels.numpy()[selected].tolist(), strict=True):
            assert label in (a, image.get(a))
            if a in image:
                asked["image" if label == image[a] else "word"] += 1
    n = asked.total()
    assert abs(asked["image"] - n / 2) < 4 * np.sqrt(n / 4)


def test_names_and_language_embeddings() -> None:
    assert [o.name for o in (MLM(), XLM(), DictMLM(), AlignMLM())] == ["MLM", "XLM", "DICT-MLM", "ALIGN-MLM"]
    assert [o.traits.language_embeddings for o in (MLM(), XLM(), DictMLM(), AlignMLM())] == [False, True, True, False]
    assert (XLM(0.01).name, AlignMLM(1.0).name) == ("XLM-1", "ALIGN-MLM-1")
    rates = [o.traits.mask_rate for o in (MLM(), XLM(mask_rate=0.3), Align(), AlignMLM(mask_rate=0.1))]
    assert rates == [0.15, 0.3, 0.0, 0.1]
    assert len(set(OBJECTIVES.values())) == len(OBJECTIVES)
    with pytest.raises(ValueError, match="parallel_fraction is above 0"):
        TLM(0.0)


def test_a_sum_has_the_streams_of_its_parts(languages: Languages) -> None:
    streams = Sum("all", (MLM(), TLM(), Align())).streams(languages, LENGTH, 0)
    assert [list(stream.weights) for stream in streams] == [["mlm"], ["tlm"], ["align"]]


def test_no_part_of_a_sum_begins_with_another_model() -> None:
    begun = After(AlignMLM(), MLM())
    with pytest.raises(ValueError, match="both: ALIGN-MLM-after-MLM starts from another model"):
        Sum("both", (TLM(), begun))
    assert After(Sum("both", (MLM(), Align())), MLM()).traits.start == (MLM(), 0.5)


def test_the_parts_of_a_sum_learn_from_the_same_links() -> None:
    """A model gets one kind of links: with another's a part would learn from what it did not ask for."""
    with pytest.raises(ValueError, match="not WEAM grow-diag-final-and of 25% and WORD-ALIGNED intersect of 25%"):
        Sum("both", (WEAM(), WordAligned()))
    with pytest.raises(ValueError, match="expected the same links"):
        Sum("both", (WordAligned(), WordAligned(0.5)))
    same = Sum("both", (MLM(), WEAM(links="gold"), WordAligned(links="gold")))
    assert same.traits.links == "gold" and same.traits.predicts and not same.traits.needs_start


def test_what_predicts_nothing_trains_no_prediction_head_and_is_of_no_use_to_new_weights() -> None:
    predicts = [one.traits.predicts for one in (MLM(), WEAM(), PPA(), PPA(beside=""), WordAligned())]
    assert predicts == [True, True, True, False, False]
    assert [one.traits.needs_start for one in (MLM(), PPA(beside=""), WordAligned())] == [False, False, True]
    after = After(WordAligned(), MLM())
    assert not after.traits.predicts and not after.traits.needs_start


def test_what_comes_after_a_start_is_itself_in_all_but_its_name(languages: Languages) -> None:
    then, first = XLMAlign(mask_rate=0.3, layer=3), MLM()
    begun = After(then, first, 0.25)
    assert (begun.name, begun.title) == (
        "XLM-ALIGN-dwa3-after-MLM-for-25",
        "XLM-Align, DWA at layer 3 after MLM (25 % of the steps)",
    )
    assert (After(then, first).name, After(then, first).title) == (
        "XLM-ALIGN-dwa3-after-MLM",
        "XLM-Align, DWA at layer 3 after MLM",
    )
    assert begun.traits.start == (first, 0.25)
    assert (begun.facets, begun.traits.format, begun.traits.mask_rate) == (then.facets, then.traits.format, 0.3)
    assert new_learner(begun).own.keys() == new_learner(then).own.keys() == {"pointer"}
    assert [list(stream.weights) for stream in begun.streams(languages, LENGTH, 0)] == [["mlm"], ["tlm", "dwa"]]
    both = After(then, XLMAlign(label_layer=4))
    assert both.mistakes(STILL) == [
        "DWA-label4 needs layer 4, but the model has 2",
        "DWA-dwa3 needs layer 3, but the model has 2",
    ]


def test_starts_that_cannot_be_are_refused() -> None:
    for portion in (0.0, 1.0):
        with pytest.raises(ValueError, match="portion is a fraction of the steps, between 0 and 1"):
            After(MLM(), MLM(), portion)
    begun = After(MLM(), AlignMLM())
    for then, first in ((begun, MLM()), (MLM(), begun)):
        with pytest.raises(ValueError, match="neither objective may itself start"):
            After(then, first)
    for then, first in ((XLM(), MLM()), (MLM(), XLM())):
        with pytest.raises(ValueError, match="only XLM has language embeddings"):
            After(then, first)
    assert After(XLM(), DictMLM()).traits.language_embeddings
    assert not After(AlignMLM(), MLM()).traits.language_embeddings


@given(st.integers(0, 2**32), st.sampled_from(sorted(OBJECTIVES)))
def test_a_draw_is_a_function_of_its_randomness(seed: int, name: str) -> None:
    for stream in STREAMS[name]:
        instances = range(stream.instances)[:3]
        (one, n), (same, m) = (stream.draw(instances, np.random.default_rng(seed)) for _ in range(2))
        assert n == m
        assert all(
            a.equal(b) for a, b in zip(vars(one).values(), vars(same).values(), strict=True) if torch.is_tensor(a)
        )


STREAMS: dict[str, list[Stream]] = {}


@pytest.fixture(scope="module", autouse=True)
def streams(languages: Languages) -> None:
    """Made once: hypothesis runs a test many times, and a fixture of its own would be made once for all."""
    STREAMS.update({name: objective.streams(languages, MODEL.length, 0) for name, objective in OBJECTIVES.items()})

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from calque.derive.vocabulary import OURS
from calque.pretrain.batch import UNLABELLED
from calque.pretrain.model import build
from calque.pretrain.modules import Learner
from calque.pretrain.objective import HeadOnly, Sum
from calque.pretrain.objectives.dictionary import Align, Repel
from calque.pretrain.objectives.linked_words import WEAM, WordAligned
from calque.pretrain.objectives.mlm import MLM, DictMLM, PackedLines
from calque.pretrain.objectives.xlm import TLM, XLM, XLMAlign
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
    fit,
    new_learner,
    only,
)

FIRST = len(OURS.ids)

LENGTH = STILL.length
EVERY = 40


def dictionary(languages):
    return languages.dictionary("source", LANGUAGE)


def images(languages):
    entries = dictionary(languages).tolist()
    return dict(entries) | {b: a for a, b in entries}


def drawn(stream):
    """Every row of a stream, drawn with many seeds, with the ids and languages that were read."""
    for seed in range(EVERY):
        rows, _ = stream.draw(range(stream.instances), np.random.default_rng(seed))
        yield rows, *stream.read(range(stream.instances))


def by_hand(model, rows):
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


@pytest.mark.parametrize("objective", [MLM(), TLM(), DictMLM()], ids=lambda x: x.name)
def test_prediction_losses(objective, languages):
    stream = only(objective, languages)
    learner = new_learner(objective)
    rows, counts = stream.draw(range(stream.instances)[:6], np.random.default_rng(0))
    losses = stream.losses(learner, rows)
    assert losses.keys() == counts.keys() == stream.weights.keys()
    (name,) = losses
    assert counts[name] == (rows.labels != UNLABELLED).sum() > 0
    assert float(losses[name].detach()) == pytest.approx(by_hand(learner.model, rows), rel=1e-5)


@pytest.mark.parametrize(("objective", "name"), [(Align(alpha=7.0), "align"), (Repel(alpha=7.0), "repel")])
def test_losses_of_entries(objective, name, languages):
    stream, model = only(objective, languages), build(STILL, 2 * SIZE)
    batch, counts = stream.draw([], np.random.default_rng(0))
    (loss,) = stream.losses(Learner(model, {}), batch).values()
    loss.backward()
    table = model.get_input_embeddings().weight
    rows, total, moved = table.detach().double().numpy(), 0.0, set()
    for source, derived in dictionary(languages):
        a, b = rows[source], rows[derived]
        cosine = a @ b / np.sqrt((a @ a) * (b @ b))
        total += -cosine if name == "align" else max(0.0, cosine)
        moved |= {source, derived} if name == "align" or cosine > 0 else set()
    assert (len(moved) == 2 * len(dictionary(languages))) == (name == "align")  # others are dissimilar
    assert float(loss.detach()) == pytest.approx(total, abs=1e-5)
    assert table.grad.to_dense().abs().sum(1).nonzero().squeeze(1).tolist() == sorted(moved)
    assert (counts, stream.weights) == ({name: len(dictionary(languages))}, {name: 7.0})


def test_mlm_shows_every_packed_row_once(languages):
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
    lines: list[tuple[int, ...]]
    padding: int

    @classmethod
    def read(cls, ids, languages, language):
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
def test_tlm_rows(languages, fraction):
    stream = only(TLM(fraction, mask_rate=0.0), languages)
    rows, _ = stream.draw(range(stream.instances), np.random.default_rng(0))
    half = LENGTH // 2
    assert rows.padded
    assert rows.ids.shape == rows.languages.shape == (stream.instances, 2 * half)
    pairs = Counter()
    firsts, spare = [], []
    for ids, numbers in zip(rows.ids.tolist(), rows.languages.tolist(), strict=True):
        source = Half.read(ids[:half], numbers[:half], SOURCE)
        derived = Half.read(ids[half:], numbers[half:], DERIVED)
        pairs.update(zip(source.lines, derived.lines, strict=True))
        firsts.append((len(source.lines[0]) + 1, len(derived.lines[0]) + 1))
        spare.append((source.padding, derived.padding))
    first, second = corpora(languages)
    corpus = Counter((tuple(first[i].tolist()), tuple(second[i].tolist())) for i in range(SENTENCES))
    assert not pairs - corpus
    assert pairs.total() + stream.left_out["parallel sentences longer than half a row"] == round(
        fraction * SENTENCES
    )
    for (a, b), (room_a, room_b) in zip(firsts[1:], spare, strict=False):
        assert a > room_a or b > room_b  # the next pair did not fit


def test_dict_mlm_shows_images_and_predicts_originals(languages):
    stream = only(DictMLM(), languages)
    image = images(languages)
    shows = Counter()
    for rows, clean, languages in drawn(stream):
        shown, labels = rows.ids.numpy(), rows.labels.numpy()
        selected = labels != UNLABELLED
        assert np.array_equal(labels[selected], clean[selected])
        assert np.array_equal(shown[~selected], clean[~selected])
        columns = (clean, shown, languages, rows.languages.numpy())
        for a, b, was, now in zip(*(column[selected] for column in columns), strict=True):
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
            assert abs(shows[f"{known} {kind}"] - n * share) <= 4 * np.sqrt(n * share * (1 - share))


@given(st.integers(0, 2**32), st.sampled_from(sorted(OBJECTIVES)))
@settings(max_examples=30)
def test_draws_depend_only_on_their_random_stream(languages, seed, name):
    for stream in OBJECTIVES[name].streams(languages, MODEL.length, 0):
        instances = range(stream.instances)[:3]
        (one, n), (same, m) = (stream.draw(instances, np.random.default_rng(seed)) for _ in range(2))
        assert n == m
        pairs = zip(vars(one).values(), vars(same).values(), strict=True)
        assert all(a.equal(b) for a, b in pairs if torch.is_tensor(a))


BOTH = HeadOnly(XLMAlign())


@pytest.mark.parametrize("summand", [WordAligned(), WordAligned(0.5, links="gold")])
def test_sums_of_different_links_are_rejected(summand):
    with pytest.raises(ValueError, match="use the same links"):
        Sum("both", (WEAM(links="gold"), summand))


def test_sums_link_the_pairs_of_the_part_with_links():
    traits = Sum("both", (XLM(0.5), WordAligned(0.25))).traits
    assert (traits.links, traits.parallel_share, traits.needs_start) == ("intersect", 0.25, False)


def test_head_only_training_keeps_the_encoder(languages):
    learner, before = new_learner(BOTH), new_learner(BOTH).model.state_dict()
    config = replace(TRAIN, weight_decay=0.1)
    streams = BOTH.streams(languages, STILL.length, 0)
    fit(learner, streams, config)
    after = learner.model.state_dict()
    moved = {name for name in before if not torch.equal(before[name], after[name])}
    assert moved == {name for name in before if name.startswith("lm_head.")} - {"lm_head.decoder.weight"}
    assert {name.split(".")[0] for name in learner.trained} == {"model", "own"}

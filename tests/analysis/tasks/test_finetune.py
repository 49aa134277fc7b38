import random
from itertools import pairwise, product

import numpy as np
import pytest
import torch
import transformers
from hypothesis import given
from hypothesis import strategies as st
from torch.nn.utils.rnn import pad_sequence
from transformers import RobertaForMaskedLM, RobertaForTokenClassification

from calque.analysis.records.record import MeasuredModel
from calque.analysis.tasks.task import Head, TaskRow, TextHead
from calque.analysis.tasks.transfer import FinetuneConfig, finetune, pieces
from calque.derive.vocabulary import OURS
from calque.pretrain.batch import UNLABELLED
from calque.pretrain.model import row_length
from calque.pretrain.saved_model import read_config
from calque.pretrain.train import NonFinite

FIRST = len(OURS.ids)

V, C = 40, 5
QUICK = FinetuneConfig(learning_rate=3e-3, epochs=1, batch=16)


WORDS, TEXT = Head(), TextHead()


def toy(rows, head=WORDS, language=0, seed=0, shortest=2):
    """Rows of random words. A word's label is its id modulo C, a row's that of its first word."""
    draw = random.Random(seed)
    made = []
    for _ in range(rows):
        ids = np.array(
            [OURS.start, *(draw.randrange(FIRST, V) for _ in range(draw.randint(shortest, 14))), OURS.end],
            np.int32,
        )
        words = np.where(ids >= FIRST, ids % C, UNLABELLED)
        made.append(TaskRow(ids, words if head is WORDS else words[1:2], language=language))
    return made


def tuned_on(checkpoint, rows, head, config, seed):
    return finetune(MeasuredModel(checkpoint, "run", seed=seed), rows, head, C, config)


def logits(model, data):
    model.model.eval()
    with torch.inference_mode():
        return model.logits(data)


@pytest.fixture(scope="module")
def checkpoint(make_checkpoint):
    return make_checkpoint(V)


@pytest.mark.parametrize("head", [WORDS, TEXT])
@pytest.mark.parametrize("languages", [1, 3])
def test_logits_do_not_depend_on_the_batch(make_checkpoint, head, languages):
    data = toy(12, head, language=1)
    model = tuned_on(make_checkpoint(V, languages), data, head, QUICK, 0)
    together = logits(model, data)
    for number, row in enumerate(data):
        model.model.eval()
        with torch.inference_mode():
            alone = model.logits([row])[0]
        torch.testing.assert_close(together[number, : len(row.targets)], alone, atol=1e-5, rtol=0)


def test_seeds_determine_the_bits(checkpoint):
    data = toy(64)
    torch.manual_seed(1)
    a = tuned_on(checkpoint, data, WORDS, QUICK, 0)
    torch.manual_seed(2)
    b = tuned_on(checkpoint, data, WORDS, QUICK, 0)
    other = tuned_on(checkpoint, data, WORDS, QUICK, 1)
    weights, again, changed = a.model.state_dict(), b.model.state_dict(), other.model.state_dict()
    assert all(torch.equal(weight, again[name]) for name, weight in weights.items())
    assert not torch.equal(weights["classifier.weight"], changed["classifier.weight"])


def test_one_step_is_transformers_own_loss_and_adamw(checkpoint):
    data = toy(8)
    config = FinetuneConfig(learning_rate=1e-3, epochs=1, batch=8, warmup=0.0, dropout=0.0)
    ours = tuned_on(checkpoint, data, WORDS, config, 3)
    torch.manual_seed(3)
    kept = RobertaForTokenClassification.from_pretrained(checkpoint, num_labels=C, hidden_dropout_prob=0.0)
    still = FinetuneConfig(learning_rate=1e-30, epochs=1, batch=8, dropout=0.0)
    start = tuned_on(checkpoint, data, WORDS, still, 3)
    kept.load_state_dict(start.model.state_dict())
    ids, labels = (
        pad_sequence([torch.from_numpy(getattr(row, column)).long() for row in data], True, filler)
        for column, filler in (("ids", OURS.pad), ("targets", UNLABELLED))
    )
    loss = kept(input_ids=ids, attention_mask=(ids != OURS.pad).long(), labels=labels).loss
    loss.backward()
    torch.nn.utils.clip_grad_norm_(kept.parameters(), 1.0)
    torch.optim.AdamW(kept.parameters(), lr=1e-3, weight_decay=0.0).step()
    # AdamW's first step is the sign of the gradient where there is one, so rounding shows where it is almost
    # none.
    for (name, weight), own in zip(kept.named_parameters(), ours.model.parameters(), strict=True):
        assert weight.grad is not None, name
        large = weight.grad.abs() > 1e-4
        assert large.any() != name.endswith("key.bias"), name  # the softmax is invariant to a key's bias
        assert not large.any() or (weight - own)[large].abs().max() < 1e-6, name


def test_non_finite_loss_stops_fine_tuning(checkpoint, tmp_path):
    model = RobertaForMaskedLM.from_pretrained(checkpoint)
    with torch.no_grad():
        model.roberta.encoder.layer[0].output.dense.weight.fill_(3e38)  # overflows
    model.save_pretrained(tmp_path)
    with pytest.raises(NonFinite, match="step 1"):
        tuned_on(tmp_path, toy(8), WORDS, QUICK, 0)


@pytest.mark.parametrize("head", [WORDS, TEXT])
@pytest.mark.parametrize("kind", ["Bert", "XLMRoberta"])
def test_other_architectures_are_fine_tuned(tmp_path, kind, head):
    """BERT counts positions from 0, has two token types that are not languages, and a randomly initialised
    pooler."""
    config = getattr(transformers, f"{kind}Config")(
        vocab_size=V, hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=64,
        max_position_embeddings=18, pad_token_id=OURS.pad, initializer_range=0.1,
    )  # fmt: skip
    torch.manual_seed(0)
    getattr(transformers, f"{kind}ForMaskedLM")(config).save_pretrained(tmp_path)
    assert row_length(read_config(tmp_path)) == (18 if kind == "Bert" else 16)
    data = toy(200, head, language=1)
    tuned = tuned_on(tmp_path, data, head, FinetuneConfig(learning_rate=5e-3, epochs=8, batch=16), 0)
    answers = zip(data, tuned.answers(data), strict=True)
    hits = [(answer[: len(row.targets)] == row.targets)[row.targets != UNLABELLED] for row, answer in answers]
    assert np.concatenate(hits).mean() > 0.9


@given(st.lists(st.integers(1, 40), min_size=1, max_size=9), st.integers(0, 60))
def test_pieces_are_the_cheapest_of_all_ways_to_cut(lengths, each):
    rows = [TaskRow(np.zeros(length, np.int64), np.zeros(1, np.int64)) for length in lengths]

    def cost(made):
        return sum(len(piece) * max(piece) + each for piece in made)

    made = pieces(rows, each)
    assert sorted(id(row) for piece in made for row in piece) == sorted(map(id, rows))
    if len(made) == 1:
        assert made == [rows]
    ordered = sorted(lengths)
    ways = []
    for cuts in product((False, True), repeat=len(lengths) - 1):
        ends = [0, *(place for place, cut in enumerate(cuts, start=1) if cut), len(lengths)]
        ways.append([ordered[begin:end] for begin, end in pairwise(ends)])
    assert cost([[len(row.ids) for row in piece] for piece in made]) == min(map(cost, ways))


@pytest.mark.parametrize("head", [WORDS, TEXT])
def test_training_does_not_depend_on_pieces(checkpoint, head, monkeypatch):
    data = toy(48, head)
    config = FinetuneConfig(learning_rate=1e-3, epochs=2, batch=16, dropout=0.0)
    whole = tuned_on(checkpoint, data, head, config, 0)
    monkeypatch.setattr("calque.analysis.tasks.transfer.PIECE", 1)
    assert len(pieces(data[:16], 1 / 16**2)) > 3
    cut = tuned_on(checkpoint, data, head, config, 0)
    assert any(
        not torch.equal(a, b) for a, b in zip(whole.model.parameters(), cut.model.parameters(), strict=True)
    )
    torch.testing.assert_close(logits(cut, data), logits(whole, data), atol=2e-4, rtol=0)


@pytest.mark.parametrize("shortest", [9, 3])
@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("kind", ["Roberta", "XLMRoberta", "Bert"])
def test_text_head_equals_transformers(kind, layers, shortest):
    config = getattr(transformers, f"{kind}Config")(
        vocab_size=50, hidden_size=16, num_hidden_layers=layers, num_attention_heads=2, intermediate_size=32,
        max_position_embeddings=20, pad_token_id=1, initializer_range=0.3, num_labels=3, type_vocab_size=2,
        hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0, classifier_dropout=0.0,
    )  # fmt: skip
    torch.manual_seed(layers)
    model = getattr(transformers, TextHead.auto).from_config(config, attn_implementation="sdpa")
    real = torch.arange(9) < torch.tensor([9, shortest, 5 if shortest < 9 else 9])[:, None]
    ids = torch.randint(5, 50, (3, 9)).where(real, 1)
    types = torch.zeros_like(ids)

    def gradients(logits):
        model.zero_grad()
        torch.nn.functional.cross_entropy(logits, torch.tensor([0, 2, 1])).backward()
        return [torch.zeros_like(p) if p.grad is None else p.grad for p in model.parameters()]

    ours = TextHead().logits(model, ids, types, real)[:, 0]
    theirs = model(input_ids=ids, attention_mask=real.long(), token_type_ids=types).logits
    torch.testing.assert_close(ours, theirs, rtol=1e-5, atol=1e-6)
    for a, b in zip(gradients(ours), gradients(theirs), strict=True):
        torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-6)

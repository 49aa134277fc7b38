import pytest
from hypothesis import given
from hypothesis import strategies as st

from pretrain.config import ModelConfig, TrainConfig


@given(st.integers(1, 500), st.data())
def test_the_rate_rises_over_the_warm_up_and_falls_linearly_to_zero(steps: int, data: st.DataObject) -> None:
    warmup = data.draw(st.integers(0, steps - 1))
    config = TrainConfig(steps=steps, warmup=warmup, learning_rate=1e-3)
    rates = [config.rate(step) for step in range(steps)]
    assert all(0 < rate <= 1e-3 * (1 + 1e-12) for rate in rates)
    assert rates[:warmup] == sorted(rates[:warmup])
    assert rates[warmup:] == sorted(rates[warmup:], reverse=True)
    assert rates[warmup] == 1e-3
    assert rates[-1] == pytest.approx(1e-3 / (steps - warmup))


def test_the_defaults_are_the_papers() -> None:
    model, train = ModelConfig(), TrainConfig()
    assert (model.layers, model.heads, model.hidden, model.ffn, model.length) == (8, 8, 512, 2048, 512)
    assert (train.steps, train.batch, train.learning_rate, train.warmup) == (500_000, 128, 1e-4, 10_000)
    assert model.mistakes() == train.mistakes() == []


def test_all_mistakes_are_named_at_once() -> None:
    model = ModelConfig(layers=0, hidden=30, heads=4, length=2, dropout=1.0, initializer_range=0)
    said = "\n".join(model.mistakes())
    for name in ("layers", "multiple of heads", "length", "dropout", "initializer_range"):
        assert name in said
    train = TrainConfig(steps=10, warmup=10, batch=0, learning_rate=0, weight_decay=-1, log_every=3, save_every=4)
    said = "\n".join(train.mistakes())
    for name in ("warmup", "batch", "learning_rate", "weight_decay", "multiple of log_every"):
        assert name in said

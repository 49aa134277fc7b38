"""Tests of MyObjective on 300 sentences of Pocket English in a new script."""

import pytest
from torch import Tensor

from calque.derive.build import derive_languages
from calque.derive.dictionary import DictionaryConfig
from calque.derive.languages import Languages
from calque.derive.pocket.language import Pocket
from calque.derive.script import Transliterate
from calque.derive.sources.pocket import PocketEnglish
from calque.experiments.templates.my_objective import MyObjective, my_objective
from calque.pretrain.config import ModelConfig
from calque.pretrain.model import build
from calque.pretrain.modules import Learner
from calque.pretrain.train import Draws

MODEL = ModelConfig(layers=1, heads=2, hidden=16, ffn=32, length=32, dropout=0.0)
OBJECTIVE = MyObjective(mask_rate=0.3)


@pytest.fixture(scope="module")
def languages(tmp_path_factory: pytest.TempPathFactory) -> Languages:
    """Pocket English and its transliteration."""
    folder = tmp_path_factory.mktemp("toy")
    source = PocketEnglish(Pocket(types=300), size=300)
    derive_languages(
        source, [Transliterate()], 400, DictionaryConfig(), folder / "languages", folder / "cache"
    )
    return Languages.open(folder / "languages", ["trans"])


@pytest.fixture
def draws(languages: Languages) -> Draws:
    """The batches of each step."""
    return Draws(OBJECTIVE.streams(languages, MODEL.length, seed=0), batch=8, seed=0)


@pytest.fixture
def learner(languages: Languages) -> Learner:
    """A new model with the objective's own modules."""
    return OBJECTIVE.learner(build(MODEL, languages.rows), seed=0)


def losses(learner: Learner, draws: Draws, step: int) -> dict[str, Tensor]:
    """The mean of each loss term, times its weight."""
    batches, counts = draws.at(step)
    return {
        name: stream.weights[name] * loss / counts[name]
        for stream, batch in zip(draws.streams, batches, strict=True)
        for name, loss in stream.losses(learner, batch).items()
    }


def test_every_term_has_a_gradient(learner: Learner, draws: Draws) -> None:
    for name, loss in losses(learner, draws, 0).items():
        learner.zero_grad()
        loss.backward()
        gradients = [p.grad for p in learner.parameters() if p.grad is not None]
        assert any(gradient.abs().sum() > 0 for gradient in gradients), name
        assert all(gradient.isfinite().all() for gradient in gradients), name


def test_its_study_is_valid() -> None:
    assert my_objective().mistakes() == []

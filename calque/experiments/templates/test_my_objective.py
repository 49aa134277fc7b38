"""A test of MyObjective on 300 sentences of Pocket English in a new script."""

from pathlib import Path

from calque.derive.build import derive_languages
from calque.derive.dictionary import DictionaryConfig
from calque.derive.languages import Languages
from calque.derive.pocket.language import Pocket
from calque.derive.script import Transliterate
from calque.derive.sources.pocket import PocketEnglish
from calque.experiments.templates.my_objective import MyObjective, my_objective
from calque.pretrain.config import ModelConfig
from calque.pretrain.model import build
from calque.pretrain.train import Draws

MODEL = ModelConfig(layers=1, heads=2, hidden=16, ffn=32, length=32, dropout=0.0)
SOURCE = PocketEnglish(Pocket(types=300), size=300)


def test_every_term_has_a_gradient(tmp_path: Path) -> None:
    objective, folder = MyObjective(mask_rate=0.3), tmp_path / "languages"
    derive_languages(SOURCE, [Transliterate()], 400, DictionaryConfig(), folder, tmp_path / "cache")
    languages = Languages.open(folder, ["trans"])
    learner = objective.learner(build(MODEL, languages.rows), seed=0)
    draws = Draws(objective.streams(languages, MODEL.length, seed=0), batch=8, seed=0)
    batches, counts = draws.at(0)
    for stream, batch in zip(draws.streams, batches, strict=True):
        for name, loss in stream.losses(learner, batch).items():
            learner.zero_grad()
            (loss / counts[name]).backward()
            gradients = [p.grad for p in learner.parameters() if p.grad is not None]
            assert any(gradient.abs().sum() > 0 for gradient in gradients), name
            assert all(gradient.isfinite().all() for gradient in gradients), name


def test_its_study_is_valid() -> None:
    assert my_objective().mistakes() == []

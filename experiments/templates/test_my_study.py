"""Tests that the study's settings are consistent and that its models can be planned."""

from pathlib import Path

from calque.experiments.plan import describe
from calque.experiments.settings.validation import study_mistakes
from calque.experiments.study.languages import DerivedLanguages
from calque.experiments.templates.my_study import my_study


def test_its_values_fit_together() -> None:
    assert study_mistakes(my_study()) == []


def test_it_plans_a_model_for_each_objective_language_and_seed() -> None:
    study = my_study()
    assert isinstance(study.languages, DerivedLanguages)
    models = study.models(Path("runs"))
    assert len(models) == len(study.objectives) * len(study.languages.transforms) * len(study.seeds)
    assert study.name in describe(study, jobs=1)

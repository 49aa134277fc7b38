"""The lesson: its study measures models that are trained, and its files are copied whole."""

from pathlib import Path

import pytest

from calque.derive.errors import BadInput
from calque.experiments.lessons import HERE, copy
from calque.experiments.names import study


def test_the_models_of_the_study_are_shipped() -> None:
    lesson = study("lesson")
    runs = [step.config for step in lesson.trained()]
    assert len(runs) == len(lesson.seeds) * len(lesson.objectives) == 8
    assert all(run.shipped for run in runs)


def test_the_files_are_copied_once(tmp_path: Path) -> None:
    to = tmp_path / "class" / "lesson"
    places = copy(to)
    assert places and all(place.read_bytes() == (HERE / place.name).read_bytes() for place in places)
    with pytest.raises(BadInput):
        copy(to)

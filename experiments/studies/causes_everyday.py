"""The study `causes` on real short sentences."""

from calque.experiments.studies.causes import interventions_of
from calque.experiments.studies.everyday import everyday
from calque.experiments.study import Study

TIME = "not run"


def causes_everyday() -> Study:
    """The question of `causes` on the short sentences of Everyday English, five seeds that `everyday` does not use."""
    return interventions_of(everyday(), "causes_everyday")

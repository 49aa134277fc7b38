"""A study and its parts: languages, models, tasks and measures."""

from calque.experiments.study.study import Study

__all__ = ["Study"]

"""Extractive question answering."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from analysis.tasks.questions import Questions


@dataclass(frozen=True)
class QA(Questions):
    """Questions of whatever origin, scored as SQuAD v1.1 is."""

    name: ClassVar[str] = "qa"
    title: ClassVar[str] = "QA"

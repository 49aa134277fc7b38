"""XQuAD (Artetxe et al. 2020): questions and paragraphs of SQuAD's dev set, translated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from analysis.tasks.questions import Questions


@dataclass(frozen=True)
class XQuAD(Questions):
    """Scored as SQuAD v1.1 is, in every language."""

    name: ClassVar[str] = "xquad"
    title: ClassVar[str] = "XQuAD"

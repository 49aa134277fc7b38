"""TyDiQA-GoldP (Clark et al. 2020): questions of speakers of each language, and the passage that answers them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from analysis.tasks.questions import Questions


@dataclass(frozen=True)
class TyDiQA(Questions):
    """Scored as SQuAD v1.1 is, in every language."""

    name: ClassVar[str] = "tydiqa"
    title: ClassVar[str] = "TyDiQA"

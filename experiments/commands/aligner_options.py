"""What the options of `calque align` ask for, checked, and the aligner that it comes to."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from derive.errors import BadInput

if TYPE_CHECKING:
    from derive.links.aligner import Aligner
    from derive.links.fast_align import StatisticalAligner
    from derive.readers.parallel import TwoFiles


class Way(StrEnum):
    """Alignment methods: the first learns from sentence pairs, the others use an encoder."""

    FAST_ALIGN = "fast-align"
    OT = "ot"
    ARGMAX = "argmax"
    ITERMAX = "itermax"
    MATCH = "match"
    ARGMAX_CENTRED = "argmax-centred"
    XLM_ALIGN = "xlm-align"


class Similarity(StrEnum):
    """Similarities of hidden states."""

    PRODUCTS = "products"
    COSINE = "cosine"
    CENTRED = "centred"


class Plan(StrEnum):
    """What becomes of a similarity before links are read."""

    DIRECT = "direct"
    TRANSPORT = "transport"


class Rule(StrEnum):
    """Rules by which links are read."""

    ARGMAX = "argmax"
    ITERMAX = "itermax"
    MATCH = "match"


class Precision(StrEnum):
    """What an encoder computes with."""

    FLOAT32 = "float32"
    BFLOAT16 = "bfloat16"


class Symmetrise(StrEnum):
    """Symmetrisations of fast-align's two directions."""

    UNION = "union"
    INTERSECT = "intersect"
    GROW_DIAG = "grow-diag"
    GROW_DIAG_FINAL = "grow-diag-final"
    GROW_DIAG_FINAL_AND = "grow-diag-final-and"


@dataclass(frozen=True)
class AlignerOptions:
    """The options by which an aligner is chosen, as they were given; None, false and "" are those that were not."""

    method: Way | None = None
    model: str | None = None
    symmetrise: Symmetrise | None = None
    save: Path | None = None
    similarity: Similarity | None = None
    plan: Plan | None = None
    rule: Rule | None = None
    layer: int | None = None
    joint: bool = False
    precision: Precision | None = None
    device: str | None = None

    def check(self) -> None:
        """Refuse options that do not go together, before anything is read.

        Raises:
            BadInput: naming them.
        """
        of_encoders = {
            "--similarity": self.similarity,
            "--plan": self.plan,
            "--rule": self.rule,
            "--layer": None if self.layer is None else str(self.layer),
            "--joint": self.joint,
            "--precision": self.precision,
            "--device": self.device,
        }
        given = " and ".join(option for option, value in of_encoders.items() if value)
        if self.model is None and self.method not in (None, Way.FAST_ALIGN):
            raise BadInput(f"{self.method} needs an encoder: name one with --model")
        if self._statistical:
            if given:
                raise BadInput(f"fast-align has no encoder: leave out {given}")
            if self.method not in (None, Way.FAST_ALIGN):
                raise BadInput(f"{self.model} holds what fast-align learnt; {self.method} needs an encoder")
            if self.save and self.model is not None:
                raise BadInput(f"--save is for what is learnt now; {self.model} is saved already")
            self._check_save()
            return
        if self.method is Way.FAST_ALIGN:
            raise BadInput(f"no aligner that fast-align saved is in {self.model}; without --model it learns one")
        if self.symmetrise:
            raise BadInput("an encoder has one direction only: leave out --symmetrise")
        if self.save:
            raise BadInput("--save is for what fast-align learns; an encoder is a folder already")
        if self.method is Way.XLM_ALIGN and (self.similarity or self.plan or self.rule):
            raise BadInput("xlm-align is a rule of its own: leave out --similarity, --plan and --rule")

    def aligner(self, pairs: TwoFiles) -> Aligner:
        """The aligner that is asked for; fast-align learns from the pairs where it is not a saved one.

        Raises:
            BadInput: the model is missing or damaged, or there is no pair to learn from.
        """
        if self._statistical:
            return self._fast_align(pairs)
        from analysis.aligners.methods import asked
        from analysis.aligners.similarity import EncoderAligner
        from pretrain.hub import model_folder

        return EncoderAligner.open(
            model_folder(self.model or ""),
            asked(self.method, self.similarity, self.plan, self.rule),
            self.layer,
            joint=self.joint,
            device=self.device or "cpu",
            precision=(self.precision or Precision.FLOAT32).value,
        )

    @property
    def _statistical(self) -> bool:
        from derive.links.fast_align import is_saved

        return self.model is None or is_saved(Path(self.model))

    def _fast_align(self, pairs: TwoFiles) -> StatisticalAligner:
        from derive.files import claimed
        from derive.links.fast_align import StatisticalAligner
        from derive.links.symmetrise import SYMMETRISATIONS

        if self.model is not None:
            opened = StatisticalAligner.open(Path(self.model))
            return replace(opened, symmetrisation=SYMMETRISATIONS[self.symmetrise]) if self.symmetrise else opened
        rule = SYMMETRISATIONS[self.symmetrise or Symmetrise.GROW_DIAG_FINAL_AND]
        if self.save is None:
            return StatisticalAligner.train(pairs, rule)
        with claimed(self.save):
            made = StatisticalAligner.train(pairs, rule)
            made.save(self.save)
        return made

    def _check_save(self) -> None:
        """Refuse to replace anything but a saved aligner."""
        from derive.artefact import Artefact
        from derive.links.fast_align import KIND, is_saved

        if self.save is None:
            return
        if self.save.name in ("", ".."):
            raise BadInput("expected the name of a new folder", self.save)
        if not self.save.exists():
            return
        if not self.save.is_dir() or (any(self.save.iterdir()) and not is_saved(self.save)):
            raise BadInput("there is something else; expected the name of a new folder", self.save)
        if is_saved(self.save):
            Artefact.open(self.save, KIND)

"""`calque align`: the word links of two files of sentences."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from derive.errors import BadInput
from derive.readers.parallel import TwoFiles
from experiments.commands.options import FromOne, Sentences, Translations, check_out
from experiments.signals import leaving

if TYPE_CHECKING:
    from derive.links.aligner import Aligner
    from derive.links.fast_align import StatisticalAligner
    from derive.readers.links import Gold

T = TypeVar("T")
# fast-align learns from sentence pairs, the other methods use an encoder.
Way = StrEnum(
    "Way",
    [
        ("FAST_ALIGN", "fast-align"),
        ("OT", "ot"),
        ("ARGMAX", "argmax"),
        ("ITERMAX", "itermax"),
        ("MATCH", "match"),
        ("ARGMAX_CENTRED", "argmax-centred"),
        ("XLM_ALIGN", "xlm-align"),
    ],
)
Similarity = StrEnum("Similarity", ["PRODUCTS", "COSINE", "CENTRED"])
Plan = StrEnum("Plan", ["DIRECT", "TRANSPORT"])
Rule = StrEnum("Rule", ["ARGMAX", "ITERMAX", "MATCH"])
Precision = StrEnum("Precision", ["FLOAT32", "BFLOAT16"])
Symmetrise = StrEnum(
    "Symmetrise",
    [
        ("UNION", "union"),
        ("INTERSECT", "intersect"),
        ("GROW_DIAG", "grow-diag"),
        ("GROW_DIAG_FINAL", "grow-diag-final"),
        ("GROW_DIAG_FINAL_AND", "grow-diag-final-and"),
    ],
)


def align(
    source: Sentences,
    target: Translations,
    method: Annotated[
        Way | None, typer.Option(help="Alignment method; default: fast-align, or argmax-centred with an encoder.")
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            help="Encoder: a folder as transformers saves it, or NAME@COMMIT on the Hugging Face hub; "
            "or what --save wrote."
        ),
    ] = None,
    save: Annotated[
        Path | None, typer.Option(help="A folder to save what fast-align learns, for --model with other text.")
    ] = None,
    similarity: Annotated[
        Similarity | None, typer.Option(help="Similarity of hidden states, in place of the method's.")
    ] = None,
    plan: Annotated[
        Plan | None, typer.Option(help="Read links from the similarity itself, or from optimal transport.")
    ] = None,
    rule: Annotated[Rule | None, typer.Option(help="Rule by which links are read, in place of the method's.")] = None,
    layer: Annotated[
        int | None, typer.Option(help="Encoder layer (0 = embeddings); default: two thirds of the way up.")
    ] = None,
    joint: Annotated[bool, typer.Option("--joint", help="Encode a pair as one row, not each side alone.")] = False,
    symmetrise: Annotated[
        Symmetrise | None,
        typer.Option(help="Symmetrisation of fast-align's two directions; default: grow-diag-final-and."),
    ] = None,
    scores: Annotated[bool, typer.Option("--scores", help="Write links as 0-2:0.87.")] = False,
    out: Annotated[Path | None, typer.Option(help="The file to write; without it, links are printed.")] = None,
    draw: Annotated[
        int | None,
        typer.Option(min=1, help="A line whose pair to draw too, as NAME-pair-LINE.png and .svg beside --out NAME."),
    ] = None,
    gold: Annotated[
        Path | None,
        typer.Option(help="Gold links, as `calque aer` reads: print the error rate, outline them in --draw."),
    ] = None,
    from_one: FromOne = None,
    precision: Annotated[
        Precision | None, typer.Option(help="What the encoder computes with; bfloat16 is fast where it has units.")
    ] = None,
    device: Annotated[str | None, typer.Option(help="Device of the encoder, such as cuda; default: cpu.")] = None,
) -> None:
    """Link the words of sentences and their translations, in Pharaoh's format: `0-0 1-2`, places from 0."""
    from analysis.measures.aer import lengths
    from derive.readers.links import read_gold, read_links
    from experiments.commands.aer import check_shift, report

    options = AlignerOptions(method, model, symmetrise, save, similarity, plan, rule, layer, joint, precision, device)
    options.check()
    if from_one is not None and gold is None:
        raise BadInput("--from-one and --from-zero are about gold links: name them with --gold")
    pairs = TwoFiles(source, target)
    _check(pairs, out, draw, gold)
    gold_links = None if gold is None else read_gold(gold, lengths(pairs), from_one=from_one)
    with leaving(f"{out} is as it was") if out else nullcontext():
        aligner = options.aligner(pairs)
        _write(pairs, aligner, scores, out)
    for what, count in pairs.counts.items():
        typer.echo(f"{count:,} {what}", err=True)
    for line in aligner.left_out.described():
        typer.echo(f"without links: {line}", err=True)
    if out is not None and gold_links is not None and gold is not None:
        predicted = list(read_links(out))
        check_shift(gold_links, predicted, gold, out, declared=True)
        report(gold_links, predicted, gold, out.name)
    if out is not None and draw is not None:
        _draw(pairs, draw, aligner, out, gold_links)


@dataclass(frozen=True)
class AlignerOptions:
    """The options by which an aligner is chosen; None, false and "" are those that were not given."""

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
        """Refuse options that do not go together, before anything is read."""
        of_encoders = ("similarity", "plan", "rule", "layer", "joint", "precision", "device")
        values = {f"--{name}": getattr(self, name) for name in of_encoders}
        given = " and ".join(name for name, value in values.items() if value not in (None, "") and value is not False)
        if self.model is None and self.method not in (None, Way.FAST_ALIGN):
            raise BadInput(f"{self.method} needs an encoder: name one with --model")
        if self._statistical:
            if given:
                raise BadInput(f"fast-align has no encoder: leave out {given}")
            if self.method not in (None, Way.FAST_ALIGN):
                raise BadInput(f"{self.model} holds what fast-align learnt; {self.method} needs an encoder")
            if self.save and self.model is not None:
                raise BadInput(f"--save is for what is learnt now; {self.model} is saved already")
            if self.save:
                _check_save(self.save)
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
        """The aligner that is asked for; fast-align learns from the pairs where it is not a saved one."""
        if self._statistical:
            return self._fast_align(pairs)
        from analysis.aligners.methods import choose_method
        from analysis.aligners.pair_encoder import EncoderAligner
        from pretrain.hub import model_folder

        return EncoderAligner.open(
            model_folder(self.model or ""),
            choose_method(self.method, self.similarity, self.plan, self.rule),
            self.layer,
            joint=self.joint,
            device=self.device or "cpu",
            precision="bfloat16" if self.precision is Precision.BFLOAT16 else "float32",
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
            aligner = StatisticalAligner.open(Path(self.model))
            return replace(aligner, symmetrisation=SYMMETRISATIONS[self.symmetrise]) if self.symmetrise else aligner
        rule = SYMMETRISATIONS[self.symmetrise or Symmetrise.GROW_DIAG_FINAL_AND]
        with claimed(self.save) if self.save else nullcontext():
            aligner = StatisticalAligner.train(pairs, rule)
            if self.save:
                aligner.save(self.save)
        return aligner


def _check_save(folder: Path) -> None:
    """Refuse to replace anything but a saved aligner."""
    from derive.artefact import Artefact
    from derive.links.fast_align import KIND, is_saved

    if folder.name in ("", ".."):
        raise BadInput("expected the name of a new folder", folder)
    if is_saved(folder):
        Artefact.open(folder, KIND)
    elif folder.exists() and not (folder.is_dir() and not any(folder.iterdir())):
        raise BadInput("there is something else; expected the name of a new folder", folder)


def _check(pairs: TwoFiles, out: Path | None, draw: int | None, gold: Path | None) -> None:
    """Refuse before aligning what could not be written afterwards."""
    if draw is not None and (out is None or draw > pairs.size):
        raise BadInput(f"--draw {draw} needs --out, and a line from 1 to {pairs.size:,}")
    if draw is not None and not all(pairs[draw]):
        raise BadInput("a pair with an empty side: there is nothing to draw", pairs.paths[0], draw)
    if out is None:
        if gold is not None:
            raise BadInput("--gold needs --out: without it, the links are printed")
        return
    check_out(out, (*pairs.paths, gold))
    above = next(folder for folder in out.absolute().parents if folder.exists())
    if not above.is_dir() or not os.access(above, os.W_OK):
        raise BadInput(f"cannot be written: {above} is not a writable folder", out)


def _write(pairs: TwoFiles, aligner: Aligner, scores: bool, out: Path | None) -> None:
    """Write or print links as they come."""
    from derive.links.aligner import line_of, write_links
    from experiments.progress import board

    links_of_pairs: Iterator[Any] = aligner.align_scored(pairs) if scores else aligner.align(pairs)
    if out is None:
        for links in links_of_pairs:
            typer.echo(line_of(links))
        return
    with board() as drawn:
        stage = f"aligning {out.name}"
        write_links(out, _counted(links_of_pairs, pairs.size, lambda done: drawn.report(stage, done, pairs.size)))


def _counted(links_of_pairs: Iterator[T], size: int, report: Callable[[int], None]) -> Iterator[T]:
    report(0)
    for done, links in enumerate(links_of_pairs, start=1):
        if done % 100 == 0 or done == size:
            report(done)
        yield links


def _draw(pairs: TwoFiles, line: int, aligner: Aligner, out: Path, gold: Gold | None) -> None:
    """Draw a pair with the links that were written."""
    from analysis.report.pair_figure import align_figure
    from derive.readers.links import read_links

    pair, links = pairs[line], next(islice(read_links(out), line - 1, None))
    of_pair = gold.pairs[line - 1] if gold else None
    name = f"{out.stem}-pair-{line}"
    typer.echo(align_figure(pair, links, out.parent, aligner.name, name, aligner.matrix(pair), of_pair))

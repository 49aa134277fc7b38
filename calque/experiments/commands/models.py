"""The commands that inspect models: `calque look`, `intervene` and `embeddings`."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from calque.derive.errors import BadInput
from calque.experiments.commands.options import check_out

if TYPE_CHECKING:
    from calque.analysis.measures.interventions import SourceTuned
    from calque.analysis.statistics import Estimate

HEADER = ("intervention", "score", "change", "beyond control")
NOTE = (
    "Percent, with 95 % intervals over this model's test items; seeds differ more. Changes "
    "are differences from no intervention. The last column is the difference from the control, a comparable "
    "change that uses no translations. Rotations are fitted on {pairs} dictionary pairs."
)
Checkpoints = Annotated[Path, typer.Argument(help="A run's `checkpoint` folder, or a masked language model.")]
Language = Annotated[
    str | None, typer.Option(metavar="NAME", help="The derived language. Default: the first one.")
]


def look(
    checkpoint: Checkpoints,
    sentence: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT",
            help="Source words separated by spaces. The model guesses each `<mask>`; without a mask, each "
            "word is masked in turn. Default: a sentence from the model's corpus.",
        ),
    ] = None,
    words: Annotated[
        str | None,
        typer.Option(
            metavar="WORD,WORD", help="Show these words' nearest neighbours. Default: the sentence's words."
        ),
    ] = None,
    language: Language = None,
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write an HTML page instead of text.")
    ] = None,
) -> None:
    """Inspect a model's guesses, nearest neighbours and alignment."""
    if html:
        check_out(html, checkpoint.rglob("*"))
    from calque.analysis.checkpoint import Checkpoint
    from calque.analysis.looking import look as look_into
    from calque.analysis.report.page import write_look

    chosen = [word.strip() for word in words.split(",")] if words else []
    inspection = look_into(Checkpoint.open(checkpoint), sentence or "", chosen, language or "")
    if html:
        write_look(html, f"Calque: a look inside {_name_of(checkpoint)}", inspection)
    typer.echo(html or inspection)


def _name_of(model: Path) -> str:
    """Return a model's folder or, for a run's checkpoint, the run's languages, objective and seed."""
    parts = model.resolve().parts
    return "/".join(parts[-4:-1]) if parts[-1] == "checkpoint" else parts[-1]


def intervene(
    checkpoint: Checkpoints,
    task: Annotated[str, typer.Option(metavar="NAME", help="A tagging task in the model's study.")] = "pos",
    language: Language = None,
) -> None:
    """Change input words, word order or hidden states at test time.

    The model is first fine-tuned on the source language."""
    from calque.analysis.checkpoint import Checkpoint
    from calque.analysis.report.table import Table, cell
    from calque.analysis.tasks.catalogue import metric_title
    from calque.experiments.run.progress import board

    model = Checkpoint.open(checkpoint)
    rows = model.rows(language or "")
    pairs, width = len(rows.known), rows.source.shape[1]
    if rows.rank < width:
        reason = f"{pairs} dictionary pairs determine only {rows.rank} of the rotation's {width} dimensions"
        typer.echo(f"calque: {reason}", err=True)
    with board() as progress:
        tuned = model.finetune(task, language or "", partial(progress.report, f"fine-tuning on {task}"))
    cells = [
        (name, *(cell(estimate, over_items=True) if estimate else "" for estimate in estimates))
        for name, estimates in effects_of(tuned).items()
    ]
    title = f"{tuned.task.title} {metric_title(tuned.task.primary)} in {tuned.language}"
    typer.echo(Table(title, HEADER, tuple(cells), NOTE.format(pairs=pairs)).markdown)


def effects_of(tuned: "SourceTuned") -> "dict[str, Sequence[Estimate | None]]":
    """Return each intervention's score, and its differences from no intervention and from the control."""
    from calque.analysis.measures.interventions import interventions
    from calque.analysis.papers.align_mlm import effect
    from calque.analysis.records.record import AFTER
    from calque.analysis.results import Measured

    records = {record.metric.partition(AFTER)[2]: record for record in interventions(tuned).records}
    scores = {name: {tuned.run.seed: Measured.of(record)} for name, record in records.items() if name}
    return {name: effect(scores.__getitem__, name) for name in scores}


def embeddings(
    lexicon: Annotated[Path, typer.Argument(help="A lexicon, with the most important words first.")],
    models: Annotated[
        list[Path], typer.Argument(help="Models' folders with tokenizers, such as before and after training.")
    ],
    out: Annotated[Path, typer.Option(help="The PNG to write, with an SVG next to it.")],
    without: Annotated[Path | None, typer.Option(help="A file of words to leave out, one per line.")] = None,
) -> None:
    """Plot the embeddings of words and their translations with t-SNE.

    This is WEAM's Figure 2, for the first 20 pairs of the lexicon."""
    from calque.analysis.measures.alignment import chosen, word_pairs
    from calque.analysis.papers.weam import pairs_figure
    from calque.analysis.report.drawing import save_figure
    from calque.derive.dictionary import read_lexicon
    from calque.derive.readers.lines import read_lines

    names = list(map(_name_of, models))
    if len(set(names)) < len(names):
        raise BadInput("two models' folders have the same name, but each panel's title is its folder's name")
    if out.suffix != ".png" or not out.absolute().parent.is_dir():
        raise BadInput("--out must be a PNG file in an existing folder", out)
    for suffix in (".png", ".svg"):
        check_out(out.with_suffix(suffix), [lexicon, without])
    stop = {line.strip() for _, line in read_lines(without)} if without else set()
    entries = chosen(read_lexicon(lexicon), models, 20, stop)
    tables = {name: word_pairs(model, entries) for name, model in zip(names, models, strict=True)}
    png = save_figure(pairs_figure(tables, ("source", "target")), out.parent, out.stem)
    for name, table in tables.items():
        nearest = f"{table.found} of {len(entries)} nearest to their translation"
        typer.echo(f"{name}: mean cosine {table.cosine:.3f}, {nearest}")
    typer.echo(png)

"""`calque embeddings`: a plot of the embeddings of words and their translations (WEAM's Figure 2)."""

from pathlib import Path
from typing import Annotated

import typer

from calque.derive.errors import BadInput
from calque.experiments.commands.options import check_out


def embeddings(
    lexicon: Annotated[
        Path, typer.Argument(help="A lexicon with columns word, translation, probability and count.")
    ],
    models: Annotated[
        list[Path], typer.Argument(help="Models' folders with tokenizers, such as before and after training.")
    ],
    out: Annotated[Path, typer.Option(help="The PNG to write, with an SVG next to it.")],
    title: Annotated[
        list[str] | None, typer.Option(help="A model's title; repeatable. Default: its folder's name.")
    ] = None,
    without: Annotated[Path | None, typer.Option(help="A file of words to leave out, one per line.")] = None,
    languages: Annotated[tuple[str, str], typer.Option(help="The names of both languages.")] = (
        "source",
        "target",
    ),
) -> None:
    """Plot the embeddings of words and their translations with t-SNE."""
    from calque.analysis.measures.alignment import chosen, word_pairs
    from calque.analysis.papers.weam import pairs_figure
    from calque.analysis.report.drawing import save_figure
    from calque.derive.dictionary import read_lexicon
    from calque.derive.readers.lines import Lines

    names = title or [model.name for model in models]
    if len(names) != len(models) or len(set(names)) < len(names):
        raise BadInput(
            f"expected {len(models)} different titles (--title), one per model, instead of {', '.join(names)}"
        )
    if out.suffix != ".png" or not out.absolute().parent.is_dir():
        raise BadInput("--out must be a PNG file in an existing folder", out)
    for suffix in (".png", ".svg"):
        check_out(out.with_suffix(suffix), (lexicon, without))
    stop = {line.strip() for _, line in Lines(without)} if without else set()
    entries = chosen(read_lexicon(lexicon), models, 20, stop)
    tables = {name: word_pairs(model, entries) for name, model in zip(names, models, strict=True)}
    png = save_figure(pairs_figure(tables, languages), out.parent, out.stem)
    for name, table in tables.items():
        nearest = f"{table.found} of {len(entries)} nearest to their translation"
        typer.echo(f"{name}: mean cosine {table.cosine:.3f}, {nearest}")
    typer.echo(png)

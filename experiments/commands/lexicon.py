"""`calque lexicon` and `embeddings`: words and their translations, counted from links, and drawn from tables."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from calque.derive.errors import BadInput
from calque.derive.readers.parallel import TwoFiles
from calque.experiments.commands.options import LinksFromOne, Sentences, Translations, check_out


def lexicon(
    source: Sentences,
    target: Translations,
    links: Annotated[Path, typer.Option(help="Their links in Pharaoh's format, as `calque align` writes them.")],
    out: Annotated[Path, typer.Option(help="The file to write: word, translation, probability and count a line.")],
    links_from_one: LinksFromOne = None,
    least_count: Annotated[int, typer.Option(min=1, help="Minimum number of links per entry.")] = 2,
    least_probability: Annotated[
        float, typer.Option(min=0, max=1, help="Minimum share of its word's links per entry.")
    ] = 0.1,
    least_score: Annotated[float, typer.Option(help="The score below which a link does not count.")] = 0.0,
) -> None:
    """Count which words are linked, and write a dictionary, the most frequent first."""
    from calque.derive.dictionary import counted, write_lexicon
    from calque.derive.readers.links import read_linked

    pairs = TwoFiles(source, target)
    check_out(out, (*pairs.paths, links))
    scored = read_linked(pairs, links, pairs.counts, from_one=links_from_one)
    sure = ((pair, [link for link, score in found.items() if score >= least_score]) for pair, found in scored)
    entries = counted(sure, least_count, least_probability)
    if not entries:
        raise BadInput("no entry is left: there are no links, or the thresholds are too high", source)
    write_lexicon(out, entries)
    for what, count in pairs.counts.items():
        typer.echo(f"{count:,} {what}", err=True)
    words = [len({getattr(entry, side) for entry in entries}) for side in ("source", "target")]
    typer.echo(f"{len(entries):,} entries of {words[0]:,} words and {words[1]:,} translations: {out}")


def embeddings(
    lexicon: Annotated[Path, typer.Argument(help="Words and translations, as `calque lexicon` writes them.")],
    models: Annotated[list[Path], typer.Argument(help="Folders of models with tokenizers, such as before and after.")],
    out: Annotated[Path, typer.Option(help="The PNG to write, with an SVG and the numbers next to it.")],
    title: Annotated[
        list[str] | None, typer.Option(help="What a model is called, once for each; default: its folder's name.")
    ] = None,
    pairs: Annotated[int, typer.Option(min=2, max=60, help="Entries that are drawn, the most frequent.")] = 20,
    without: Annotated[Path | None, typer.Option(help="A file of stop words to leave out, one per line.")] = None,
    languages: Annotated[tuple[str, str], typer.Option(help="What the two languages are called.")] = (
        "source",
        "translation",
    ),
    seed: Annotated[int, typer.Option(help="The seed of t-SNE.")] = 0,
) -> None:
    """Draw frequent words and their translations as they lie in the tables of models, by t-SNE (WEAM's Figure 2)."""
    from calque.analysis.measures.lexicon import chosen, word_pairs
    from calque.analysis.papers.weam import pairs_figure
    from calque.analysis.report.plot import save_figure
    from calque.derive.dictionary import read_lexicon
    from calque.derive.files import whole_file
    from calque.derive.readers.lines import read_lines

    names = title or [model.name for model in models]
    if len(names) != len(models) or len({*names}) < len(names):
        raise BadInput(f"{len(models)} models need as many titles, each another: --title; there are {', '.join(names)}")
    if out.suffix != ".png" or not out.absolute().parent.is_dir():
        raise BadInput("expected the name of a PNG in a folder that is there", out)
    for suffix in (".png", ".svg", ".tsv"):
        check_out(out.with_suffix(suffix), (lexicon, without))
    stop = {line.strip() for _, line in read_lines(without)} if without else set()
    entries = chosen(read_lexicon(lexicon), models, pairs, stop)
    tables = {name: word_pairs(model, entries) for name, model in zip(names, models, strict=True)}
    png, _ = save_figure(pairs_figure(tables, languages, seed), out.parent, out.stem)
    with whole_file(out.with_suffix(".tsv")) as part, part.open("w", encoding="utf-8", newline="\n") as file:
        file.write("\t".join(["source", "target", "count", *(f"cosine, {name}" for name in names)]) + "\n")
        for i, entry in enumerate(entries):
            cosines = (f"{float(table.source[i] @ table.target[i]):.6f}" for table in tables.values())
            file.write("\t".join([entry.source, entry.target, str(entry.count), *cosines]) + "\n")
    for name, table in tables.items():
        nearest = f"{table.found} of {len(entries)} nearest to their translation"
        typer.echo(f"{name}: mean cosine {table.cosine:.3f}, {nearest}")
    typer.echo(png)

"""`calque data`: checking and downloading public data sets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from calque.derive.errors import BadInput
from calque.experiments.run.places import CACHE, ROOT
from calque.experiments.run.signals import leaving

if TYPE_CHECKING:
    from calque.experiments.data.recipe import Download, Output, Recipe
    from calque.experiments.data.store import State, Store

app = typer.Typer(help="Check and download public data sets.", no_args_is_help=True)

Recipes = Annotated[list[str] | None, typer.Argument(metavar="RECIPE...", help="Recipes, such as xnli.")]
To = Annotated[Path, typer.Option("--to", envvar="CALQUE_DATA", help="The data folder.")]
DATA = Path("data")
MOST = 10  # maximum number of failed downloads listed


@app.command()
def plan(recipes: Recipes = None, to: To = DATA) -> None:
    """Show the state, size and licence of a recipe's files.

    Without a recipe, list all recipes."""
    from calque.experiments.data.recipe import names, read_recipe
    from calque.experiments.data.store import Store

    store, chosen = Store(to), [read_recipe(name) for name in recipes or names()]
    # Each file is checked only once, since recipes share files and digests take time.
    states = {
        output: store.state(output)
        for output in dict.fromkeys(file for one in chosen for file in one.outputs)
    }
    if recipes:
        typer.echo("\n\n".join(_planned(recipe, store, states) for recipe in chosen))
        return
    width = max(len(recipe.name) for recipe in chosen)
    for recipe in chosen:
        typer.echo(f"{recipe.name:<{width}}  {_counts(recipe.downloads, states):<28}  {recipe.about}")


def _planned(recipe: Recipe, store: Store, states: Mapping[Output, State]) -> str:
    from calque.experiments.data.recipe import sizes
    from calque.experiments.data.store import State

    lines = [f"{recipe.name}: {recipe.about}", "", f"{'state':<10} {'bytes':>17}  {'digest':<7} file"]
    missing, unstated = [], []
    for download in recipe.downloads:
        first, *more = download.outputs
        about = f"about {download.about_bytes:,}" if download.about_bytes else "?"
        size = f"{download.bytes:,}" if download.bytes else about
        digest = "stated" if download.pinned else "seen" if store.seen(download) else "none"
        file = f"{first.place} and {len(more):,} more" if more else first.place
        lines.append(
            f"{_counts([download], states) if more else states[first]:<10} {size:>17}  {digest:<7} {file}"
        )
        if any(states[output] is State.MISSING for output in download.outputs):
            missing.append(download)
            unstated += [download] if digest == "none" else []
    lines += [f"altered: {store.folder / o.place}" for o in recipe.outputs if states[o] is State.ALTERED]
    lines += ["", f"{_counts(recipe.downloads, states)} below {store.folder}"]
    licences = {download.terms: download.licence for download in recipe.downloads}
    lines += [f"{licence}: {page}" for page, licence in licences.items()]
    if missing:
        lines.append(
            f"downloads: {len(missing):,}, {sizes(missing)}; without a stated digest: {len(unstated):,}"
        )
        lines.append(f"next: calque data fetch {recipe.name}{' --trust' if unstated else ''}")
    return "\n".join(lines)


def _counts(downloads: Sequence[Download], states: Mapping[Output, State]) -> str:
    """Count files by state: `3 there, 1 missing`."""
    from calque.experiments.data.store import State

    numbers = Counter(states[output] for download in downloads for output in download.outputs)
    return ", ".join(f"{numbers[state]:,} {state}" for state in State if numbers[state])


@app.command()
@leaving("partial downloads are kept; rerun to resume")
def fetch(
    recipes: Annotated[list[str], typer.Argument(metavar="RECIPE...", help="Recipes, such as xnli.")],
    to: To = DATA,
    trust: Annotated[
        bool,
        typer.Option(
            "--trust", help="Also fetch files without a published digest, and record their digests."
        ),
    ] = False,
) -> None:
    """Download and check a recipe's missing files.

    Interrupted downloads resume if the recipe states their digest."""
    from calque.experiments.data.recipe import LOCK, read_recipe
    from calque.experiments.data.store import Store
    from calque.experiments.run.progress import board

    store, failed, unstated = Store(to), list[str](), list[str]()
    for recipe in [read_recipe(name) for name in recipes]:
        with board() as bars:
            done = store.fetch(recipe, bars.report, trust=trust)
        failed += done.failed
        unstated += [download.url for download in done.without_digest]
        typer.echo(f"{recipe.name}: {len(done.placed):,} files written below {to}")
    if unstated:
        failed.append(
            f"{len(unstated):,} not fetched, because no digest is published: {unstated[0]}"
            f"{' and others' if unstated[1:] else ''}; --trust fetches them and records digests in {LOCK}"
        )
    if failed:
        raise BadInput(failed[:MOST] + ([f"{len(failed) - MOST:,} more failed"] if failed[MOST:] else []))
    typer.echo(f"export CALQUE_DATA={to.resolve()}")


@app.command()
def everyday(
    out: Annotated[Path, typer.Argument(help="The folder to write.")],
    data: Annotated[
        Path, typer.Option("--data", envvar="CALQUE_DATA", help="The data folder with the source files.")
    ] = DATA,
) -> None:
    """Build Everyday English from its sources (docs/everyday.md)."""
    from calque.experiments.data.everyday import make_everyday

    for name, row in make_everyday(data, out, ROOT / CACHE)["contents"].items():
        typer.echo(f"{out / name}: {row['sentences']:,} sentences, {row['words']:,} words")
        for reason, count in row["left out"].items():
            typer.echo(f"  {count:,} {reason}")

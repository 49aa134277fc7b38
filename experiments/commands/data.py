"""`calque data`: what public data there is, and what is missing; fetch it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from derive.errors import BadInput
from experiments.signals import leaving

app = typer.Typer(help="Public data by recipes: see what is missing, fetch it.", no_args_is_help=True)

Recipes = Annotated[
    list[str] | None, typer.Argument(metavar="RECIPE...", help="Recipes, or files of one's own (my_recipe.toml).")
]
To = Annotated[Path, typer.Option("--to", envvar="CALQUE_DATA", help="The data folder.")]
DATA = Path("data")


@app.command()
def plan(recipes: Recipes = None, to: To = DATA) -> None:
    """Show what is there, missing or altered of recipes, with sizes and licences; without a name, list the recipes."""
    from experiments.data.describe import listed, planned
    from experiments.data.recipe import names, read_recipe
    from experiments.data.store import Store

    store = Store(to)
    if not recipes:
        typer.echo(listed([read_recipe(name) for name in names()], store))
        return
    typer.echo("\n\n".join(planned(recipe, store) for recipe in [read_recipe(name) for name in recipes]))


@app.command()
@leaving("what has come is kept, and the same command resumes")
def fetch(
    recipes: Annotated[list[str], typer.Argument(metavar="RECIPE...", help="Recipes, or my_recipe.toml.")],
    to: To = DATA,
    trust: Annotated[
        bool,
        typer.Option("--trust", help="Also fetch files whose digest nobody states, and keep to what they are now."),
    ] = False,
) -> None:
    """Fetch what is missing of recipes, check size and digest, unpack it and put it in place; a stopped one resumes."""
    from experiments.data.fetch import fetch
    from experiments.data.recipe import LOCK, read_recipe
    from experiments.data.store import Store
    from experiments.progress import board

    read, store = [read_recipe(name) for name in recipes], Store(to)
    failed, unstated = list[str](), list[str]()
    for recipe in read:
        with board() as drawn:
            done = fetch(recipe, store, drawn.report, trust=trust)
        failed += done.failed
        unstated += [download.url for download in done.without_digest]
        typer.echo(f"{recipe.name}: {len(done.placed):,} files put below {to}")
    if unstated:
        failed.append(
            f"{len(unstated):,} not fetched, since nobody states their digests: {unstated[0]}"
            f"{' and others' if unstated[1:] else ''}; --trust takes what is there now and keeps to it ({LOCK})"
        )
    if failed:
        raise BadInput("; ".join(failed[:1] + [f"{len(failed) - 1:,} more failed"] * (len(failed) > 1)))
    typer.echo(f"export CALQUE_DATA={to.resolve()}")

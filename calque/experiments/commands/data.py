"""`calque data`, which checks and downloads public data sets."""

from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from calque.derive.errors import BadInput

app = typer.Typer(help="Check and download public data sets.", no_args_is_help=True)
DATA = Path("data")
RECIPES = typer.Argument(metavar="RECIPE...", help="Recipes, such as xnli.")
To = Annotated[Path, typer.Option("--to", envvar="CALQUE_DATA", help="The data folder.")]


@app.command()
def plan(recipes: Annotated[list[str] | None, RECIPES] = None, to: To = DATA) -> None:
    """Show the state and licence of a recipe's files.

    Without a recipe, list all recipes."""
    from calque.experiments.data.fetch import MISSING, state
    from calque.experiments.data.recipe import fetching, names, read_recipe

    for recipe in map(read_recipe, recipes or names()):
        states = [state(to, file) for file in recipe.files]
        summary = ", ".join(f"{count:,} {name}" for name, count in sorted(Counter(states).items()))
        typer.echo(f"{recipe.name}: {recipe.about} ({summary})")
        if recipes:
            for file, name in zip(recipe.files, states, strict=True):
                typer.echo(f"  {name:<8}{file.place}")
            typer.echo(f"{recipe.licence}: {recipe.terms}")
            if MISSING in states:
                typer.echo(f"next: {fetching([recipe.name])}")


@app.command()
def fetch(
    recipes: Annotated[list[str], RECIPES],
    to: To = DATA,
    trust: Annotated[
        bool, typer.Option("--trust", help="Also fetch files without a published digest.")
    ] = False,
) -> None:
    """Download and check a recipe's missing files.

    Interrupted downloads resume if the recipe states their digest."""
    from calque.experiments.data import fetch as downloads
    from calque.experiments.data.recipe import read_recipe
    from calque.experiments.run.progress import board

    failed = list[str]()
    for recipe in [read_recipe(name) for name in recipes]:
        try:
            with board() as bars:
                fetched = downloads.fetch(recipe, to, bars.report, trust)
        except BadInput as error:
            failed += error.messages
        else:
            typer.echo(f"{recipe.name}: {len(fetched):,} files written below {to}")
    if failed:
        raise BadInput([*dict.fromkeys(failed)])
    typer.echo(f"export CALQUE_DATA={to.resolve()}")

"""`calque data`, which checks and downloads public data sets."""

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from calque.derive.errors import BadInput

if TYPE_CHECKING:
    from calque.experiments.data.recipe import Output, Recipe

app = typer.Typer(help="Check and download public data sets.", no_args_is_help=True)
DATA = Path("data")
Recipes = Annotated[list[str], typer.Argument(metavar="RECIPE...", help="Recipes, such as xnli.")]
Optional = Annotated[list[str] | None, typer.Argument(metavar="RECIPE...", help="Recipes, such as xnli.")]
To = Annotated[Path, typer.Option("--to", envvar="CALQUE_DATA", help="The data folder.")]
Trust = Annotated[bool, typer.Option("--trust", help="Also fetch files without a published digest.")]


@app.command()
def plan(recipes: Optional = None, to: To = DATA) -> None:
    """Show the state, size and licence of a recipe's files.

    Without a recipe, list all recipes."""
    from calque.experiments.data.fetch import state
    from calque.experiments.data.recipe import names, read_recipe

    for recipe in [read_recipe(name) for name in recipes or names()]:
        states = {output: state(to, output) for output in recipe.outputs}
        counts = Counter(states.values())
        summary = ", ".join(f"{counts[name]:,} {name}" for name in sorted(counts, reverse=True))
        typer.echo(f"{recipe.name}: {recipe.about} ({summary})")
        if recipes:
            _print_files(recipe, states)


def _print_files(recipe: "Recipe", states: "dict[Output, str]") -> None:
    from calque.experiments.data.fetch import MISSING
    from calque.experiments.data.recipe import sizes

    for output, state in states.items():
        size = f"{output.bytes:,}" if output.bytes else ""
        typer.echo(f"  {state:<8}{size:>14}  {output.place}")
    for terms, licence in {download.terms: download.licence for download in recipe.downloads}.items():
        typer.echo(f"{licence}: {terms}")
    lacking = {output for output, state in states.items() if state == MISSING}
    if missing := [download for download in recipe.downloads if lacking & {*download.outputs}]:
        trust = "" if all(download.pinned for download in missing) else " --trust"
        typer.echo(f"downloads: {len(missing):,}, {sizes(missing)}")
        typer.echo(f"next: calque data fetch {recipe.name}{trust}")


@app.command()
def fetch(recipes: Recipes, to: To = DATA, trust: Trust = False) -> None:
    """Download and check a recipe's missing files.

    If one recipe fails, the others are still fetched. Interrupted downloads resume if the recipe states their
    digest."""
    from calque.experiments.data import fetch as downloads
    from calque.experiments.data.recipe import read_recipe
    from calque.experiments.run.progress import board

    failed = list[str]()
    for recipe in [read_recipe(name) for name in recipes]:
        try:
            with board() as bars:
                placed = downloads.fetch(recipe, to, bars.report, trust)
        except BadInput as error:
            failed += error.messages
        else:
            typer.echo(f"{recipe.name}: {len(placed):,} files written below {to}")
    if failed:
        raise BadInput([*dict.fromkeys(failed)])
    typer.echo(f"export CALQUE_DATA={to.resolve()}")

"""What is there of recipes, in words: the tables of `calque data plan`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from experiments.data.recipe import Download, Output, Recipe
from experiments.data.store import State, Store
from experiments.facts import counted

States = Mapping[Output, State]


def listed(recipes: Sequence[Recipe], store: Store) -> str:
    """One line per recipe: its name, how much of it is there, and what it is."""
    width = max(len(recipe.name) for recipe in recipes)
    states = _states(recipes, store)
    return "\n".join(
        f"{recipe.name:<{width}}  {_numbers(recipe.downloads, states):<28}  {recipe.about}" for recipe in recipes
    )


def planned(recipe: Recipe, store: Store) -> str:
    """One row per download, the places of altered files, and totals."""
    states = _states([recipe], store)
    lines = [f"{recipe.name}: {recipe.about}", ""]
    lines += [f"{'state':<18} {'bytes':>16}  {'digest':<7}  {'licence':<20}  file"]
    for download in recipe.downloads:
        first, *more = download.outputs
        state = _numbers([download], states) if more else states[first]
        about = f"about {download.about_bytes:,}" if download.about_bytes else "?"
        size = f"{download.bytes:,}" if download.bytes else about
        digest = "stated" if download.pinned else "seen" if store.seen(download) else "none"
        file = f"{first.place} and {len(more):,} more" if more else first.place
        lines += [f"{state:<18} {size:>16}  {digest:<7}  {download.licence:<20}  {file}"]
    lines += [f"altered: {store.folder / output.place}" for output in states if states[output] is State.ALTERED]
    lines += ["", f"{_numbers(recipe.downloads, states)} below {store.folder}"]
    missing = [one for one in recipe.downloads if any(states[output] is State.MISSING for output in one.outputs)]
    unstated = [download for download in missing if not download.pinned and not store.seen(download)]
    if missing:
        command = f"`calque data fetch {recipe.name}{' --trust' if unstated else ''}`"
        lines += [f"to fetch: {counted(len(missing), 'download')}, {_sizes(missing)}; {command}"]
    if unstated:
        lines += [f"without a stated digest: {len(unstated):,}; only `--trust` fetches them"]
    lines += [f"{download.outputs[0].place}: {download.note}" for download in recipe.downloads if download.note]
    licences = {download.terms: download.licence for download in recipe.downloads}
    return "\n".join([*lines, *(f"{licence}: {page}" for page, licence in licences.items())])


def _states(recipes: Sequence[Recipe], store: Store) -> States:
    """The state of each file, once: recipes include others, and a digest takes time."""
    outputs = dict.fromkeys(output for recipe in recipes for output in recipe.outputs)
    return {output: store.state(output) for output in outputs}


def _numbers(downloads: Sequence[Download], states: States) -> str:
    """How many files are in which state: `3 there, 1 missing`."""
    numbers = Counter(states[output] for download in downloads for output in download.outputs)
    return ", ".join(f"{numbers[state]:,} {state}" for state in State if numbers[state])


def _sizes(downloads: Sequence[Download]) -> str:
    """Their sizes together: what is known, what is estimated, and of how many nothing is known."""
    known = sum(download.bytes for download in downloads)
    guesses = [download.about_bytes for download in downloads if not download.bytes and download.about_bytes]
    unknown = sum(not download.bytes and not download.about_bytes for download in downloads)
    parts = [f"{known:,} bytes"] if known else []
    if guesses:
        parts += [f"about {sum(guesses):,} {'more' if known else 'bytes'} (estimates of {len(guesses):,})"]
    return ", ".join(parts + [f"{unknown:,} of unknown size"] * bool(unknown))

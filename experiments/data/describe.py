"""What is there of recipes, in words: the tables of `calque data plan`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from experiments.data.recipe import Download, Output, Recipe
from experiments.data.store import State, Store
from experiments.facts import counted


class Seen:
    """What there is in a data folder, each file looked at once."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._states: dict[tuple[str, int, str], State] = {}

    def state(self, output: Output) -> State:
        key = output.place, output.bytes, output.sha256
        if key not in self._states:
            self._states[key] = self.store.state(output)
        return self._states[key]

    def states(self, downloads: Sequence[Download]) -> Counter[State]:
        """How many files of downloads are in which state."""
        return Counter(self.state(output) for download in downloads for output in download.outputs)


def listed(recipes: Sequence[Recipe], store: Store) -> str:
    """A line a recipe: its name, how much of it is there, and what it is."""
    width, seen = max(len(recipe.name) for recipe in recipes), Seen(store)
    return "\n".join(
        f"{recipe.name:<{width}}  {_files(seen.states(recipe.downloads)):<28}  {recipe.about}" for recipe in recipes
    )


def planned(recipe: Recipe, store: Store) -> str:
    """A row a download, the places of altered files, and totals."""
    seen = Seen(store)
    lines = [f"{recipe.name}: {recipe.about}", ""]
    lines += [f"{'state':<18} {'bytes':>16}  {'digest':<7}  {'licence':<20}  file"]
    for download in recipe.downloads:
        places = [output.place for output in download.outputs]
        more = f" and {len(places) - 1:,} more" if places[1:] else ""
        digest = "stated" if download.pinned else "seen" if store.seen(download) else "none"
        state = _files(seen.states([download]), short=len(places) == 1)
        lines += [f"{state:<18} {_size(download):>16}  {digest:<7}  {download.licence:<20}  {places[0]}{more}"]
    for output in recipe.outputs:
        if seen.state(output) is State.ALTERED:
            lines += [f"altered: {store.path(output)}"]
    return "\n".join([*lines, "", *_totals(recipe, seen)])


def _totals(recipe: Recipe, seen: Seen) -> list[str]:
    missing = [one for one in recipe.downloads if seen.states([one])[State.MISSING]]
    lines = [f"{_files(seen.states(recipe.downloads))} below {seen.store.folder}"]
    unstated = [one for one in missing if not one.pinned and not seen.store.seen(one)]
    if missing:
        trust = " --trust" if unstated else ""
        number = counted(len(missing), "download")
        lines += [f"to fetch: {number}, {_bytes(missing)}; `calque data fetch {recipe.name}{trust}`"]
    if unstated:
        lines += [f"without a stated digest: {len(unstated):,}; only `--trust` fetches them"]
    lines += [f"{one.outputs[0].place}: {one.note}" for one in recipe.downloads if one.note]
    terms = {one.terms: one.licence for one in recipe.downloads}
    return lines + [f"{licence}: {page}" for page, licence in terms.items()]


def _bytes(downloads: Sequence[Download]) -> str:
    """Their sizes together: what is known, what is estimated, and of how many nothing is known."""
    guessed = [one.about_bytes for one in downloads if not one.bytes and one.about_bytes]
    unknown = sum(not one.bytes and not one.about_bytes for one in downloads)
    known = sum(one.bytes for one in downloads)
    said = [f"{known:,} bytes"] if known else []
    more = "more" if known else "bytes"
    said += [f"about {sum(guessed):,} {more} (estimates of {len(guessed):,})"] if guessed else []
    said += [f"{unknown:,} of unknown size"] if unknown else []
    return ", ".join(said)


def _files(states: Counter[State], short: bool = False) -> str:
    """`there`, `missing`, or numbers of both: `3 there, 1 missing`."""
    if short:
        return next(iter(states))
    return ", ".join(f"{states[state]:,} {state}" for state in State if states[state])


def _size(download: Download) -> str:
    return (
        f"{download.bytes:,}" if download.bytes else f"about {download.about_bytes:,}" if download.about_bytes else "?"
    )

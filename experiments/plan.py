"""`calque plan`: the models that a study would pretrain, with operations, memory and time; and its files."""

from __future__ import annotations

import dataclasses
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import heapreplace
from pathlib import Path, PurePosixPath
from textwrap import fill
from typing import Any

import torch

from derive.errors import BadInput, unknown
from experiments.data.recipe import Download, Recipe, names, read_recipe
from experiments.facts import counted
from experiments.packing import USABLE, card_room
from experiments.schedule import side_by_side
from experiments.step import Cost
from experiments.study import Study
from experiments.summary import extent, reading, scale
from experiments.text_plan import describe_text
from pretrain.cost import peak_flops
from pretrain.hub import on_hub

EFFICIENCY = 0.4
"""The part of the matrix-product rate that training is assumed to reach. A run logs its own `mfu`."""
WIDTH = 120


@dataclass(frozen=True)
class Card:
    """`peak` is the dense matrix-product rate in bfloat16 in operations/s, without sparsity; `memory` is in bytes."""

    kind: str
    peak: float
    memory: int
    sheet: str


CARDS = (
    Card("A100", 312e12, 80 * 10**9, "NVIDIA, A100 80GB"),
    Card("H100", 989.4e12, 80 * 10**9, "NVIDIA, H100 SXM"),
    Card("H100-PCIe", 756.5e12, 80 * 10**9, "NVIDIA, H100 PCIe"),
    Card("H200", 989.4e12, 141 * 10**9, "NVIDIA, H200 SXM"),
    Card("L40S", 362.05e12, 48 * 10**9, "NVIDIA, L40S"),
    Card("MI300X", 1307.4e12, 192 * 10**9, "AMD, Instinct MI300X"),
)


def card(kind: str) -> Card:
    """The card of a kind, in upper or lower case.

    Raises:
        BadInput: there is no such kind here.
    """
    kinds = {card.kind.lower(): card for card in CARDS}
    if kind.lower() not in kinds:
        raise BadInput(unknown("kind of card", kind, (card.kind for card in CARDS)))
    return kinds[kind.lower()]


@dataclass(frozen=True)
class Estimate:
    """What one run takes: `seconds` in all, and bytes of `memory` with `micro_batches` a step of each process."""

    title: str
    cost: Cost
    seconds: float
    memory: float
    micro_batches: int = 1


def on_cards(title: str, cost: Cost, card: Card, number: int) -> Estimate:
    """Estimate a run on `number` cards, one process each, without the time that they wait for each other.

    Raises:
        BadInput: not even one row at a time fits on a card, or there are more cards than rows in a step.
    """
    if number > cost.batch:
        raise BadInput(f"{number:,} cards for {cost.batch:,} rows a step; expected at most one a row")
    rows = math.ceil(cost.batch / number)
    at_a_time = next((n for n in range(rows, 0, -1) if cost.card.of(n) <= USABLE * card.memory), 0)
    if not at_a_time:
        model = f"a model of {cost.parameters / 1e6:,.0f} M parameters"
        raise BadInput(f"{model} and a row of it do not fit on {card.kind}")
    pieces = math.ceil(rows / at_a_time)
    seconds = cost.flops / (EFFICIENCY * card.peak * number)
    return Estimate(title, cost, seconds, cost.card.of(math.ceil(rows / pieces)), pieces)


@dataclass(frozen=True)
class Plan:
    """Estimates for every pretraining run, `jobs` of them in parallel. `peak` is in operations/s a run."""

    runs: list[Estimate]
    jobs: int
    peak: float
    device: str

    @property
    def memory(self) -> float:
        """Bytes at the peak of the runs that are computed at a time."""
        return self.jobs * max((run.memory for run in self.runs), default=0)

    @property
    def seconds(self) -> float:
        """All runs, each begun when one of those before it ends; what starts from another's model waits no longer."""
        ends = [0.0] * self.jobs
        for run in self.runs:
            heapreplace(ends, ends[0] + run.seconds)
        return max(ends)


def plan(study: Study, jobs: int | None) -> Plan:
    """Estimate a study on this machine, with `jobs` runs in parallel, or as many as `compute` would take."""
    gpu, cores = torch.cuda.is_available(), os.cpu_count() or 1
    costs = [(step, cost) for step in study.trained() if (cost := step.cost())]
    together = max(1, min(len(costs), side_by_side([step for step, _ in costs], jobs, card_room()))) if costs else 1
    # A run has its threads' part of the whole machine's rate, which is measured with all cores at once; runs that share
    # a card share its rate.
    peak = peak_flops("cuda" if gpu else "cpu") * (1 / together if gpu else min(1.0, study.threads / cores))
    runs = [
        Estimate(step.title.removeprefix("pretrain "), cost, cost.flops / (EFFICIENCY * peak), cost.memory)
        for step, cost in costs
    ]
    return Plan(runs, together, peak, torch.cuda.get_device_name() if gpu else f"{cores} CPU cores")


def describe(study: Study, jobs: int | None, card: Card | None = None, cards: int = 1) -> str:
    """The plan as text: every run with its cost, and what all cost here, and on some cards of a kind.

    Raises:
        BadInput: a model does not fit on such a card.
    """
    here, text_plan = plan(study, jobs), reading(study)
    head, files = f"{study.name}: {scale(study)}\n{extent(study)}\n", describe_files(study, study.name)
    if not here.runs:
        return f"{head}\nno model is pretrained; fine-tuning and testing are not estimated\n{files}"
    width = max(len(run.title) for run in here.runs)
    runs = "\n".join(
        f"{run.title:<{width}}  {run.cost.steps:>9,}  {run.cost.parameters / 1e6:>8,.2f} M  {run.cost.flops:>10.2e}  "
        f"{run.memory / 2**30:>8,.2f} GiB  {_time(run.seconds):>14}"
        for run in here.runs
    )
    text = f"\n{describe_text(text_plan)}" if text_plan else ""
    return f"""{head}{text}
{"run":<{width}}  {"steps":>9}  {"parameters":>10}  {"operations":>10}  {"memory":>12}  {"time":>14}
{runs}

here: {here.device}, {here.peak / 1e9:,.0f} GFLOP/s a run in matrix products, of which {EFFICIENCY:.0%} are assumed
side by side: {here.jobs}, together about {here.memory / 2**30:,.2f} GiB and {_time(here.seconds)} of pretraining
{_describe_cards(here, card, cards) if card else ""}{files}"""


def _describe_cards(here: Plan, card: Card, cards: int) -> str:
    """What all runs, one after the other, would take on so many cards."""
    runs = [on_cards(run.title, run.cost, card, cards) for run in here.runs]
    pieces, memory = max(run.micro_batches for run in runs), max(run.memory for run in runs)
    return f"""\
on {cards:,} {card.kind}: {card.peak / 1e12:,.0f} TFLOP/s each in bfloat16 ({card.sheet}), \
of which {EFFICIENCY:.0%} are assumed
one run after the other, each on all of them: about {_time(sum(run.seconds for run in runs))} of pretraining; at most \
{memory / 2**30:,.2f} GiB a card with --set train.grad_accumulation={pieces}
"""


def _time(seconds: float) -> str:
    for unit, size in (("days", 86_400), ("hours", 3_600), ("minutes", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:,.1f} {unit}"
    return counted(round(seconds), "second")


def inputs(study: Any) -> list[Path]:
    """The files and folders that a study names, each once: all paths among its values, except models of the hub."""
    return [path for path in dict.fromkeys(_paths(study)) if not on_hub(str(path))]


def _paths(value: Any) -> Iterator[Path]:
    if dataclasses.is_dataclass(value):
        value = tuple(getattr(value, field.name) for field in dataclasses.fields(value))
    if isinstance(value, Mapping):
        value = tuple(value.values())
    if isinstance(value, Path):
        yield value
    elif isinstance(value, tuple):
        for item in value:
            yield from _paths(item)


def by_recipe(paths: list[Path], first: str) -> dict[str, list[Path]]:
    """The paths by the recipe that puts them in place, those that no recipe has under the empty name.

    Of several recipes it is `first`, then again and again the one with most of the remaining paths, preferably one of
    which half of the downloads or more are for these; or else the one with the fewest downloads.
    """
    recipes = {name: read_recipe(name) for name in names()}
    left, grouped = list(paths), dict[str, list[Path]]()

    def worth(name: str) -> tuple[bool, bool, int, int]:
        downloads, found = recipes[name].downloads, _found(recipes[name], left)
        mostly = 2 * len(_wanted(recipes[name], left)) >= len(downloads)
        return bool(found) and name == first, mostly, len(found), -len(downloads)

    while left and (found := _found(recipes[best := max(recipes, key=worth)], left)):
        grouped[best] = found
        left = [path for path in left if path not in found]
    return grouped | ({"": left} if left else {})


def _found(recipe: Recipe, paths: list[Path]) -> list[Path]:
    """The paths that a recipe puts in place."""
    places = {place for download in recipe.downloads for place in _places_of(download)}
    return [path for path in paths if not places.isdisjoint(_ends(path))]


def _wanted(recipe: Recipe, paths: list[Path]) -> list[Download]:
    """The downloads of a recipe that any of the paths comes from."""
    ends = {end for path in paths for end in _ends(path)}
    return [download for download in recipe.downloads if not ends.isdisjoint(_places_of(download))]


def _places_of(download: Download) -> set[tuple[str, ...]]:
    """Where a download's files go, and the folders above them, in parts."""
    files = [PurePosixPath(output.place) for output in download.outputs]
    return {place.parts for file in files for place in (file, *file.parents) if place.parts}


def _ends(path: Path) -> set[tuple[str, ...]]:
    """The path without any number of its first parts, as a place below a data folder may be it."""
    return {path.parts[i:] for i in range(len(path.parts))}


def describe_files(study: Any, name: str) -> str:
    """Which of a study's files are missing or empty, and what fetches them; an empty text if it names none."""
    paths = inputs(study)
    missing = [path for path in paths if not (path.is_dir() or (path.is_file() and path.stat().st_size > 0))]
    if not missing:
        return f"files: all {len(paths):,} are there\n" if paths else ""
    how = "missing, empty or no files" if any(path.exists() for path in missing) else "missing"
    lines = [f"files: {len(missing):,} of {len(paths):,} are {how}"]
    for recipe, found in sorted(by_recipe(missing, name).items(), reverse=True):
        lines.append(_command(read_recipe(recipe), found) if recipe else f"no recipe has {len(found):,} of them:")
        folders: dict[Path, list[str]] = {}
        for path in found:
            folders.setdefault(path.parent, []).append(path.name)
        for folder, files in folders.items():
            text = f"  {folder}/ {' '.join(files)}"
            lines.append(fill(text, WIDTH, subsequent_indent="    ", break_on_hyphens=False))
    return "\n".join(lines) + "\n"


def _command(recipe: Recipe, paths: list[Path]) -> str:
    """The command that fetches the paths, and how much it fetches for them and beside them, as far as that is known."""
    wanted = _wanted(recipe, paths)
    others = [download for download in recipe.downloads if download not in wanted]
    size = _size(wanted) + (f", and beside them {_size(others)}" if others else "")
    trust = "" if all(download.pinned for download in recipe.downloads) else " --trust"
    return f"`calque data fetch {recipe.name}{trust}` gets {len(paths):,} of them ({size}):"


def _size(downloads: Sequence[Download]) -> str:
    known = sum(download.bytes or download.about_bytes for download in downloads)
    unknown_sizes = sum(not download.bytes and not download.about_bytes for download in downloads)
    sizes = [f"about {known / 1e9:,.1f} GB" if known >= 1e9 else f"about {known / 1e6:,.1f} MB"] if known else []
    if unknown_sizes:
        sizes.append(counted(unknown_sizes, "download") + " of unknown size")
    return " and ".join(sizes)

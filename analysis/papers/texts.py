"""Read titles, notes and captions for tables and figures, the wording of claims, and explanations of terms
from TOML files."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from calque.analysis.records.record import Floor, Published, Record
from calque.analysis.report.drawing import WIDE
from calque.analysis.report.plot import Plot
from calque.analysis.report.table import MISSING, Table, over_seeds
from calque.analysis.results.results import Results
from calque.analysis.statistics.verdicts import Claim, Verdict
from calque.analysis.tasks.catalog import TASKS
from calque.derive.files import read_toml
from calque.derive.sources.files import TAGGED
from calque.derive.transforms import TERMS as TRANSFORMS
from calque.pretrain.objectives import OBJECTIVES

TEXTS, TERMS, CLAIMS = (
    read_toml(Path(__file__).with_name(f"{name}.toml")) for name in ("texts", "terms", "claims")
)
DEFINITIONS: dict[str, str] = TERMS["definitions"]


def table(
    name: str,
    results: Results,
    scale: str,
    header: Iterable[str],
    rows: Iterable[tuple[str, ...]],
    labels: int,
    parts: Mapping[str, object] = {},
    **values: Any,
) -> Table:
    """Return a table with its title and note from texts.toml. Optional parts of the note are included if
    their entry in `parts` is not empty; `values` fill additional placeholders."""
    seeds, text = over_seeds(results.seeds, results.redrawn), TEXTS["tables"][name]
    values = {
        "scale": scale,
        "seeds": seeds,
        "Seeds": seeds[0].upper() + seeds[1:],
        "missing": MISSING,
        "retained": f"{TERMS['retained']} " if results.floors.all else "",
        "units": units_note(results.records, values.pop("tasks", results.tasks)),
        **values,
    }
    note = _filled(text["note"], text, parts, values)
    return Table(text["title"].format(**values), tuple(header), tuple(rows), note, labels)


def heading(name: str, **values: Any) -> str:
    """Return a figure's heading, which is the question that it answers."""
    text: str = TEXTS["figures"][name]["heading"].format(**values)
    return text


def plot(
    name: str,
    figure: Figure,
    results: Results,
    scale: str,
    records: Sequence[Record],
    published: Sequence[Published] = (),
    floors: Sequence[Floor] = (),
    file: str = "",
    seeds: Sequence[int] = (),
    **values: Any,
) -> Plot:
    """Return a figure with its title and caption from texts.toml, and the numbers that it shows."""
    text = TEXTS["figures"][name]
    values = {**DEFINITIONS, "bars": over(seeds or results.seeds), **values}
    caption = _filled(text["caption"], text, {"floors": floors}, values) + (
        f" Scale: {scale}." if scale else ""
    )
    return Plot(figure, file or name, text["title"].format(**values), caption, records, published, floors)


def _filled(text: str, entry: dict[str, Any], parts: Mapping[str, object], values: dict[str, Any]) -> str:
    optional = {
        name: part.format(**values) if parts.get(name) else ""
        for name, part in entry.get("parts", {}).items()
    }
    return text.format(**values | optional)


def claim(name: str, verdict: Verdict, **values: Any) -> Claim:
    """Return a claim with its verdict; the wording is from claims.toml."""
    entry = CLAIMS[name]
    return Claim(entry["text"].format(**values), entry["where"].format(**values), entry["family"], verdict)


def over(seeds: Sequence[int]) -> str:
    """Return a sentence about the intervals in a figure."""
    if len(seeds) > 1:
        return f"Bars are 95 % intervals over seeds; pale ones are wider than {WIDE:g} points."
    return "Bars are 95 % intervals over the test items of one seed, and do not cover other seeds."


def units_note(records: Iterable[Record], tasks: Collection[str]) -> str:
    """Return a sentence, followed by a space, that names the units of POS tagging; "" if POS is not among
    `tasks`."""
    units = {record.units for record in records if record.task == TAGGED} if TAGGED in tasks else set[str]()
    return "".join(f"Units of POS: {TERMS['units'][unit]}. " for unit in sorted(units))


def terms(results: Results, natural: bool = False) -> Iterator[tuple[str, str]]:
    """Yield terms with explanations for the transforms, tasks, measures and objectives in the records; for
    `natural` languages, only for the measures."""
    measures = {record.measure for record in results.records}
    if natural:
        yield from ((title, text) for measure, title, text in TERMS["natural"] if measure in measures)
        return
    kinds = {part["kind"] for transform in results.transforms for part in results.transform(transform).parts}
    if texts := [text for kind, text in TRANSFORMS.items() if kind in kinds]:
        yield "Source and derived language", " ".join([DEFINITIONS["derived"], *texts])
    if measures & {"SUP", "ZS"}:
        yield "SUP, ZS and Δ", " ".join(DEFINITIONS[name] for name in ("SUP", "ZS", "DELTA"))
    if texts := [summary for name in results.main_tasks if (summary := TASKS[name].summary)]:
        yield "Tasks", " ".join(texts)
    if results.floors.all:
        yield "Floor, retained transfer", DEFINITIONS["floors"]
    for measure, (title, text) in TERMS["measures"].items():
        if measure in measures:
            yield title, text.format(**DEFINITIONS)
    objectives = [results.objective(name) for name in results.objectives]
    objectives += [start.objective for name in results.objectives if (start := results.start(name))]
    learnt = {part["kind"] for objective in objectives for part in objective.parts}
    if texts := [kind.summary for kind in OBJECTIVES if kind().facets[-1]["kind"] in learnt]:
        yield "Pretraining objectives", " ".join(texts)

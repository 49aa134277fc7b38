"""Tables 3 to 7 of XLM-Align: what each part of the objective and each of its values is worth."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from analysis.records.record import AER, LABELS, Published, Record
from analysis.records.results import PRIMARY, BySeed, Results, difference, mean, metric_name, task_name, transform_name
from analysis.report.plot import Plot
from analysis.report.style import INK, key, styled
from analysis.report.table import MISSING, OURS, PUBLISHED, Table, cell, percent

DEFAULT = ""
"""The setting that the papers' tables compare with: all of XLM-Align as it is."""
TABLES = {
    3: ("The parts of XLM-Align", (DEFAULT, "without DWA", "without TLM", "without DWA, without TLM")),
    4: ("The layer that labels itself", (DEFAULT, "self-labelling layer 8", "self-labelling layer 12")),
    5: ("The layer that learns denoising word alignment", ("DWA layer 8", "DWA layer 10", "DWA layer 12")),
    6: ("Filtering of the self-labelled links", (DEFAULT, "without filtering")),
    7: ("The positions that query", (DEFAULT, "queries unmasked", "queries all-aligned", "without DWA")),
}
OBJECTIVE = {
    "without DWA": "XLM-ALIGN-no-dwa",
    "without TLM": "XLM-ALIGN-no-tlm",
    "without DWA, without TLM": "MLM",
    "without filtering": "XLM-ALIGN-unfiltered",
    "queries unmasked": "XLM-ALIGN-unmasked",
    "queries all-aligned": "XLM-ALIGN-all-aligned",
}
"""What a setting is called here; layers are not in it, for a small model has others."""
TASKS = tuple(PRIMARY)
PRINTED = "qa"
"""The paper's fourth task."""


@dataclass(frozen=True)
class Setting:
    """A row of a table: as the paper calls it, as it is here, and where."""

    table: int
    name: str
    objective: str
    transform: str


def settings(results: Results) -> list[Setting]:
    """Every setting of which the records have an objective, our own layers among them.

    A table that would say no more than XLM-Align itself, or than Table 3, is left out.
    """
    start = _start(results)
    have = {name.removesuffix(start): name for name in results.objectives if name.endswith(start)}
    found = []
    for table, (_, printed) in TABLES.items():
        rows = {DEFAULT: "XLM-ALIGN"} | {name: OBJECTIVE[name] for name in printed if name in OBJECTIVE}
        word = {4: ("label", "self-labelling layer"), 5: ("dwa", "DWA layer")}.get(table)
        if word:
            layers = (re.fullmatch(rf"XLM-ALIGN-{word[0]}(\d+)", name) for name in sorted(have))
            rows |= {f"{word[1]} {layer[1]}, of ours": layer[0] for layer in layers if layer}
        found += [
            Setting(table, name, have[objective], transform)
            for transform in results.transforms
            for name, objective in rows.items()
            if objective in have
        ]
    names = {table: {s.name for s in found if s.table == table} for table in TABLES}
    told = {table for table in TABLES if names[table] <= ({DEFAULT} if table == 3 else names[3] | {DEFAULT})}
    return [setting for setting in found if setting.table not in told]


def ablation_tables(results: Results, scale: str) -> Iterator[tuple[str, Table]]:
    """Tables 3 to 7 with the paper's rows below ours: zero-shot scores, and what the alignment is like."""
    every = settings(results)
    head = [f"{task_name(task)} {metric_name(PRIMARY[task])} ZS" for task in TASKS]
    for table, (title, names) in TABLES.items():
        ours = [setting for setting in every if setting.table == table]
        if not ours:
            continue
        rows = [
            (
                s.name or "XLM-Align",
                transform_name(s.transform),
                OURS,
                *_scores(results, s),
                MISSING,
                *_links(results, s),
            )
            for s in ours
        ]
        theirs = {p.setting: p for p in _published(results, table)}
        first = len(rows)
        rows += [
            (name or "XLM-Align", "XTREME", PUBLISHED, *_printed(results, table, name), MISSING, MISSING)
            for name in names
            if name in theirs
        ]
        yield (
            f"table-{table}",
            Table(
                f"Table {table} of XLM-Align: {title[0].lower()}{title[1:]}, {scale}",
                ("setting", "languages", "whose", *head, "QA F1 ZS", "AER, last layer", "precision of labels"),
                tuple(rows),
                _note(results),
                frozenset(range(first, len(rows))),
                tuple(sorted({r.run for r in _records(results, ours)})),
                labels=3,
            ),
        )


def ablation_figure(results: Results, scale: str) -> Plot | None:
    """What each setting gains over XLM-Align as it is, a panel for each task; None without a setting to compare."""
    compared = list(dict.fromkeys((s.name, s.objective, s.transform) for s in settings(results) if s.name != DEFAULT))
    default = f"XLM-ALIGN{_start(results)}"
    if not compared or default not in results.objectives:
        return None
    several = len(results.transforms) > 1
    labels = [f"{name}{f' ({transform_name(transform)})' * several}" for name, _, transform in compared]
    printed = _gains(results)
    with styled(3.4 + 2.5 * len(TASKS), 1.9 + 0.36 * len(labels), f"XLM-Align’s parts and values, {scale}") as figure:
        axes = figure.subplots(1, len(TASKS), sharey=True)
        for panel, task in zip(axes, TASKS, strict=True):
            for y, (name, objective, transform) in enumerate(compared):
                gain = difference(
                    *(results.scores("ZS", o, transform, task, PRIMARY[task]) for o in (objective, default))
                )
                if gain:
                    half = None if gain.half is None else 100 * gain.half
                    panel.errorbar(100 * gain.mean, y, xerr=half, fmt="o", color="#0072B2", capsize=3, markersize=6)
                if (name, task) in printed:
                    panel.plot(100 * printed[name, task], y + 0.22, "D", color=INK, markerfacecolor="white")
            panel.axvline(0, color=INK, linewidth=0.8)
            panel.set_title(f"{task_name(task)}, {metric_name(PRIMARY[task])}")
            panel.set_xlabel("points of ZS gained")
        axes[0].set_yticks(range(len(labels)), labels)
        axes[0].set_ylim(len(labels) - 0.5, -0.5)
        handles = [key("ours", "#0072B2", "o"), key("published, at the paper’s scale", INK, "D", "none")]
        figure.legend(handles=handles, loc="outside lower center", ncols=2)
        over = "over seeds" if len(results.seeds) > 1 else "over the test items of one seed"
        caption = (
            "Each row changes one thing about XLM-Align; to the left of the line it is worse than XLM-Align as it is. "
            f"Lines are 95 % intervals {over} of the difference. White markers are the paper’s own "
            "numbers, at a far larger scale and on real languages."
        )
        shown = [p for table in TABLES for p in _published(results, table) if p.task in TASKS]
        title = f"Tables 3 to 7 of XLM-Align as differences, {scale}"
        records = [r for r in _records(results, settings(results)) if r.measure == "ZS"]
        return Plot(figure, "figure-ablations", title, caption, records, shown)


def top_layer(results: Results) -> str:
    """The metric of AER after the last layer, each side encoded alone."""
    layers = {r.metric for r in results.records if r.measure == AER and not r.metric.endswith("joint")}
    return max(layers, key=lambda name: int(name.split()[1]), default="")


def _start(results: Results) -> str:
    """The end of the objectives' names that most ablations have: empty, or what they begin after."""
    ends = [name.removeprefix(f"{name.partition('-after-')[0]}") for name in results.objectives if "XLM-ALIGN" in name]
    return max(dict.fromkeys(ends), key=ends.count, default="")


def _scores(results: Results, s: Setting) -> tuple[str, ...]:
    return tuple(cell(mean(results.scores("ZS", s.objective, s.transform, task, PRIMARY[task]))) for task in TASKS)


def _links(results: Results, s: Setting) -> tuple[str, str]:
    labels: BySeed = results.scores(LABELS, s.objective, s.transform, "", "precision")
    return cell(mean(results.scores(AER, s.objective, s.transform, "", top_layer(results)))), cell(mean(labels))


def _published(results: Results, table: int) -> list[Published]:
    return [p for p in results.published if p.table == table]


def _printed(results: Results, table: int, setting: str) -> tuple[str, ...]:
    found = {p.task: percent(p.value) for p in _published(results, table) if p.setting == setting}
    return tuple(found.get(task, MISSING) for task in (*TASKS, PRINTED))


def _gains(results: Results) -> dict[tuple[str, str], float]:
    """The published difference to the default, by setting and task; POS's is of F1 on bare tags."""
    default = {p.task: p.value for p in _published(results, 3) if p.setting == DEFAULT}
    return {
        (p.setting, p.task): p.value - default[p.task]
        for table in TABLES
        for p in _published(results, table)
        if p.setting != DEFAULT and p.task in TASKS
    }


def _records(results: Results, rows: list[Setting]) -> list[Record]:
    shown = {(s.objective, s.transform) for s in rows}
    return [r for r in results.records if (r.objective, r.transform) in shown and r.measure in ("ZS", AER, LABELS)]


def _note(results: Results) -> str:
    n, start = len(results.seeds), _start(results)
    begun = f"each begins {start[1:].replace('-', ' ', 1)}" if start else "each begins with weights that are drawn"
    over = f"{n} seeds, mean ± half the 95 % interval over seeds" if n > 1 else "one seed, so no interval"
    default = mean(results.scores(AER, f"XLM-ALIGN{start}", results.transforms[0], "", top_layer(results)))
    aer = "" if default is None else " AER is over gold links of derived sentences; labels are those of the last steps."
    return (
        f"Percent; ours: {over}; {begun}. Published are means over XTREME’s real languages; its POS is F1 on bare tags."
        f"{aer} {MISSING}: not measured."
    )

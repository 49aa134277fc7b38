"""An objective has one look in all figures of all studies, and no two objectives of a study have the same."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from matplotlib.artist import Artist
from matplotlib.collections import PathCollection
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from calque.analysis.papers.align_mlm.dials import order_figure
from calque.analysis.papers.align_mlm.figures import correlation_figure, delta_figure, floor_figure
from calque.analysis.papers.columns import specified_figure
from calque.analysis.papers.equal_terms import objectives_figure
from calque.analysis.papers.looks import BY_NAME, OWN, look, looks
from calque.analysis.papers.xlm_align.continued import Continued
from calque.analysis.papers.xlm_align.figures import ablation_figure, error_figures, task_figure
from calque.analysis.papers.xlm_align.links import Systems, layer_figure
from calque.analysis.records import json_rows
from calque.analysis.records.record import Floor, Published, Record
from calque.analysis.records.run import RUNS, Described, Run, Start
from calque.analysis.report import drawing
from calque.analysis.report.plot import Plot
from calque.analysis.results.results import Results
from tests.analysis.drawn import legend
from tests.analysis.runs import number, run, runs
from tests.experiments.committed import ROOT, committed, read

growth_figure = partial(specified_figure, "figure-growth")
EXAMPLES = (*BY_NAME, "XLM-10", "ALIGN-MLM-100", "XLM-ALIGN-no-dwa", "XLM-ALIGN-gold", "XLM-ALIGN-after-MLM")
FIGURES: dict[str, Callable[[Results, str], Plot | None]] = {
    "figure-2-delta": delta_figure,
    "figure-3-correlation": correlation_figure,
    "figure-ablations": ablation_figure,
    "figure-floors": floor_figure,
    "figure-growth": growth_figure,
    "figure-labels": partial(specified_figure, "figure-labels"),
    "figure-objectives": objectives_figure,
    "figure-order": order_figure,
}
GRIDS = {
    "align_mlm_pocket": ["figure-3-correlation"],
    "pocket": ["figure-growth"],
    "control": ["figure-2-delta", "figure-floors"],
    "knowledge": ["figure-growth"],
    "order_dial": ["figure-order"],
    "xlm_align_pocket": ["figure-labels", "figure-ablations", "figure-floors"],
    "objectives_seconds": ["figure-objectives", "figure-growth"],
    "objectives_pocket": ["figure-growth"],
}
"""Figures with objectives in their legends: one of every kind, and those of most studies."""
CONTINUED = {"xlm_align_small": ["figure-tasks", "figure-aer-ot"], "xtreme_continued": ["figure-tasks"]}
PLAIN = ("MLM", "XLM", "DICT-MLM", "ALIGN-MLM", "XLM-Align", "PreAlign", "LINK", "WEAM")


def described(name: str) -> tuple[Described, Start | None]:
    """An objective and what it starts from, as a run has them."""
    made = run("trans", name, 0)
    assert made.objective
    return made.objective, made.start


def study_of(*names: str) -> Results:
    records = [number("trans", name, 0, "ZS", "pos", "accuracy", 0.5, 9) for name in names]
    return Results(runs(records), records)


def test_no_two_objectives_look_the_same_and_a_study_changes_no_look() -> None:
    results = study_of(*EXAMPLES)
    found = looks(results)
    assert list(found) == list(EXAMPLES)
    assert len({(one.colour, one.marker) for one in found.values()}) == len(EXAMPLES)
    assert len({one.colour for one in BY_NAME.values()}) == len({one.marker for one in BY_NAME.values()}) == 10
    for name in EXAMPLES:
        alone = look(*described(name))
        if name not in ("XLM-10", "ALIGN-MLM-100"):  # each is here with the objective that it differs from in a number
            assert found[name] == alone == looks(study_of(name))[name]
    assert found["XLM-10"].colour == found["XLM"].colour and found["XLM-10"].marker != found["XLM"].marker


@pytest.mark.parametrize(
    ("name", "plain", "marker"),
    [
        ("XLM-100", "XLM", True),
        ("PPA-queue2048-momentum99", "PPA", True),
        ("WEAM-after-MLM", "WEAM", True),
        ("XLM-ALIGN-100", "XLM-ALIGN", True),
        ("XLM-ALIGN-no-dwa", "XLM-ALIGN", False),
        ("XLM-ALIGN-gold", "XLM-ALIGN", False),
        ("XLM-ALIGN-after-MLM", "XLM-ALIGN", False),
        ("XLM-ALIGN-after-ALIGN-MLM", "XLM-ALIGN", False),
        ("MLM-after-ALIGN-MLM", "MLM", False),
        ("DICT-MLM-label", "DICT-MLM", False),
        ("WORD-ALIGNED-frozen-after-MLM", "WORD-ALIGNED", False),
    ],
)
def test_another_form_has_its_familys_colour(name: str, plain: str, marker: bool) -> None:
    """The marker is the family's where only numbers differ, or where the family starts from a model anyway."""
    form, usual = look(*described(name)), BY_NAME[plain]
    assert form.colour == usual.colour
    assert (form.marker == usual.marker) == marker
    assert (form.dash == "-") == (name == "WEAM-after-MLM")
    assert bool(form.bar["hatch"]) == (not marker)


def test_objectives_of_a_user_have_looks_of_their_own_and_only_so_many() -> None:
    def results(count: int) -> Results:
        names = [f"mine-{n}" for n in range(count)]
        languages = run("trans", "MLM", 0).languages
        made = [Run(name, "toy", 0, languages, Described(name, name, ({"kind": name},))) for name in names]
        records = [number("trans", "MLM", 0, "ZS", "pos", "accuracy", 0.5, 9)]
        rows = [type(record)(**{**vars(record), "run": one.id}) for one in made for record in records]
        return Results(made, rows)

    found = looks(results(len(OWN))).values()
    assert [(one.colour, one.marker) for one in found] == list(OWN)
    assert not {(one.colour, one.marker) for one in found} & set(drawing.LOOKS)
    assert not looks(results(len(OWN) + 1))


def shown_by(name: str, figure: str, folder: Path) -> Results:
    """What a committed figure shows, from the rows next to it."""
    kinds = {"run": Record, "learnt": Floor, "paper": Published}
    lines = committed(ROOT / name / "figures" / f"{figure}.jsonl").splitlines(keepends=True)
    rows: dict[str, list[Any]] = {}
    for field, kind in kinds.items():
        (folder / field).write_text("".join(line for line in lines if f'"{field}": ' in line), encoding="utf-8")
        rows[field] = json_rows.read(folder / field, kind)
    return Results(json_rows.read(ROOT / name / RUNS, Run), rows["run"], rows["paper"], rows["learnt"])


def drawn_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, Plot | None]]:
    """Committed figures, by their studies."""
    monkeypatch.setenv("CALQUE_DATA", "data")  # studies only name their files
    for name, figures in GRIDS.items():
        yield from ((name, FIGURES[figure](shown_by(name, figure, folder), "")) for figure in figures)
    yield "knowledge", specified_figure("figure-knowledge", read("knowledge", "align_mlm"), "")
    systems = Systems(shown_by("word_alignment", "figure-2-layers", folder))
    yield "word_alignment", layer_figure(systems, "")
    for name, figures in CONTINUED.items():
        for figure in figures:
            study = Continued(shown_by(name, figure, folder))
            yield name, task_figure(study, "") if figure == "figure-tasks" else next(error_figures(study, ""))


def seen(artist: Artist) -> tuple[str, str]:
    """Colour and marker of an entry of a legend; a bar has no marker."""
    if isinstance(artist, Patch):
        return to_hex(artist.get_facecolor()), ""
    assert isinstance(artist, Line2D)
    return to_hex(artist.get_color()), str(artist.get_marker())


def named(figure: Figure) -> dict[str, tuple[str, str]]:
    """Colour and marker by what a legend says."""
    return {text: seen(artist) for text, artist in legend(figure).items()}


def shown(figure: Figure) -> set[tuple[str, str]]:
    """Colours and markers of what stands in a figure's panels; colours alone of bars and lines without markers."""
    found = set()
    for panel in figure.axes:
        assert not [one for one in panel.collections if isinstance(one, PathCollection)]
        found |= {(to_hex(line.get_color()), str(line.get_marker())) for line in panel.lines}
        found |= {(to_hex(bar.get_facecolor()), "") for bar in panel.patches}
    return found

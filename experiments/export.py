"""Tables, records and training curves of a study in the formats of other programs."""

from __future__ import annotations

import csv
import dataclasses
import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from calque.analysis.records import json_rows
from calque.analysis.records.record import LinkCounts, Record
from calque.analysis.report.curves import quantities
from calque.analysis.report.numeric import inert
from calque.analysis.report.table import Table
from calque.derive.errors import BadInput, unknown
from calque.derive.files import whole_file, whole_folder
from calque.derive.strict_json import line

_DEFAULTS = {field.name: field.default for field in dataclasses.fields(Record)}
_PARTS = {"links": dataclasses.asdict(LinkCounts())}


def table_of(folder: Path, name: str | None) -> Table:
    """The table of a report that its file NAME.md holds."""
    names = sorted(path.stem for path in folder.glob("*.md") if path.stem != "README")
    if name is None:
        raise BadInput(f"which table? --table takes one of {', '.join(names) or 'none: there are no tables'}", folder)
    if name not in names:
        raise BadInput(unknown("table", name, names), folder)
    try:
        return Table.of_markdown((folder / f"{name}.md").read_text(encoding="utf-8"))
    except ValueError as error:
        raise BadInput(f"expected a table: {error}", folder / f"{name}.md") from None


def flat(rows: list[dict[str, Any]]) -> dict[str, list[Any]]:
    """Records as columns of plain values. Fields of a field, as `null.low`, are columns; defaults are filled in."""
    flattened = []
    for row in rows:
        plain: dict[str, Any] = {}
        for name, value in row.items():
            if isinstance(value, dict):
                plain |= {f"{name}.{part}": one for part, one in (_PARTS.get(name, {}) | value).items()}
            else:
                plain[name] = value
        flattened.append(plain)
    names = dict.fromkeys(name for row in flattened for name in row)
    return {name: [row.get(name, _DEFAULTS.get(name)) for row in flattened] for name in names}


def records_csv(columns: dict[str, list[Any]]) -> str:
    """Columns as comma-separated values; text is never a formula to a spreadsheet."""
    text = io.StringIO()
    rows = ([inert(one) if isinstance(one, str) else one for one in row] for row in zip(*columns.values(), strict=True))
    csv.writer(text, lineterminator="\n").writerows([list(columns), *rows])
    return text.getvalue()


def write_parquet(columns: dict[str, list[Any]], out: Path) -> None:
    """Write columns as Parquet, whole or not at all. Raises BadInput without pyarrow."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise BadInput("Parquet needs pyarrow: pip install 'calque[parquet]'") from None
    with whole_file(out) as part:
        parquet.write_table(pyarrow.table(columns), part)


def training_rows(study: str, runs: Path) -> dict[str, list[dict[str, Any]]]:
    """The training metrics of each model, by its folder below the study's, which is `study` or `runs`/`study`. Raises
    BadInput if metrics.jsonl is missing, or a line is not an object with a step."""
    from calque.pretrain.checkpoint import METRICS  # loads torch

    for place in (Path(study), runs / study):
        if paths := sorted(place.rglob(METRICS)):
            return {str(path.parent.relative_to(place)): _metrics(path) for path in paths}
    raise BadInput(f"no {METRICS} in it or in {Path(study)}; `calque run` writes one for each model", runs / study)


def _metrics(path: Path) -> list[dict[str, Any]]:
    rows = [line(text, path, number) for number, text in enumerate(json_rows.lines(path), start=1)]
    for number, row in enumerate(rows, start=1):
        if type(row.get("step")) is not int:
            raise BadInput("expected the number of a step", path, number)
    return rows


def write_tensorboard(curves: dict[str, list[dict[str, Any]]], out: Path) -> None:
    """Write the curves of each model as TensorBoard event files to a new folder, whole or not at all. Raises BadInput
    without TensorBoard, or if the folder has files."""
    try:
        from tensorboard.compat.proto.event_pb2 import Event
        from tensorboard.compat.proto.summary_pb2 import Summary
        from tensorboard.summary.writer.event_file_writer import EventFileWriter
    except ImportError:
        raise BadInput("events need TensorBoard: pip install 'calque[tensorboard]'") from None
    with _new_folder(out) as part:
        for model, rows in curves.items():
            writer = EventFileWriter(str(part / model))
            for row in rows:
                values = [Summary.Value(tag=tag, simple_value=value) for tag, value in _scalars(row).items()]
                writer.add_event(Event(step=row["step"], summary=Summary(value=values)))
            writer.close()


def write_wandb(curves: dict[str, list[dict[str, Any]]], out: Path) -> None:
    """Write the curves of each model as an offline run of Weights & Biases to a new folder, whole or not at all.
    Nothing is uploaded; `wandb sync` does that. Raises BadInput without wandb, or if the folder has files."""
    try:
        import wandb
    except ImportError:
        raise BadInput("runs of Weights & Biases need wandb: pip install 'calque[wandb]'") from None
    names = ("silent", "disable_git", "disable_code", "x_disable_meta", "x_disable_machine_info", "x_disable_stats")
    quiet: dict[str, Any] = dict.fromkeys(names, True)
    settings = wandb.Settings(mode="offline", console="off", x_save_requirements=False, **quiet)
    with _new_folder(out) as part:
        for model, rows in curves.items():
            with wandb.init(project="calque", name=model, dir=part, settings=settings) as run:
                for row in rows:
                    run.log(_scalars(row), step=row["step"])
        (part / "wandb" / "latest-run").unlink(missing_ok=True)  # a link to where the folder was written


def _scalars(row: dict[str, Any]) -> dict[str, float]:
    """The numbers of a row of training, named as in `loss/mlm`."""
    return {name.replace(": ", "/"): value for name, value in quantities(row)}


@contextmanager
def _new_folder(out: Path) -> Iterator[Path]:
    if out.is_dir() and any(out.iterdir()):
        raise BadInput("expected a new or empty folder", out)
    with whole_folder(out) as part:
        yield part

"""Records that a report left, by the name of its study or by its folder: enough to test what they say again."""

from __future__ import annotations

from pathlib import Path

from analysis.records import json_rows
from analysis.records.record import RECORDS, Record
from analysis.records.run import RUNS, Run
from analysis.results.results import Results
from derive.errors import BadInput
from experiments.study import REPORT


def recorded(study: str, runs: Path) -> tuple[Path, Results]:
    """The folder with a study's records, and what is in it: `study` itself, or below `runs` its report or its records.

    Raises:
        BadInput: there are none, or they are damaged.
    """
    tried = (Path(study), runs / study / REPORT, runs / study)
    folder = next((one for one in tried if (one / RECORDS).is_file()), None)
    if folder is None:
        raise BadInput(f"no {RECORDS} in any of {', '.join(map(str, tried))}; `calque report` writes one")
    made, records = json_rows.read(folder / RUNS, Run), json_rows.read(folder / RECORDS, Record)
    for line, record in enumerate(records, start=1):
        try:
            record.check()
        except ValueError as error:
            raise BadInput(str(error), folder / RECORDS, line) from None
    try:
        return folder, Results(made, records)
    except BadInput as error:
        raise BadInput(str(error), folder) from None

"""`calque compare`: comparing two reports."""

import json
from typing import Annotated

import typer

from calque.derive.errors import printable
from calque.experiments.commands.options import Json, Root
from calque.experiments.run.places import ROOT

SHOWN = 20  # differences listed; the rest are counted


def compare(
    first: Annotated[
        str,
        typer.Argument(
            help="A folder with records.jsonl and runs.jsonl, or a report listed by `calque runs`."
        ),
    ],
    second: Annotated[str, typer.Argument(help="The report to compare it with.")],
    as_json: Json = False,
    runs: Root = ROOT,
) -> None:
    """Compare the conclusions, numbers and records in two reports.

    First says whether the verdicts on claims agree, and whether any number used in claims differs by more
    than noise (Welch's t-test over seeds, or a z-test over test items if numbers do not vary over seeds, with
    Holm's correction). Then counts and lists the records that differ.

    The exit code is 0 if all records are equal, 1 if any differs or is missing, and 2 if the reports share
    none.
    """
    from calque.experiments.report.comparison import ALPHA, ITEMS, SEEDS, compare_reports
    from calque.experiments.report.folder import report_folder

    found = compare_reports(report_folder(first, runs), report_folder(second, runs))
    counts = {
        "verdict": found.verdict,
        "claims": len(found.claims),
        "changed": [{"claim": claim, "first": a, "second": b} for claim, (a, b) in found.changed.items()],
        "tested": {noise: found.tested[noise] for noise in (SEEDS, ITEMS)},
        "differ": found.nominal,
        "differ_corrected": found.beyond,
        "equal": found.equal,
        "not_equal": len(found.different),
    }
    if as_json:
        typer.echo(json.dumps(counts, ensure_ascii=False, indent=2))
    else:
        typer.echo(found.verdict)
        for claim, (here, there) in found.changed.items():
            typer.echo(printable(f"  {claim}: {here}; in {second}: {there}"))
        _list([f"  {title}" for title in found.beyond])
        if found.different and found.tested:
            over = (f"{found.tested[of]:,} over {of}" for of in (SEEDS, ITEMS) if found.tested[of])
            typer.echo(
                f"Numbers tested: {' and '.join(over)}. {found.nominal:,} differ at {ALPHA:.0%} before "
                f"correction ({ALPHA * found.tested.total():,.0f} expected by chance), {len(found.beyond):,} "
                "after it."
            )
        typer.echo(f"Records: {found.equal:,} equal, {len(found.different):,} not.")
        _list(found.different)
    if found.different:
        raise typer.Exit(1)


def _list(lines: list[str]) -> None:
    for line in lines[:SHOWN]:
        typer.echo(printable(line))
    if len(lines) > SHOWN:
        typer.echo(f"... and {len(lines) - SHOWN:,} more")

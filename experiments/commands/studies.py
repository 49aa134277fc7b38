"""`calque studies`: list the studies, each with a one-line description."""

from __future__ import annotations

import typer


def studies() -> None:
    """List the studies, each with a one-line description."""
    from experiments.names import STUDIES, study_doc

    for name in STUDIES:
        typer.echo(f"{name:<21}{study_doc(name)}")

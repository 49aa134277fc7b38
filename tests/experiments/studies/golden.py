"""The fingerprints of the values of every study: `python -m tests.experiments.studies.golden` rewrites
golden.json. Run it when a change is meant to change what a study computes, and say so in its description: the
committed records were computed with the earlier values."""

import dataclasses
import json
import os
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

from calque.derive.fingerprint import fingerprint, sha256
from calque.derive.pocket.language import PocketEnglish
from calque.experiments.settings.catalogue import named_study, studies

PATH = Path(__file__).with_name("golden.json")
PLACES = {"CALQUE_DATA": "data of the tests", "CALQUE_ENCODER": "encoder"}
"""Folders that need not exist, since a study only names its files."""


def values(name):
    everyday = mock.patch(
        "calque.derive.sources.everyday.opened", lambda: SimpleNamespace(folder=Path("everyday"))
    )
    with mock.patch.dict(os.environ, PLACES), everyday:
        os.environ.pop("CALQUE_STANZA", None)
        made = named_study(name)
    found = {field.name: getattr(made, field.name) for field in dataclasses.fields(made)}
    if made.shipped:  # a file of the package
        found["shipped"] = made.shipped.name
    if made.claims:
        found["claims"] = sha256(made.claims)
    prints = {field: fingerprint(value) for field, value in found.items()}
    if isinstance(getattr(made.languages, "source", None), PocketEnglish):
        prints["folders"] = fingerprint([str(step.folder) for step in made.steps(Path())])
    return prints


if __name__ == "__main__":
    PATH.write_text(json.dumps({name: values(name) for name in studies()}, indent=1) + "\n")

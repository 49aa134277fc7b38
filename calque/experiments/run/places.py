"""Results folders: their names, and the shared steps that each report uses.

<root>/shared/...                  the steps
<root>/<study>/<report>/uses.json  a report's steps, recorded before they are computed
"""

import re
from collections.abc import Sequence
from pathlib import Path

from calque.derive.errors import BadInput, shown

ROOT = Path("runs")  # the default results folder
CACHE = "cache"  # its subfolder for the learnt grammars and parsed trees of all studies
SHARED = "shared"  # its subfolder for the steps of all studies
REPORT = "report"  # the folder of a study's report
USES = "uses.json"
RESERVED = ("floors", "languages", "report", "reports", "start", "tasks")
"""Names of Calque's own folders in a study."""
LONGEST = 120  # maximum bytes in a name; file systems allow 255, but fingerprints and splits are appended


def name_mistakes(
    key: str, names: Sequence[str], least: int = 1, taken: Sequence[str] = RESERVED
) -> list[str]:
    """Return a message for each error in names of new folders."""
    wrong = [] if len(names) >= least else [f"{key}: expected at least one"]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        wrong.append(f"{key}: named twice: {', '.join(map(shown, twice))}")
    for name in names:
        if not name.isprintable() or not re.fullmatch(r"[^/.][^/]*", name):
            expected = "expected no slash, no leading dot and no invisible character"
            wrong.append(f"{key}: {shown(name)} cannot be a folder's name; {expected}")
        if name.lower() in taken:
            wrong.append(f"{key}: Calque itself uses the name {name}; choose another")
        if len(name.encode()) > LONGEST:
            wrong.append(f"{key}: {shown(name)} is too long for a folder's name")
    return wrong


def check_report_name(name: str | None) -> str | None:
    """Return a report's name; raise BadInput if it cannot be used as a folder name."""
    if name and (wrong := name_mistakes("--name", [name], taken=())):
        raise BadInput(wrong)
    return name

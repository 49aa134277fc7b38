"""The steps that all studies below one root share, and removal of unused ones.

<root>/shared/...                  the steps
<root>/<study>/<report>/uses.json  a report's steps, recorded before they are computed
"""

import os
import re
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

from calque.derive.errors import BadInput
from calque.derive.files import claimed, write_json
from calque.derive.strict_json import loads
from calque.experiments.run.places import SHARED
from calque.experiments.run.step import Step

USES = "uses.json"
_STEP = re.compile(r".+-[0-9a-f]{12}", re.DOTALL)


def note_use(report: Path, root: Path, steps: Iterable[Step]) -> None:
    """Record the steps that a report uses. Raises BadInput if an earlier version of Calque, which did not
    share steps, computed the study below `root`."""
    study = root / report.relative_to(root).parts[0]
    if old := next((place for pattern in ("", "*/") for place in study.glob(f"{pattern}languages-*")), None):
        advice = "move its study away, or choose another --runs folder"
        raise BadInput(f"computed by an earlier version of Calque; {advice}", old)
    write_json(report / USES, [step.folder.relative_to(root / SHARED).as_posix() for step in steps])


def users(root: Path) -> dict[str, list[str]]:
    """Map each step's path in the shared folder to the reports that use the step."""
    found: dict[str, list[str]] = {}
    for path in sorted(root.glob(f"*/**/{USES}")):
        try:
            names = loads(path.read_text(encoding="utf-8"))
        except ValueError as error:
            raise BadInput(f"damaged; run the study again, or remove its report: {error}", path) from None
        for name in names:
            found.setdefault(name, []).append(path.parent.relative_to(root).as_posix())
    return found


def unused(root: Path) -> Iterator[Path]:
    """Yield the folders of steps that no report uses."""
    used = users(root)
    above = {parent.as_posix() for name in used for parent in Path(name).parents}
    for place, folders, _ in os.walk(root / SHARED):
        for name in sorted(folders):
            folder = Path(place, name)
            relative = folder.relative_to(root / SHARED).as_posix()
            if _STEP.fullmatch(name) and relative not in used and relative not in above:
                folders.remove(name)
                yield folder


def prune(root: Path) -> list[Path]:
    """Remove the steps that no report uses and no process is computing; return their folders."""
    removed = []
    for folder in list(unused(root)):
        try:
            with claimed(folder):
                shutil.rmtree(folder)
        except BadInput:
            continue
        removed.append(folder)
    return removed

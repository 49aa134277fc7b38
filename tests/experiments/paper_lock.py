"""The conclusions and bytes of every item of the papers: `python -m tests.experiments.paper_lock` writes them
anew.
"""

import json
from pathlib import Path
from tempfile import TemporaryDirectory

from calque.derive.fingerprint import fingerprint, sha256
from calque.experiments.report.paper import conclusions, items, rendered, write

LOCK = Path(__file__).with_name("papers.lock.json")
LOCKED = (".md", ".tex", ".svg", ".jsonl")  # PNG and PDF differ between library versions


def lock():
    locked = {}
    with TemporaryDirectory() as name:
        for one in items():
            paths = write(one, rendered(one), Path(name))
            files = {path.name: sha256(path) for path in paths if path.suffix in LOCKED}
            found = [f"{each.direction}, {each.size}" for each in conclusions(one.paper)[one.name]]
            locked[one.full_name] = [fingerprint(files), *found]
    return locked


if __name__ == "__main__":
    LOCK.write_text(json.dumps(lock(), indent=1, ensure_ascii=False) + "\n")

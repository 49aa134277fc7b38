"""The conclusions and files of every item of the papers: `python -m tests.experiments.paper_lock` writes them anew."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from calque.derive.fingerprint import sha256
from calque.experiments.paper import conclusions, items, write

LOCK = Path(__file__).with_name("papers.lock.json")
LOCKED = (".md", ".csv", ".tex", ".svg", ".jsonl")  # PNG and PDF differ by the version of a library


def lock() -> dict[str, dict[str, Any]]:
    """Each item with its conclusions, and the digests of the files that are the same bytes wherever they are made."""
    with TemporaryDirectory() as name:
        return {
            one.full_name: {
                "records": one.records,
                "conclusions": list(map(str, conclusions(one.paper)[one.name])),
                "files": {file.name: sha256(file) for file in write(one, Path(name)) if file.suffix in LOCKED},
            }
            for one in items()
        }


if __name__ == "__main__":
    LOCK.write_text(json.dumps(lock(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")

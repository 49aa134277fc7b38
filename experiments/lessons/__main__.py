"""Write the generated files of the lesson: `python -m experiments.lessons` its notebook and its lab sheet, and
`python -m experiments.lessons RUNS` its models, after `calque run lesson --set shipped=none --runs RUNS`."""

import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from calque.experiments.lessons import HERE, MODELS
from calque.experiments.lessons.notebook import ipynb

PRINT = ("--headless", "--no-sandbox", "--disable-gpu", "--no-pdf-header-footer")


def main() -> None:
    """Write them next to their sources."""
    if len(sys.argv) > 1:
        from calque.experiments.names import study
        from calque.pretrain.shipped import pack

        steps = study("lesson").changed(shipped=None).trained(Path(sys.argv[1]))
        pack({step.fingerprint: step.folder for step in steps}, MODELS)
        return
    text = ipynb((HERE / "lesson.py").read_text(encoding="utf-8"))
    (HERE / "lesson.ipynb").write_text(text, encoding="utf-8", newline="\n")
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        raise SystemExit("no Chromium is installed, which prints the lab sheet")
    with TemporaryDirectory() as profile:
        command = [browser, *PRINT, f"--user-data-dir={profile}", f"--print-to-pdf={HERE / 'sheet.pdf'}"]
        subprocess.run([*command, (HERE / "sheet.html").as_uri()], check=True, capture_output=True)


if __name__ == "__main__":
    main()

"""Write the generated files of the lesson: `python -m experiments.lessons` its notebook and its lab sheet, and
`python -m experiments.lessons RUNS` its models, after `calque run lesson --set shipped=none --runs RUNS`."""

import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from markdown_it import MarkdownIt

from calque.experiments.lessons import HERE, MODELS
from calque.experiments.lessons.notebook import ipynb

PRINT = ("--headless", "--no-sandbox", "--disable-gpu", "--no-pdf-header-footer")
STYLE = """@page { size: A4; margin: 13mm } body { font: 10.5pt/1.4 sans-serif } h1 { font-size: 16pt; margin: 0 }
p { margin: .6em 0; overflow: hidden } hr { border: 0; border-bottom: 1px solid; margin: 1.7em 0 .8em }
table { border-collapse: collapse; table-layout: fixed; width: 100% }
th, td { border: 1px solid; padding: .35em; text-align: left }"""


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
    body = MarkdownIt().enable("table").render((HERE / "sheet.md").read_text(encoding="utf-8"))
    with TemporaryDirectory() as folder:
        page = Path(folder, "sheet.html")
        page.write_text(f'<!doctype html><html lang="en"><title>Lab sheet</title><style>{STYLE}</style>{body}', "utf-8")
        command = [browser, *PRINT, f"--user-data-dir={folder}/profile", f"--print-to-pdf={HERE / 'sheet.pdf'}"]
        subprocess.run([*command, page.as_uri()], check=True, capture_output=True)


if __name__ == "__main__":
    main()

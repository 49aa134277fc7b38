"""Headless Chromium, axe-core and pdftotext: what they say of a page."""

import json
import re
import shutil
import subprocess
from html import unescape
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = """--headless --no-sandbox --disable-gpu --disable-quic --no-first-run
    --disable-background-networking""".split()
AXE = find_spec("axe_playwright_python")
FRAMES = """<!DOCTYPE html><meta charset="utf-8"><body><script>
const page = {page}, found = {{}};
async function inspect() {{
  for (const [width, mode] of {cases}) {{
    const frame = document.createElement("iframe");
    Object.assign(frame, {{ srcdoc: page, style: `width: ${{width}}px; height: 900px` }});
    const loaded = new Promise((done) => {{ frame.onload = done; }});
    document.body.append(frame);
    await loaded;
    try {{
      const view = frame.contentWindow, root = frame.contentDocument.documentElement;
      root.style.colorScheme = mode;
      found[`${{width}} ${{mode}}`] = await look(view, frame.contentDocument, root);
    }} catch (error) {{ found[`${{width}} ${{mode}}`] = String(error); }}
    frame.remove();
  }}
  document.body.textContent = JSON.stringify(found);
}}
{look}
inspect();
</script>"""
AUDIT = """async function look(view, page, root) {
  page.querySelectorAll("details").forEach((part) => { part.open = true; });
  const { violations } = view.axe ? await view.axe.run(page) : { violations: [] };
  return {
    overflow: root.scrollWidth - root.clientWidth,
    requests: view.performance.getEntriesByType("resource").length,
    violations: violations.filter((each) => ["serious", "critical"].includes(each.impact))
      .map((each) => [each.id, ...each.nodes.map((node) => node.html.slice(0, 200))]),
  };
}"""


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Chromium with a profile in `folder`."""
    if BROWSER is None:
        pytest.skip("no Chromium is installed")
    command = [BROWSER, *FLAGS, f"--user-data-dir={folder / 'profile'}", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)


def inspect(page: str, look: str, cases: list[tuple[int, str]], folder: Path) -> dict[str, Any]:
    """What the function `look(view, page, root)` of a script returns for each width and mode of a page, and
    what the browser wrote to its console."""
    frames = folder / "frames.html"
    words = json.dumps(page).replace("</", "<\\/").replace("<!--", "<\\!--")
    frames.write_text(FRAMES.format(page=words, cases=json.dumps(cases), look=look), encoding="utf-8")
    ran = run(
        folder, "--enable-logging=stderr", "--virtual-time-budget=200000", "--dump-dom", frames.as_uri()
    )
    body = re.search(r"<body>(\{.*\})", ran.stdout, re.DOTALL)
    assert body, ran.stdout[-500:] + ran.stderr[-2000:]
    return {"console": re.findall(r"CONSOLE.*", ran.stderr), **json.loads(unescape(body[1]))}


def audit(page: str, folder: Path) -> dict[str, Any]:
    """What `AUDIT` finds on a phone in light and on a desk in dark; with axe-core where it is installed, for
    which the page's policy is relaxed."""
    if AXE and AXE.origin:
        script = Path(AXE.origin).with_name("axe.min.js").read_text(encoding="utf-8")
        page = re.sub(r"script-src '[^']*'", "script-src 'unsafe-inline'", page, count=1)
        page = page.replace("</head>", f"<script>{script}</script></head>", 1)
    return inspect(page, AUDIT, [(390, "light"), (1400, "dark")], folder)


def words_cut(page: Path, folder: Path) -> list[str]:
    """The words of a printed page that are not whole on the paper."""
    if shutil.which("pdftotext") is None:
        pytest.skip("no pdftotext is installed")
    pdf = folder / "printed.pdf"
    run(folder, "--no-pdf-header-footer", f"--print-to-pdf={pdf}", page.as_uri())
    boxes = subprocess.run(
        ["pdftotext", "-bbox", pdf, "-"], capture_output=True, text=True, check=True
    ).stdout
    cut, words = [], 0
    for sheet in boxes.split("<page ")[1:]:
        width, height = map(float, re.findall(r'"([\d.]+)"', sheet)[:2])
        for found in re.finditer(
            r'<word xMin="(.+?)" yMin="(.+?)" xMax="(.+?)" yMax="(.+?)">(.*?)</word>', sheet
        ):
            left, top, right, bottom = map(float, found.groups()[:4])
            words += 1
            if left < 0 or top < 0 or right > width or bottom > height:
                cut.append(found[5])
    assert words > 100
    return cut

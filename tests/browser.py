import json
import re
import shutil
import subprocess
from html import unescape

import pytest

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = """--headless --no-sandbox --disable-gpu --disable-quic --no-first-run
    --disable-background-networking""".split()
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


def run(folder, *arguments):
    if BROWSER is None:
        pytest.skip("no Chromium is installed")
    command = [BROWSER, *FLAGS, f"--user-data-dir={folder / 'profile'}", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)


def inspect(page, look, cases, folder):
    """Return the results of a script's function `look(view, page, root)` for each width and mode of a page,
    and the browser's console."""
    frames = folder / "frames.html"
    words = json.dumps(page).replace("</", "<\\/").replace("<!--", "<\\!--")
    frames.write_text(FRAMES.format(page=words, cases=json.dumps(cases), look=look))
    ran = run(
        folder, "--enable-logging=stderr", "--virtual-time-budget=200000", "--dump-dom", frames.as_uri()
    )
    body = re.search(r"<body>(\{.*\})", ran.stdout, re.DOTALL)
    assert body, ran.stdout[-500:] + ran.stderr[-2000:]
    return {"console": re.findall(r"CONSOLE.*", ran.stderr), **json.loads(unescape(body[1]))}

"""The documentation site: `make docs` builds it into build/site. Its source is the whole repository, so that
links between pages work in a repository browser, too."""

import re
import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.util import logging

import calque

ROOT, RECORDS = Path(__file__).parents[1], "experiments/records/"
sys.path.insert(0, str(ROOT))
logger = logging.getLogger(__name__)

project, author, copyright = "Calque", "The Calque authors", "The Calque authors"
release = calque.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.doctest", "sphinx.ext.napoleon"]
root_doc = "docs/index"
include_patterns = ["docs/**", f"{RECORDS}**", "CHANGELOG.md"]
exclude_patterns = [".*", "build", "data", "runs", "tests", "docs/_root", "docs/_static"]
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 4
nitpicky = True
nitpick_ignore_regex = [(r"py:.*", r".*")]  # types in signatures have no page here
default_role = "code"  # `single` backticks of docstrings
autodoc_typehints = "description"
autodoc_member_order = "bysource"

html_theme = "furo"
html_title = f"Calque {release}"
html_static_path, html_extra_path = ["_static"], ["_root"]
html_css_files = ["site.css"]
html_theme_options = {"navigation_with_keys": True}
html_copy_source = html_show_sourcelink = False
html_math_renderer = "mathml"


def math(translator: Any, node: nodes.math | nodes.math_block) -> None:
    """Write an equation as MathML, which needs no script or font of another server."""
    try:
        translator.body.append(tex2mathml(node.astext(), as_block=isinstance(node, nodes.math_block)))
    except MathError as error:
        logger.warning("unknown equation: %s", error, location=node)
    raise nodes.SkipNode


def prepare(app: Sphinx, page: str, source: list[str]) -> None:
    """Remove comments, show text that is only for the site, and make records' titles headings."""
    text = re.sub(r"<!-- site:\s(.*?)\s-->", r"\1", source[0], flags=re.S)
    text = re.sub(
        r"<!--.*?-->\n?", lambda match: "\n" if match.group().endswith("\n") else "", text, flags=re.S
    )
    if page == f"{RECORDS}README":  # a repository browser shows a record's folder, the site its report
        text = re.sub(r"\[`(\w+)`\]\(\1\)", report_link, text)
    if page.startswith((RECORDS, "CHANGELOG")):
        text = "---\norphan: true\n---\n\n" + re.sub(r"\A\*\*(.*)\*\*$", r"# \1", text, count=1, flags=re.M)
    source[0] = text


def report_link(folder: re.Match[str]) -> str:
    """Return a link to a record's report, if it has one."""
    name = f"`{folder[1]}`"
    if not (ROOT / RECORDS / folder[1] / "records.jsonl").is_file():
        return name
    return f'<a href="../../gallery/{folder[1]}/report.html">{name}</a>'


def render(app: Sphinx, error: Exception | None) -> None:
    """Write every committed report to gallery/NAME/report.html."""
    from calque.experiments.report.folder import COMMITTED, describe_records
    from calque.experiments.report.report import summarise_records

    if error is not None or app.builder.name != "html":
        return
    with TemporaryDirectory() as scratch:
        for source in (path.parent for path in sorted(COMMITTED.glob("*/records.jsonl"))):
            name = source.name
            whole, place = Path(scratch, name), Path(app.outdir, "gallery", name)
            summarise_records(source, whole, describe_records(source, name))
            place.mkdir(parents=True, exist_ok=True)
            shutil.copy(whole / "report.html", place)


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_html_math_renderer("mathml", (math, None), (math, None))
    app.connect("source-read", prepare)
    app.connect("build-finished", render)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

"""The documentation site: `make docs` builds it from the Markdown in this folder into build/docs."""

import re
import sys
import tomllib
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

project, author, copyright = "Calque", "The Calque authors", "The Calque authors"
release = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.doctest", "sphinx.ext.napoleon"]
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 4  # links such as data.md#recipes, as a repository browser has them
exclude_patterns = ["_static"]
nitpicky = True
nitpick_ignore_regex = [(r"py:.*", r".*")]  # types in signatures have no page; links between pages are checked
autodoc_typehints = "description"
autodoc_member_order = "bysource"
suppress_warnings = ["misc.highlighting_failure"]  # console transcripts and file excerpts are no program

html_theme = "furo"
html_title = f"Calque {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_theme_options = {"navigation_with_keys": True}


def math(self: Any, node: nodes.math | nodes.math_block) -> None:
    """Write an equation as MathML, which browsers draw without a script or a font from the network."""
    block = isinstance(node, nodes.math_block)
    self.body.append(tex2mathml(node.astext(), as_block=block))
    raise nodes.SkipNode


def without_comments(app: Sphinx, docname: str, source: list[str]) -> None:
    """Remove the comments that mark generated tables and quoted numbers; one in a line of its own ends no paragraph."""
    source[0] = re.sub(r"^<!--.*?-->\n", "\n", source[0], flags=re.M)
    source[0] = re.sub(r"<!--.*?-->", "", source[0])


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_html_math_renderer("mathml", (math, None), (math, None))
    app.connect("source-read", without_comments)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


html_math_renderer = "mathml"

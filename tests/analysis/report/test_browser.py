"""report.html in headless Chromium: it says nothing in the console, fits its window, and its parts work."""

from typing import Any

import pytest

from tests.analysis.paged import toy_page
from tests.browser import inspect

WIDTHS = (390, 1400)
LOOK = """function look(view, page, root) {
  const all = (selector, within = page) => [...within.querySelectorAll(selector)];
  const [data] = all(".data"), [, head] = all("thead button", data);
  const number = (row) => parseFloat(row.cells[1].textContent);
  const column = () => all("tbody tr", data).map(number).filter((each) => !isNaN(each));
  const sorts = [0, 1, 2].map(() => { head.click(); return [head.parentNode.ariaSort, column()]; });
  all("figure .mark")[0].focus();
  const told = page.querySelector(".tip").textContent;
  const [slider] = all("input[type=range]"), means = () => page.querySelector("#training table").textContent;
  const last = means();
  slider.value = 0;
  slider.dispatchEvent(new view.Event("input"));
  return {
    overflow: root.scrollWidth - root.clientWidth,
    requests: view.performance.getEntriesByType("resource").length,
    scripts: all("script:not([type])").length, sorts, told,
    curves: all(".curves svg").length, moved: last !== means(),
    points: Math.max(...all(".curves path[data-s]").map((path) => path.getAttribute("d").split("L").length)),
    unnamed: all("button, a, input, svg[role], [role=region]").filter((each) =>
      !(each.textContent.trim() || each.ariaLabel || each.closest("label"))).length,
    heads: all("th:not([scope])").length, levels: all("h1, h2, h3, h4").map((each) => +each.tagName[1]),
  };
}"""


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What a script saw at each width, and what the browser wrote to its console."""
    folder = tmp_path_factory.mktemp("browser")
    page = toy_page(folder).read_text(encoding="utf-8")
    return inspect(page, LOOK, [(width, "light") for width in WIDTHS], folder)


def test_the_console_is_silent_and_no_request_leaves_the_page(found: dict[str, Any]) -> None:
    assert found["console"] == []
    for width in WIDTHS:
        assert found[f"{width} light"]["requests"] == 0
        assert found[f"{width} light"]["scripts"] == 1, "names that look like scripts are text"


def test_everything_has_a_name_and_headings_skip_no_level(found: dict[str, Any]) -> None:
    seen = found["1400 light"]
    assert seen["unnamed"] == seen["heads"] == 0
    steps = [after - before for before, after in zip(seen["levels"], seen["levels"][1:], strict=False)]
    assert seen["levels"][0] == 1 and max(steps) == 1

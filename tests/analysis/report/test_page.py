import base64
import hashlib
import re
from html.parser import HTMLParser

import pytest

from calque.analysis.report.page import Report, table_html, write_page
from calque.analysis.report.table import MISSING, Table
from tests.analysis.paged import ATTACK, EXAMPLE, toy_page

VOID = {"meta", "link", "input", "img"}


class Checker(HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.links, self.ids, self.text = [], [], [], ""

    def handle_starttag(self, tag, attrs):
        if tag not in VOID:
            self.open.append(tag)
        self.links += [value or "" for name, value in attrs if name in ("src", "href")]
        self.ids += [value or "" for name, value in attrs if name == "id"]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    text = toy_page(tmp_path_factory.mktemp("report")).read_text()
    checker = Checker()
    checker.feed(text)
    return text, checker


def test_every_element_is_closed_and_every_anchor_exists(page):
    _, checker = page
    assert checker.open == []
    anchors = [link[1:] for link in checker.links if link.startswith("#")]
    assert anchors and set(anchors) <= set(checker.ids) and len(set(checker.ids)) == len(checker.ids)


def test_page_makes_no_request(page):
    text, checker = page
    assert all(link.startswith(("#", "data:")) for link in checker.links)
    assert not re.search(r"@import|url\((?!#)|https?://|<script src|<link rel=\"style", text)
    assert not re.search(r"\son\w+=", re.sub(r"<script>.*?</script>", "", text, flags=re.DOTALL))


def test_policy_allows_only_the_pages_script(page):
    text, _ = page
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]+)"', text)
    (script,) = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert policy.startswith("default-src 'none';") and f"script-src 'sha256-{digest}';" in policy


def test_names_and_texts_are_escaped(page):
    text, checker = page
    assert "<unk>" not in text and f"a <unk> & {ATTACK}" in checker.text and ATTACK not in text
    assert "Study <1> & more" in checker.text and "3 pairs longer than a row" in checker.text
    assert EXAMPLE in checker.text


def test_published_numbers_are_mentioned_only_if_there_are_any(page, tmp_path):
    without = toy_page(tmp_path, printed=False).read_text()
    for words in ("Published numbers", "paper’s numbers", "paper’s own cells"):
        assert words in page[0] and words not in without
    assert "dotted line" not in without  # there are no floors


def test_control_characters_are_replaced(tmp_path):
    write_page(tmp_path / "r.html", Report("bell \x07", "toy", [], {}, exclusions=["a\x00b"]))
    text = (tmp_path / "r.html").read_text()
    assert "bell �" in text and "a�b" in text and "\x07" not in text


def test_columns_of_words_are_marked():
    table = Table("T", ("a", "n", "w"), (("x", "1.5 ± 0.2", "holds"), ("y", MISSING, MISSING)))
    assert re.findall(r"<t[dh]( class=words)?>", table_html(table, "t")) == ["", " class=words"] * 3

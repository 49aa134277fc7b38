import json
from itertools import compress, product

import pytest

from calque.derive.order import Invert
from calque.derive.pocket.language import Pocket
from calque.derive.script import Transliterate
from calque.derive.sentence import Sentence
from calque.derive.transform import Account, compose, image_of
from calque.experiments.lessons import HERE
from tests import browser
from tests.experiments.test_lessons import code_cells

PAGE = (HERE / "invent.html").read_text()
HARD = [". . a b", "a", ".", "? Who Knows", "Zebra ate Ճաղա !", "one two three four five", "co-op 's 3.5 é"]
NAMES = ("trans", "inv", "swap")
CHOICES = [choice for choice in product((False, True), repeat=3) if any(choice)]


@pytest.fixture(scope="module")
def swap():
    code = code_cells()
    names = {"sentence": "a b ."}
    exec("\n".join([*code[:2], *(text for text in code if "class Swap" in text)]), names)
    return names["Swap"]()


def test_javascript_transforms_equal_python(swap, tmp_path):
    sentences = [sentence.words for sentence in Pocket(types=300).sentences(1_000)] + [
        tuple(s.split()) for s in HARD
    ]
    parts = dict(zip(NAMES, (Transliterate(), Invert(), swap), strict=True))
    expected = []
    for choice in CHOICES:
        transform = compose(*compress(parts.values(), choice))
        images = [image_of(transform, Sentence(words), 0, Account()) for words in sentences]
        expected.append(
            [[[transform.spell(word) for word in image.words], [*image.origin]] for image in images]
        )
    look = f"""async function look(view) {{
      const sentences = {json.dumps(sentences)}, choices = {json.dumps(CHOICES)};
      return choices.map(([trans, inv, swap]) => sentences.map((words) => {{
        const image = view.derive(words, {{ trans, inv, swap }});
        return [image.words, image.origin];
      }}));
    }}"""
    found = browser.inspect(PAGE, look, [(800, "light")], tmp_path)
    assert found["console"] == []
    assert found["800 light"] == expected

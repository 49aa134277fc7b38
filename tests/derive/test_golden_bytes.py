import hashlib
import json

import pytest

from calque.derive.build import derive_languages
from calque.derive.dictionary import DictionaryConfig
from calque.derive.order import PocketTreebank, Reorder
from calque.derive.pocket.language import Pocket
from calque.derive.sources.pocket import PocketEnglish, Sizes
from calque.derive.transform import compose
from calque.derive.transforms import transform
from calque.derive.words import Translate

LANGUAGES = {
    "trans": "69b6f1",
    "trans-25-most": "836864",
    "trans-50-function": "58ead7",
    "trans-stems-50": "627f6c",
    "trans.inv": "c4debd",
    "inv-50": "9aa67c",
    "perm": "c9952e",
    "trans.syn-verbfinal-50": "c9f344",
    "agg-50": "bdc224",
    "trans.drop-det": "453671",
    "split.inv": "1bd359",
    "trans.cipher-noun": "1a4269",
    "lex-xx-75": "ef23da",
}
SHARED = {"source": "d9ef62", "shared": "4cfef2"}


@pytest.fixture(scope="module")
def manifest(tmp_path_factory):
    home = tmp_path_factory.mktemp("golden")
    lexicon = home / "lexicon.tsv"
    lexicon.write_text("the\tle\nthe\tla\na\tun\n")
    few = Sizes(40, 10, 20)
    source = PocketEnglish(language=Pocket(types=300), size=300, pos=few)
    syntax = Reorder(PocketTreebank("verbfinal", 100), PocketTreebank("english", 100), 0.5)
    own = {
        "lex-xx-75": Translate(lexicon, "xx", 0.75),
        "trans.syn-verbfinal-50": compose(transform("trans"), syntax),
    }
    transforms = [own.get(name) or transform(name) for name in LANGUAGES]
    folder = derive_languages(
        source, transforms, 400, DictionaryConfig(0.5), home / "languages", home / "cache"
    )
    return dict(json.loads((folder / "manifest.json").read_text()))


def digest(value):
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:6]


def test_bytes_and_facts_of_every_language(manifest):
    found = {}
    for name, facts in manifest["languages"].items():
        files = {file: sha for file, sha in manifest["files"].items() if file.startswith(f"{name}/")}
        found[name] = digest([files, facts])
    own = ("vocabulary/", "preview")
    shared = {file: sha for file, sha in manifest["files"].items() if file.startswith(own)}
    found["shared"] = digest([shared, manifest["vocabulary"], manifest["fingerprint"]])
    assert found == LANGUAGES | SHARED

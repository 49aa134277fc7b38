import hashlib
import json

import pytest

from calque.derive.build import derive_languages
from calque.derive.dictionary import DictionaryConfig
from calque.derive.galactic import PocketTreebank, Reorder
from calque.derive.pocket.language import Pocket
from calque.derive.sources.pocket import PocketEnglish, Sizes
from calque.derive.transform import compose
from calque.derive.transforms import transform
from calque.derive.words import Translate

LANGUAGES = {
    "trans": "36dba6",
    "trans-25-most": "fafcb5",
    "trans-50-function": "75061c",
    "trans-stems-50": "607711",
    "trans.inv": "5b4009",
    "inv-50": "3c6822",
    "perm": "62c7d1",
    "trans.syn-verbfinal-50": "aff05a",
    "agg-50": "152e01",
    "trans.drop-det": "82ab6a",
    "split.inv": "582036",
    "trans.cipher-noun": "113fdc",
    "lex-xx-75": "4b0c1f",
}
SHARED = {"source": "b4a2ea", "shared": "dad88e"}


@pytest.fixture(scope="module")
def manifest(tmp_path_factory):
    home = tmp_path_factory.mktemp("golden")
    lexicon = home / "lexicon.tsv"
    lexicon.write_text("the\tle\t0.75\t3\nthe\tla\t0.25\t1\na\tun\n")
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

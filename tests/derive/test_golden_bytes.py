import hashlib
import json
from dataclasses import astuple

import pytest

from calque.derive.build import Derivation, derive_languages
from calque.derive.dictionary import DictionaryConfig
from calque.derive.order import PocketTreebank, Reorder
from calque.derive.pocket.language import Pocket, PocketEnglish, Sizes
from calque.derive.transform import compose
from calque.derive.transforms import transform

LANGUAGES = {
    "trans": "97a895",
    "trans.inv": "6bb755",
    "inv-50": "f7c761",
    "perm": "aa7691",
    "trans.syn-verbfinal-50": "1f0ea9",
    "lex-xx-75": "d99b1e",
    "trans-25.inv": "d001cd",
}
SHARED = {"source": "129cbf", "shared": "e5a52e"}
SENTENCES = {"pocket": "5be3c1", "pocket-600": "a72e91"}


@pytest.fixture(scope="module")
def manifest(tmp_path_factory):
    home = tmp_path_factory.mktemp("golden")
    (home / "lexicons").mkdir()
    (home / "lexicons" / "en-xx.tsv").write_text("the\tle\nthe\tla\na\tun\n")
    few = Sizes(40, 10, 20)
    source = PocketEnglish(language=Pocket(types=300), size=300, pos=few)
    syntax = Reorder(PocketTreebank("verbfinal", 100), PocketTreebank("english", 100), 0.5)
    own = {"trans.syn-verbfinal-50": compose(transform("trans"), syntax)}
    transforms = [own.get(name) or transform(name) for name in LANGUAGES]
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("CALQUE_DATA", str(home))
        derivation = Derivation(source, tuple(transforms), 400, DictionaryConfig(0.5))
        folder = derive_languages(derivation, home / "languages", home / "cache")
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


def test_pocket_english():
    sources = {"pocket": Pocket(types=300), "pocket-600": Pocket(types=600, seed=1, order="verbfinal")}
    found = {}
    for name, language in sources.items():
        found[name] = digest(list(map(astuple, language.sentences(300, stream=1))))
    assert found == SENTENCES

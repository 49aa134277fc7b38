import hashlib
import json
from dataclasses import astuple
from itertools import islice

import pytest

from calque.derive.build import Derivation, derive_languages
from calque.derive.dictionary import DictionaryConfig
from calque.derive.order import PocketTreebank, Reorder
from calque.derive.pocket.language import GENERATED, Pocket, PocketEnglish, Sizes
from calque.derive.transform import compose
from calque.derive.transforms import transform

LANGUAGES = {
    "trans": "2caf91",
    "trans-25-most": "6daec4",
    "trans-50-function": "d11919",
    "trans-stems-50": "0c322b",
    "trans.inv": "19a9c7",
    "inv-50": "94ae33",
    "perm": "30dce6",
    "trans.syn-verbfinal-50": "28f0f8",
    "agg-50": "7f01a5",
    "split.inv": "95a5c8",
    "lex-xx-75": "c7f675",
}
SHARED = {"source": "b0a22c", "shared": "3d6af7"}
EXAMPLES = {
    "pocket": "5be3c1",
    "pocket, nli": "a6894e",
    "pocket, paraphrase": "d08144",
    "pocket, qa": "680c9d",
    "pocket-600": "a72e91",
    "pocket-600, nli": "20802b",
    "pocket-600, paraphrase": "dfd5ac",
    "pocket-600, qa": "7209e7",
}


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


def test_pocket_english_and_its_examples():
    sources = {"pocket": Pocket(types=300), "pocket-600": Pocket(types=600, seed=1, order="verbfinal")}
    found = {}
    for name, language in sources.items():
        found[name] = digest(list(map(astuple, language.sentences(300, stream=1))))
        for task in GENERATED:
            examples = islice(language.examples(task), 300)
            found[f"{name}, {task}"] = digest(list(map(astuple, examples)))
    assert found == EXAMPLES

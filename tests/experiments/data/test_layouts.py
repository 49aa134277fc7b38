"""What recipes put in place is what readers read: made files in the publishers' layouts, fetched by the recipes."""

import gzip
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from calque.derive.natural.files import BitextFiles
from calque.derive.readers.iob2 import read_iob2
from calque.derive.readers.nli import read_nli
from calque.experiments.data.recipe import read_recipe
from calque.experiments.data.store import Store
from tests.experiments.data.archives import tarred, zipped
from tests.experiments.data.site import Site

PANX = """af ar bg bn de el en es et eu fa fi fr he hi hu id it ja jv ka kk ko ml mr ms my nl pt ru sw ta te th tl tr ur
    vi yo zh"""
XNLI = "ar bg de el en es fr hi ru sw th tr ur vi zh".split()
XNLI_HEADER = (
    "language gold_label sentence1_binary_parse sentence2_binary_parse sentence1_parse sentence2_parse sentence1 "
    "sentence2 promptID pairID genre label1 label2 label3 label4 label5 sentence1_tokenized sentence2_tokenized match"
)


def fetched(name: str, site: Site, folder: Path, contents: Mapping[str, bytes]) -> Path:
    """Fetch a recipe whose downloads are these, by the last part of their address, and nothing is known of."""
    recipe = read_recipe(name)
    local = tuple(
        replace(
            one,
            url=site.serve(f"/{one.name}", contents[one.name]),
            bytes=0,
            sha256="",
            outputs=tuple(replace(output, bytes=0, sha256="") for output in one.outputs),
        )
        for one in recipe.downloads
    )
    done = Store(folder).fetch(replace(recipe, downloads=local), lambda *_: None, trust=True)
    assert not done.failed
    return folder


def test_panx(site: Site, tmp_path: Path) -> None:
    def text(language: str, split: str) -> bytes:
        return f"{language}:Ana\tB-PER\n{language}:{split}\tO\n\n".encode()

    inner = {
        f"{one}.tar.gz": tarred({split: text(one, split) for split in ("train", "dev", "test", "extra")})
        for one in PANX.split()
    }
    data = fetched("panx", site, tmp_path, {"panx_dataset.zip": zipped(inner)})
    for language, split in (("en", "train"), ("zh", "dev"), ("yo", "test")):
        (sentence,) = read_iob2(data / "ner" / "panx" / f"{split}-{language}.tsv")
        assert sentence.words == ("Ana", split)


def test_xnli(site: Site, tmp_path: Path) -> None:
    def row(language: str, split: str) -> str:
        first, second = f'({language}) "I see', f"{split} it"
        return "\t".join(
            [language, "neutral", *"abcd", first, second, "1", "1", "news", *["neutral"] * 5, "x", "y", "True"]
        )

    members = {
        f"XNLI-1.0/xnli.{split}.tsv": "\n".join(
            ["\t".join(XNLI_HEADER.split()), *(row(one, split) for one in XNLI for _ in range(2)), ""]
        ).encode()
        for split in ("dev", "test")
    }
    data = fetched("xnli", site, tmp_path, {"XNLI-1.0.zip": zipped(members)})
    for language, split in (("en", "dev"), ("ur", "test")):
        examples = list(read_nli(data / "nli" / "xnli" / f"{split}-{language}.tsv", Counter()))
        assert [example.label for example in examples] == ["neutral", "neutral"]
        assert language in examples[0].texts[0][0].words


def test_multinli_and_pawsx(site: Site, tmp_path: Path) -> None:
    row = '{"gold_label": "neutral", "sentence1": "He sat .", "sentence2": "He rests .", "genre": "x", "pairID": "1"}\n'
    parts = ("train", "dev_matched", "dev_mismatched")
    members = {f"multinli_1.0/multinli_1.0_{part}.jsonl": row.encode() * 2 for part in parts}
    data = fetched("multinli", site, tmp_path, {"multinli_1.0.zip": zipped(members)})
    for name in ("train", "mnli_val_matched", "mnli_val_mismatched"):
        assert [example.label for example in read_nli(data / "nli" / "mnli" / f"{name}.jsonl", Counter())] == [
            "neutral"
        ] * 2
    pairs = b"id\tsentence1\tsentence2\tlabel\n1\tHe sat .\tHe sat down .\t1\n"
    tar = {f"x-final/{one}/{part}_2k.tsv": pairs for one in "de en es fr ja ko zh".split() for part in ("dev", "test")}
    fetched("pawsx", site, tmp_path, {"x-final.tar.gz": tarred(tar | {"x-final/en/train.tsv": pairs})})
    assert [example.label for example in read_nli(data / "nli" / "pawsx" / "dev-de.tsv", Counter())] == ["1"]


def pairs(files: BitextFiles) -> list[tuple[str, ...]]:
    return [pair for piece in files.pieces() for pair in zip(*piece.columns(Counter()), strict=True)]


def test_parallel_text(site: Site, tmp_path: Path) -> None:
    lines = b"Go.\tVa !\tCC-BY 2.0 (France) Attribution: x\n"
    zips = {f"{one}-eng.zip": zipped({f"{one}.txt": lines, "_about.txt": b"about"}) for one in ("fra", "deu")}
    data = fetched("manythings", site, tmp_path, zips)
    assert pairs(BitextFiles(data / "parallel" / "manythings" / "fra-eng.tsv")) == [("Go.", "Va !")]
    names = [f"{split}.{side}.gz" for split in ("train", "val", "test_2016_flickr") for side in ("de", "en", "fr")]
    fetched("multi30k", site, tmp_path, {name: gzip.compress(f"{name}\n".encode()) for name in names})
    multi30k = data / "parallel" / "multi30k"
    assert pairs(BitextFiles(multi30k / "train.en", multi30k / "train.fr")) == [("train.en.gz", "train.fr.gz")]


@pytest.mark.parametrize(
    ("name", "place", "contents"),
    [
        (
            "wikitext_103",
            "wikitext-103/wiki.train.tokens",
            {
                "wikitext-103-v1.zip": zipped(
                    {f"wikitext-103/wiki.{part}.tokens": b"x" for part in ("train", "valid", "test")}
                )
            },
        ),
        (
            "mlqa",
            "qa/mlqa/dev-context-de-question-en.json",
            {
                "MLQA_V1.zip": zipped(
                    {
                        f"MLQA_V1/{split}/{split}-context-{one}-question-{other}.json": b"x"
                        for split in ("dev", "test")
                        for one in "ar de en es hi vi zh".split()
                        for other in "ar de en es hi vi zh".split()
                    }
                )
            },
        ),
        (
            "tydiqa",
            "qa/tydiqa-goldp/tydiqa-goldp-dev-swahili.json",
            {
                "tydiqa-goldp-v1.1-train.json": b"x",
                "tydiqa-goldp-v1.1-dev.tgz": tarred(
                    {
                        f"tydiqa-goldp-v1.1-dev/tydiqa-goldp-dev-{one}.json": b"x"
                        for one in "arabic bengali english finnish indonesian korean russian swahili telugu".split()
                    }
                ),
            },
        ),
    ],
)
def test_the_others(name: str, place: str, contents: dict[str, bytes], site: Site, tmp_path: Path) -> None:
    assert (fetched(name, site, tmp_path, contents) / place).read_bytes() == b"x"

"""The account of a derivation says everything that its manifest counts."""

from pathlib import Path

from derive.build import derive_study
from derive.dictionary import DictionaryConfig
from derive.order import Invert, Permute
from derive.sources.pocket import PocketEnglish, Sizes
from experiments.account import TORN, manifest, of_languages


def test_entities_that_an_order_tears_are_told_by_task_and_split(tmp_path: Path) -> None:
    source = PocketEnglish(size=50, pos=Sizes(2, 2, 2), ner=Sizes(40, 2, 20), nli=Sizes(2, 2, 2))
    data = derive_study(source, [Permute(), Invert()], 300, DictionaryConfig(), tmp_path / "data", tmp_path / "cache")
    splits = manifest(data)["tasks"]["ner"]
    told = list(of_languages(data))
    for split in ("train", "test"):
        pieces = splits[split]["spans split"]
        assert pieces["perm"] > 0 == pieces["inv"]
        assert f"ner, {split}, perm: {pieces['perm']:,} {TORN}" in told
    assert not any(line.endswith(TORN) and ", inv" in line for line in told)

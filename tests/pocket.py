from calque.derive.build import derive_languages
from calque.derive.dictionary import DictionaryConfig
from calque.derive.pocket.language import Pocket
from calque.derive.sources.pocket import PocketEnglish, Sizes

FEW = Sizes(10, 5, 5)


def derive_pocket(folder, *transforms, sentences=400, types=500):
    """Derive languages from a small Pocket English into a subfolder, and return that."""
    source = PocketEnglish(Pocket(types=300), sentences, FEW, FEW, FEW)
    return derive_languages(source, transforms, types, DictionaryConfig(), folder / "data", folder / "cache")

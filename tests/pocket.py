from calque.derive.build import Derivation, derive_languages
from calque.derive.order import Invert
from calque.derive.pocket.language import Pocket, PocketEnglish, Sizes
from calque.derive.transform import compose
from calque.derive.transforms import Transliterate

FEW = Sizes(10, 5, 5)


def derive_pocket(folder, *transforms, sentences=400, types=500):
    """Derive languages from a small Pocket English into a subfolder, and return that."""
    source = PocketEnglish(Pocket(types=300), sentences, FEW, FEW)
    return derive_languages(Derivation(source, transforms, types), folder / "data", folder / "cache")


def derive_several(folder):
    """Derive Pocket English with a new script; reversed with a script that shares a quarter of its types; and
    reversed."""
    return derive_pocket(folder, Transliterate(), compose(Transliterate(0.25), Invert()), Invert())

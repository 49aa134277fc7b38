"""Draw each objective in the same colour, marker and line style in every figure of every study."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from matplotlib.artist import Artist
from matplotlib.colors import to_hex, to_rgb

from calque.analysis.records.record import Described, Start
from calque.analysis.report.drawing import INK, LOOKS, Dash, key
from calque.analysis.results import Results
from calque.pretrain.objectives import OBJECTIVES


class Look(NamedTuple):
    """A colour, a marker, and a line style (for figures in which line styles have no other meaning)."""

    colour: str
    marker: str
    dash: Dash = "-"

    @property
    def bar(self) -> dict[str, Any]:
        """Matplotlib's options for a bar, which is hatched unless the look is a plain form's."""
        hatch = HATCHES.get((self.marker, self.dash), "")
        return {"facecolor": self.colour, "hatch": hatch, "edgecolor": "#ffffff", "linewidth": 0}


FAMILIES = {
    str(plain.facets[-1]["kind"]): (plain, Look(*look))
    for plain, look in zip((kind() for kind in OBJECTIVES), LOOKS, strict=False)
}
"""The plain forms of the package's objectives with their looks, by the kind of their last part. Kinds without
a look are drawn like user-defined objectives."""
OWN = (("#7A4B2A", "8"), ("#000075", "H"), ("#44AA99", "d"), ("#B0A030", "<"))  # user-defined objectives
GIVEN = Look(INK, "o")  # a given model, such as the one that a study starts from
HATCHES: dict[tuple[str, Dash], str] = {
    ("<", "--"): "\\\\\\\\",
    ("^", "-."): "////",
    ("H", "--"): "xxxx",
    ("d", ":"): "....",
    (">", "-."): "----",
    ("8", "--"): "oo",
    ("p", "-."): "||||",
    ("h", ":"): "++++",
}
"""The hatches of bars for objectives that are not a family's plain form, by marker and line style."""
FORMS = tuple(HATCHES)
AFTER_MLM, AFTER_OTHER, SUPERVISED, SWITCHED, FURTHER, *_ = FORMS
"""The forms that are not plain: trained after MLM, after a different objective, with given links, or with a
different switch. FURTHER and the unnamed forms distinguish objectives that would otherwise look the same."""
FEWEST = 3  # minimum number of objectives that share a colour for drawing them in shades of it
DARK = 1.0  # a colour is dark if red, green and blue sum to less than this (white: 3)
UNNAMED = {"mask_rate", "pieces"}  # parameters that leave an objective's look unchanged
LINKS = {"labels", "links"}  # switches that choose the source of links
SHADES = (
    ((0, 0.0), (0, 0.4), (1, 0.45), (0, 0.7), (0, 0.2)),
    ((0, 0.0), (1, 0.4), (1, 0.7), (1, 0.2), (1, 0.85)),
)
"""Shades of light and of dark colours, as mixtures with a share of black (0) or white (1)."""


def look(objective: Described, start: Start | None, user_look: Look) -> Look:
    """Choose an objective's look from its parts; `user_look` is for user-defined objectives."""
    if objective.given:
        return GIVEN
    if not objective.parts or (kind := objective.parts[-1]["kind"]) not in FAMILIES:
        return user_look
    form, (colour, marker, _) = FAMILIES[kind]
    plain = form.facets[-1]
    changed = {k: v for k, v in objective.parts[-1].items() if k not in UNNAMED and v != plain.get(k)}
    switches = {name for name, value in changed.items() if type(value) not in (int, float)}
    if switches:
        return Look(colour, *(SUPERVISED if switches <= LINKS else SWITCHED))
    # Even the plain form starts from a model if it has a first phase or trains only on sentence pairs.
    continues = form.traits.start is not None or not form.traits.text
    if start and not start.objective.given and not continues:
        after_mlm = [part["kind"] for part in start.objective.parts[-1:]] == ["MLM"]
        after = AFTER_MLM if after_mlm else AFTER_OTHER
        return Look(colour, *(FURTHER if after[0] == marker else after))
    return Look(colour, marker, "--" if changed else "-")


def looks(results: Results, objectives: Sequence[str] = ()) -> dict[str, Look]:
    """Return a distinct look for each objective (default: all), or none if there are too many."""
    described = {name: results.objectives[name] for name in objectives or results.objectives}
    kinds = {name: about.parts[-1]["kind"] for name, about in described.items() if about.parts}
    own_kinds = dict.fromkeys(kind for kind in kinds.values() if kind not in FAMILIES)
    if len(own_kinds) > len(OWN):
        return {}
    own, looks = dict(zip(own_kinds, OWN, strict=False)), dict[str, Look]()
    for name, about in described.items():
        user_look = Look(*own.get(kinds.get(name, ""), OWN[0]))
        looks[name] = look(about, results.starts[name], user_look)
    pairs, used = {style[:2] for style in looks.values()}, set[tuple[str, str]]()
    for name, (colour, marker, _) in looks.items():
        if (colour, marker) in used:
            free = [form for form in FORMS if (colour, form[0]) not in pairs]
            if not free:
                return {}
            looks[name] = Look(colour, *free[0])
            pairs.add(looks[name][:2])
        used.add(looks[name][:2])
    return _shaded(looks)


def _shaded(looks: Mapping[str, Look]) -> dict[str, Look]:
    """If at least `FEWEST` objectives share a colour, give each a shade of it, except plain forms."""
    sizes, numbers, shaded = Counter(colour for colour, *_ in looks.values()), Counter[str](), dict(looks)
    for name in sorted(looks, key=lambda name: looks[name].bar["hatch"] != ""):
        colour = looks[name].colour
        if sizes[colour] < FEWEST:
            continue
        shades = SHADES[sum(to_rgb(colour)) < DARK]
        grey, share = shades[numbers[colour] % len(shades)]
        numbers[colour] += 1
        red, green, blue = ((1 - share) * channel + share * grey for channel in to_rgb(colour))
        shaded[name] = looks[name]._replace(colour=to_hex((red, green, blue)) if share else colour)
    return shaded


def keys(results: Results, look: Mapping[str, Look], line: Dash | None = "") -> list[Artist]:
    """Return legend entries with lines in the style `line` (None: each objective's own)."""
    return [
        key(results.objective_title(name), colour, marker, line=dash if line is None else line)
        for name, (colour, marker, dash) in look.items()
    ]

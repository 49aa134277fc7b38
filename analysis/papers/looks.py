"""Assign each objective the same colour, marker and line style in every figure of every study. An objective
belongs to the family of its last part, and the family's plain form has the family's look. Other forms keep
the colour, or get shades of it if a study includes many of them; forms that differ only in numbers also keep
the marker."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from matplotlib.artist import Artist
from matplotlib.colors import to_hex, to_rgb
from matplotlib.patches import Patch

from calque.analysis.records.record import Described, Start
from calque.analysis.report.drawing import INK, LOOKS, Dash, key
from calque.analysis.results.results import Results
from calque.pretrain.objective import Objective
from calque.pretrain.objectives import OBJECTIVES


class Look(NamedTuple):
    """A colour, a marker, and a line style (for figures in which line styles have no other meaning)."""

    colour: str
    marker: str
    dash: Dash = "-"

    @property
    def bar(self) -> dict[str, Any]:
        """The style for a bar, which is hatched if the marker differs from the family's."""
        hatch = HATCHES[self.marker] if (self.marker, self.dash) in FORMS else ""
        return {"facecolor": self.colour, "hatch": hatch, "edgecolor": "#ffffff", "linewidth": 0}


class Family(NamedTuple):
    """A family of objectives: its plain form and that form's look."""

    plain: Objective
    look: Look


FAMILIES = {
    str(plain.facets[-1]["kind"]): Family(plain, Look(*look))
    for plain, look in zip((kind() for kind in OBJECTIVES), LOOKS, strict=False)
}
"""The package's objectives, by the kind of their last part. Kinds without a look of their own are drawn like
user-defined objectives."""
BY_NAME = {family.plain.name: family.look for family in FAMILIES.values()}  # the plain forms' looks, by name
OWN = (("#7A4B2A", "8"), ("#000075", "H"), ("#44AA99", "d"), ("#B0A030", "<"))
"""The looks of user-defined objectives, in the study's order."""
GIVEN = Look(INK, "o")  # the look of a given model, such as the one that a study starts from
HATCHES = {
    "<": "\\\\\\\\",
    "^": "////",
    "H": "xxxx",
    "d": "....",
    ">": "----",
    "8": "oo",
    "p": "||||",
    "h": "++++",
}
FORMS: tuple[tuple[str, Dash], ...] = tuple(
    zip(HATCHES, ("--", "-.", "--", ":", "-.", "--", "-.", ":"), strict=True)
)
AFTER_MLM, AFTER_OTHER, SUPERVISED, SWITCHED, FURTHER, *_ = FORMS
"""Markers and line styles for forms that are not plain: trained after MLM, after a different objective, with
given links, or with a different switch. The rest distinguish forms that would otherwise look the same."""
FEWEST = 3  # minimum number of objectives with the same colour for shades; for two, markers suffice
DARK = 1.0  # a colour is dark if red, green and blue sum to less than this (white: 3)
# Parameters omitted from names: the same for all objectives, or affecting only memory.
UNNAMED = {"mask_rate", "pieces"}
LINKS = {"labels", "links"}  # switches that choose the source of links
SHADES = (
    ((0, 0.0), (0, 0.4), (1, 0.45), (0, 0.7), (0, 0.2)),
    ((0, 0.0), (1, 0.4), (1, 0.7), (1, 0.2), (1, 0.85)),
)
"""Shades for light and for dark colours, each a mixture with black (0) or white (1) in the given
proportion."""
PUBLISHED = {
    "XLM-Align": Look(BY_NAME["XLM-ALIGN"].colour, "D"),
    "XLM-R": Look(INK, "D"),
    "mMiniLM-L12-H384": Look(INK, "P"),
}
"""The looks of published encoders, which are drawn with hollow markers."""


def family(objective: Described) -> Family | None:
    """Return an objective's family; None for a given model or a user-defined objective."""
    return FAMILIES.get(objective.parts[-1]["kind"]) if objective.parts else None


def look(objective: Described, start: Start | None = None, own: Look | None = None) -> Look:
    """Choose an objective's look from its parts; `own` is the look for a user-defined objective."""
    if objective.given:
        return GIVEN
    if (of := family(objective)) is None:
        return own or Look(*OWN[0])
    plain, (colour, marker, _) = of.plain.facets[-1], of.look
    changed = {k: v for k, v in objective.parts[-1].items() if k not in UNNAMED and v != plain.get(k)}
    switches = {name for name, value in changed.items() if type(value) not in (int, float)}
    if switches:
        return Look(colour, *(SUPERVISED if switches <= LINKS else SWITCHED))
    # With a first phase, or trained only on sentence pairs, even the plain form starts from a model.
    continues = of.plain.traits.start is not None or not of.plain.traits.text
    if start and not start.objective.given and not continues:
        form = AFTER_MLM if family(start.objective) is FAMILIES["MLM"] else AFTER_OTHER
        return Look(colour, *(FURTHER if form[0] == marker else form))
    return Look(colour, marker, "--" if changed else "-")


def looks(results: Results, objectives: Sequence[str] = ()) -> dict[str, Look]:
    """Return the looks of a study's objectives (default: all), in order; empty if there are too many to
    distinguish."""
    described = {name: results.objective(name) for name in objectives or results.objectives}
    kinds = {name: d.parts[-1]["kind"] for name, d in described.items() if d.parts}
    others = [kind for kind in dict.fromkeys(kinds.values()) if kind not in FAMILIES]
    if len(others) > len(OWN):
        return {}
    own = {kind: Look(*colours) for kind, colours in zip(others, OWN, strict=False)}
    looks = {
        name: look(d, results.start(name), own.get(kinds.get(name, ""))) for name, d in described.items()
    }
    taken, used = {each[:2] for each in looks.values()}, set[tuple[str, str]]()
    for name, (colour, marker, _) in looks.items():
        if (colour, marker) in used:
            free = [form for form in FORMS if (colour, form[0]) not in taken]
            if not free:
                return {}
            looks[name] = Look(colour, *free[0])
            taken.add(looks[name][:2])
        used.add(looks[name][:2])
    return _shaded(looks)


def _shaded(looks: Mapping[str, Look]) -> dict[str, Look]:
    """Give objectives different shades if at least `FEWEST` of them share a colour; plain forms keep the
    colour."""
    sizes, numbers, shaded = Counter(its.colour for its in looks.values()), Counter[str](), dict(looks)
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
    """Return legend entries for objectives: markers on a line in the style `line`, or in each objective's own
    style if it is None."""
    return [
        key(results.objective_title(name), *its[:2], line=its.dash if line is None else line)
        for name, its in look.items()
    ]


def bar_keys(results: Results, look: Mapping[str, Look]) -> list[Artist]:
    """Return legend entries for objectives drawn as bars."""
    return [Patch(label=results.objective_title(name), **its.bar) for name, its in look.items()]

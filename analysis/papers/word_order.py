"""Galactic dependencies (Wang and Eisner 2016): a treebank before and after it takes another language's word order."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from matplotlib.figure import Figure

from calque.analysis.papers.texts import TERMS
from calque.analysis.report.drawing import HALF, LOOKS, key, legend, styled
from calque.analysis.report.plot import save_figure
from calque.analysis.report.table import MISSING
from calque.derive.files import whole_file, write_json
from calque.derive.reorder import Reorder, reachable
from calque.derive.sentence import Sentence
from calque.derive.typology import Share, order_distance, out_of_reach, shares

NEAR = 0.1  # a derived language whose share is this close to the superstrate's own has adopted the preference
BETWEEN, ROOM = 0.26, 0.9  # parts of a row's height: the most between two languages, and for all of them
NAMES: dict[str, str] = TERMS["languages"]  # of treebanks' languages by ISO 639-1 code, and of Pocket English's orders


@dataclass(frozen=True)
class WordOrders:
    """Shares of word orders over the nodes that a grammar can order, and an account of the words. `out_of_reach` has,
    by relation, the share of the substrate's words whose heads no grammar orders, so that they cannot move: heads of
    other tags, such as predicative adjectives, and nodes too large or crossed."""

    names: tuple[str, str]
    before: Mapping[str, Share]
    after: Mapping[str, Share]
    own: Mapping[str, Share]
    account: Mapping[str, int | float]
    out_of_reach: Mapping[str, Share]

    @property
    def titles(self) -> tuple[str, str, str]:
        """The names of the substrate, the derived language and the superstrate; unknown codes stay as they are."""
        substrate, superstrate = (NAMES.get(name, name) for name in self.names)
        return substrate, f"{substrate} in the order of {superstrate}", superstrate

    @property
    def markdown(self) -> str:
        """The table and an account of its data, in Markdown."""
        substrate, reordered, superstrate = self.titles
        lines = [f"| | {substrate} | {reordered} | {superstrate} itself | difference |", "|---|---|---|---|---|"]
        for name in self.after:
            shares = (column.get(name) for column in (self.before, self.after, self.own))
            cells = (f"{share.share:.2f} ({share.count:,})" if share else MISSING for share in shares)
            lines.append(f"| {name} | {' | '.join(cells)} | {self._difference(name)} |")
        lines += ["", *(f"- {what}: {count:,}" for what, count in self.account.items())]
        lines += [
            f"- {relation} of heads that no grammar orders, which stay: {share.share:.1%} of {share.count:,}"
            for relation, share in self.out_of_reach.items()
        ]
        lines.append(f"- \\* more than {NEAR:.2f} from {superstrate} itself, or – no occasion there to compare with")
        lines.append("- numbers in brackets are occasions")
        return "\n".join(lines) + "\n"

    def _difference(self, name: str) -> str:
        """How far the derived language is from the superstrate; marked if it is far, or unknown."""
        if name not in self.own:
            return "– *"
        gap = self.after[name].share - self.own[name].share
        return f"{gap:+.2f}{'' if abs(gap) <= NEAR else ' *'}"

    def save(self, folder: Path) -> Path:
        """Write the table, the same as data, and the figure, all named by the superstrate."""
        _, reordered, superstrate = self.titles
        stem = f"word-order-{self.names[1]}"
        table = folder / f"{stem}.md"
        with whole_file(table) as part:
            part.write_text(self.markdown, encoding="utf-8")
        columns = dict(zip(self.titles, (self.before, self.after, self.own), strict=True))
        about = {"shares": columns, "account": self.account, "out of reach": self.out_of_reach}
        write_json(folder / f"{stem}.json", about)
        figure = drawn_shares(
            {name: {what: share.share for what, share in column.items()} for name, column in columns.items()},
            f"Does {reordered} match {superstrate}?",
        )
        save_figure(figure, folder, stem)
        return table


def compare(reorder: Reorder, substrate: Iterable[Sentence], superstrate: Iterable[Sentence]) -> WordOrders:
    """Reorder the substrate's sentences (`reorder` is ready) and measure them next to the superstrate's own."""
    sentences = list(substrate)
    images = [reorder(sentence, number) for number, sentence in enumerate(sentences)]
    kept: Counter[str] = sum((reorder.account(sentence, i) for i, sentence in enumerate(sentences)), Counter())
    account = {
        "sentences in": len(sentences),
        "words in": sum(map(len, sentences)),
        "words out": sum(map(len, images)),
        "sentences with the same words as before": sum(
            sorted(before.words) == sorted(after.words) for before, after in zip(sentences, images, strict=True)
        ),
        **{f"{why} kept their order": count for why, count in kept.items()},
        "order distance": round(order_distance(image.origin for image in images), 3),
    }
    names = reorder.substrate.name, reorder.superstrate.name
    sources = {id(image): sentence for image, sentence in zip(images, sentences, strict=True)}

    def was_reachable(image: Sentence, head: int) -> bool:
        return reachable(sources[id(image)], image.origin[head])

    before, own = shares(sentences, reachable), shares(superstrate, reachable)
    stay = out_of_reach(sentences, reachable)
    return WordOrders(names, before, shares(images, was_reachable), own, account, stay)


def drawn_shares(columns: Mapping[str, Mapping[str, float]], title: str) -> Figure:
    """Shares of preferences, from 0 to 1, as a dot plot; `columns` is language -> preference -> share. A missing share
    has no marker. A preference whose share is 0 in every language, such as most orders of S, V and O, has no row."""
    names = dict.fromkeys(what for shares in columns.values() for what in shares)
    rows = [what for what in names if any(shares.get(what) for shares in columns.values())]
    with styled(HALF, 1.0 + 0.34 * len(rows), title) as figure:
        axes = figure.subplots()
        for place, ((colour, marker), shares) in enumerate(zip(LOOKS, columns.values(), strict=False)):
            # lifted, so that equal shares do not hide one another
            lift = min(BETWEEN, ROOM / len(columns)) * (place - (len(columns) - 1) / 2)
            markers = {y + lift: 100 * shares[what] for y, what in enumerate(rows) if what in shares}
            axes.plot(list(markers.values()), list(markers), marker, color=colour, markersize=5.5)
        axes.set_yticks(range(len(rows)), rows)
        axes.set_ylim(len(rows) - 0.5, -0.5)
        axes.set_xlim(-3, 103)
        axes.set_xlabel("share of orderable heads, %")
        handles = [key(language, *look) for language, look in zip(columns, LOOKS, strict=False)]
        legend(figure, handles, 3)
    return figure

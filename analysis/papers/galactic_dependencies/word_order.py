"""A treebank before and after another language's word order, beside that language's own treebank."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from analysis.papers.galactic_dependencies.grammar_figure import grammar_figure
from analysis.papers.galactic_dependencies.language_names import language_name
from derive.files import whole_file, write_json
from derive.reorder import Reorder, reachable
from derive.sentence import Sentence
from derive.typology import Share, order_distance, out_of_reach, shares

NEAR = 0.1
"""A derived language whose share is this close to the superstrate's own has taken the preference over."""


@dataclass(frozen=True)
class Comparison:
    """Shares of word orders, all of them over the nodes that a grammar can order, and an account of the words.

    `out_of_reach` has, by relation, the share of the substrate's words that depend on other heads, and so cannot move:
    heads of other tags, such as adjectives that are predicates, and nodes too large or crossed.
    """

    names: tuple[str, str]
    before: Mapping[str, Share]
    after: Mapping[str, Share]
    own: Mapping[str, Share]
    account: Mapping[str, int | float]
    out_of_reach: Mapping[str, Share]

    @property
    def markdown(self) -> str:
        """The table, and what it was made from."""
        substrate, superstrate = map(language_name, self.names)
        lines = [
            f"| | {substrate} | {substrate} in the order of {superstrate} | {superstrate} itself | difference |",
            "|---|---|---|---|---|",
        ]
        for name in self.after:
            cells = (_cell(column.get(name)) for column in (self.before, self.after, self.own))
            lines.append(f"| {name} | {' | '.join(cells)} | {self._difference(name)} |")
        lines.append("")
        lines += [f"- {what}: {count:,}" for what, count in self.account.items()]
        lines += [
            f"- {relation} of heads that no grammar orders, which stay: {share.share:.1%} of {share.count:,}"
            for relation, share in self.out_of_reach.items()
        ]
        lines.append(f"- \\* more than {NEAR:.2f} from {superstrate} itself, or – no occasion there to compare with")
        lines.append("- numbers in brackets are occasions")
        return "\n".join(lines) + "\n"

    def _difference(self, name: str) -> str:
        """How far the derived language is from the superstrate; marked where that is far, or not known."""
        if name not in self.own:
            return "– *"
        gap = self.after[name].share - self.own[name].share
        return f"{gap:+.2f}{'' if abs(gap) <= NEAR else ' *'}"

    def save(self, folder: Path) -> Path:
        """Write the table, the same as data, and the figure, all named by the superstrate."""
        substrate, superstrate = map(language_name, self.names)
        stem = f"word-order-{self.names[1]}"
        columns = {
            substrate: self.before,
            f"{substrate} in the order of {superstrate}": self.after,
            superstrate: self.own,
        }
        table = folder / f"{stem}.md"
        with whole_file(table) as part:
            part.write_text(self.markdown, encoding="utf-8")
        about = {"shares": columns, "account": self.account, "out of reach": self.out_of_reach}
        write_json(folder / f"{stem}.json", about)
        grammar_figure(
            {name: {what: share.share for what, share in column.items()} for name, column in columns.items()},
            folder,
            f"Word order: {substrate}, {superstrate}, and {substrate} in the order of {superstrate}",
            "Shares over the heads that a grammar can order: nouns and verbs of up to seven items, no crossing arcs.",
            stem,
        )
        return table


def compare(reorder: Reorder, substrate: Iterable[Sentence], superstrate: Iterable[Sentence]) -> Comparison:
    """Reorder the substrate's sentences (`reorder` is ready) and measure them beside the superstrate's own."""
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
    return Comparison(names, before, shares(images, was_reachable), own, account, stay)


def _cell(share: Share | None) -> str:
    return f"{share.share:.2f} ({share.count:,})" if share else "–"

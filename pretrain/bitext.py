"""The sentence pairs of bitexts, as rows that are drawn. Shapes: B pairs, L ids a row, W ids a side at most."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import torch

from derive.errors import BadInput
from derive.languages import Languages
from derive.vocabulary import pair_types
from pretrain.batch import UNLABELLED
from pretrain.groups import Groups, line_lengths
from pretrain.mask import Masking, as_rows
from pretrain.objective import GOLD, Linked
from pretrain.order import Part
from pretrain.pairs import MARKS, LinkedPairs, Links, PairRows, WordPairs


class ParallelLines:
    """Parallel lines of pairs of languages as rows, either language first by the toss of a coin.

    An instance is as many neighbouring pairs of two languages as a full row has ids for, so that a step shows as many
    ids as it would of packed rows; `parts` says how many each bitext has. `left_out` counts pairs that are longer than
    a row. `known` says whether the gold alignment of all of them is, and `estimated` whether all have estimated links
    in its place. `types` are the token types that the tokenizer's template gives to the two sides.

    Raises:
        BadInput: no pair of parallel lines fits.
    """

    def __init__(self, languages: Languages, length: int, fraction: float, seed: int, mask_rate: float) -> None:
        self.languages, self.bitexts = languages, languages.bitexts
        self.masking, self.types = Masking.of(languages, mask_rate), pair_types(languages.tokenizer)
        self.estimated = all(bitext.estimates is not None for bitext in self.bitexts)
        self.known = all(bitext.gold and bitext.estimates is None for bitext in self.bitexts)
        self.groups = Groups()
        self.parts: dict[Part, int] = {}
        drawn = fitting = 0
        for bitext in self.bitexts:
            pairs = bitext.sample(fraction, seed)
            ids = line_lengths(bitext, pairs).sum(1) + MARKS
            fits = ids <= length
            self.parts[bitext.names] = self.groups.add(pairs[fits], ids[fits], length)
            drawn, fitting = drawn + len(pairs), fitting + int(fits.sum())
        self.left_out = drawn - fitting
        if not fitting:
            raise BadInput(f"none of {drawn:,} parallel sentences fits into {length:,} ids with its image")

    def __len__(self) -> int:
        return len(self.groups)

    def check(self, objective: str, links: Linked) -> None:
        """Refuse an objective that asks for links that there are not.

        Raises:
            BadInput: gold ones of a translation, in which they are unknown, or estimated ones without any.
        """
        if links == GOLD and not self.known:
            raise BadInput(f"{objective} asks for gold links, and in a translation they are unknown")
        if links not in ("", GOLD) and not self.estimated:
            raise BadInput(f"{objective} asks for estimated links, and the languages have none")

    def draw(self, instances: Sequence[int], random: np.random.Generator) -> PairRows:
        """The pairs of some instances, masked afresh."""
        return self._masked(*self._tossed(instances, random), random)

    def draw_linked(self, instances: Sequence[int], random: np.random.Generator) -> LinkedPairs:
        """The same pairs with the links of their sub-words."""
        of, pairs, turned = self._tossed(instances, random)
        rows = self._masked(of, pairs, turned, random)
        if self.known:  # a bijection, which was read with the rows
            row, first = (rows.gold >= 0).nonzero().unbind(1)
            return LinkedPairs(rows, Links(row, 1 + first, 2 + rows.sides[row, 0] + rows.gold[row, first]))
        found = [self.bitexts[n].piece_links(p)[:, :: -1 if t else 1] for n, p, t in _each(of, pairs, turned)]
        return LinkedPairs(rows, _links(found, 1, 2 + rows.sides[:, 0].numpy()))

    def draw_words(self, instances: Sequence[int], marks: bool = False) -> WordPairs:
        """The pairs of some instances, the first language's side first, with the links of their words.

        With `marks`, `<s>` and `</s>` are words too, each linked to its own kind on the other side.
        """
        of, pairs = self._chosen(instances)
        unturned = np.zeros(len(pairs), bool)
        ids, languages, sides, gold = self.read(of, pairs, unturned)
        rows = as_rows(ids, np.full_like(ids, UNLABELLED), languages, padded=True)
        clean = PairRows(rows, rows.ids, torch.from_numpy(sides), torch.from_numpy(gold), torch.zeros(ids.shape))
        found, words = [], []
        for number, pair, _ in _each(of, pairs, unturned):
            bitext = self.bitexts[number]
            ends = [
                np.cumsum(language.corpus.line_pieces(line), dtype=np.int64)
                for language, line in zip((bitext.first, bitext.second), bitext.lines[pair], strict=True)
            ]
            links = bitext.links(pair)
            if marks:
                links = np.concatenate([[[0, 0]], links + 1, [[len(end) + 1 for end in ends]]])
                ends = [np.concatenate([[0], end, [end.max(initial=0) + 1]]) for end in ends]
            found.append(np.stack([ends[side][links[:, side]] for side in (0, 1)], axis=1))
            words.append(np.stack([ends[0], ends[0]], axis=1))
        return WordPairs(clean, _links(found, 0, 0), _links(words, 0, 0))

    def _chosen(self, instances: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
        """The numbers of the pairs of some instances, and which bitext each is of."""
        chosen = [self.groups[i] for i in instances]
        pairs = np.concatenate([pairs for _, pairs in chosen])
        return np.repeat([number for number, _ in chosen], [len(pairs) for _, pairs in chosen]), pairs

    def _tossed(
        self, instances: Sequence[int], random: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The same, and whether the second side comes first."""
        of, pairs = self._chosen(instances)
        return of, pairs, random.random(len(pairs)) < 0.5

    def _masked(self, of: np.ndarray, pairs: np.ndarray, turned: np.ndarray, random: np.random.Generator) -> PairRows:
        ids, languages, sides, gold = self.read(of, pairs, turned)
        rows = self.masking(ids, languages, random, padded=True)
        if any(self.types):
            second = np.arange(ids.shape[1]) > sides[:, :1] + 1  # what follows the first side's `</s>`
            types = np.where(second, self.types[1], self.types[0])
            types[ids == self.languages.specials.pad] = 0
            rows = replace(rows, segments=torch.from_numpy(types))
        dice = random.random(ids.shape, np.float32)
        return PairRows(rows, *(torch.from_numpy(array) for array in (ids, sides, gold, dice)))

    def read(
        self, of: np.ndarray, pairs: np.ndarray, turned: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Sentence pairs number `pairs` of the bitexts `of`, the second side first where `turned`.

        Returns ids and language ids (B, L), how many ids each side has (B, 2), and the gold alignment (B, W): where in
        the second side each id of the first has its image, -1 where there is no id or none is known.
        """
        specials, rows = self.languages.specials, np.arange(len(pairs))
        sides, written = np.zeros((len(pairs), 2), np.int64), []
        for number in np.unique(of).tolist():
            bitext, here = self.bitexts[number], np.flatnonzero(of == number)
            for side, language in enumerate((bitext.first, bitext.second)):
                tokens, lengths = language.corpus.of_lines(bitext.lines.of(pairs[here], side))
                place = np.where(turned[here], 1 - side, side)
                sides[here, place] = lengths
                written.append((here, place, language.ids(tokens), language.number))
        ids = np.full((len(pairs), int(sides.sum(1).max()) + MARKS), specials.pad)
        languages, gold = np.full(ids.shape, self.languages.padding), np.full((len(pairs), int(sides.max())), -1)
        for here, place, tokens, number in written:
            lengths = sides[here, place]
            first = 1 + place * (sides[here, 0] + 1)  # after `<s>`, or after `<s>`, the first side and its `</s>`
            ids[_spans(here, first, lengths)] = tokens
            languages[_spans(here, first * place, lengths + 2 - place)] = number
        ids[:, 0] = specials.start
        ids[rows, sides[:, 0] + 1] = ids[rows, sides.sum(1) + 2] = specials.end
        for row in np.flatnonzero([self.bitexts[number].linked for number in of.tolist()]).tolist():
            offsets = self.bitexts[of[row]].targets(int(pairs[row]), bool(turned[row]))
            gold[row, : len(offsets)] = offsets
        return ids, languages, sides, gold


def _each(of: np.ndarray, pairs: np.ndarray, turned: np.ndarray) -> Iterator[tuple[int, int, bool]]:
    return zip(of.tolist(), pairs.tolist(), turned.tolist(), strict=True)


def _links(found: Sequence[np.ndarray], first: int, second: np.ndarray | int) -> Links:
    """Links of each pair, (k, 2) offsets in its sides, as places in rows: `first` and `second` are added to them."""
    rows = np.repeat(np.arange(len(found)), [len(links) for links in found])
    links = np.concatenate(found)
    of = second[rows] if isinstance(second, np.ndarray) else second
    return Links(*map(torch.from_numpy, (rows, links[:, 0] + first, links[:, 1] + of)))


def _spans(rows: np.ndarray, first: np.ndarray, lengths: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows and columns of the places from column `first` on, as many as `lengths` says, row by row."""
    columns = np.repeat(first - np.cumsum(lengths) + lengths, lengths) + np.arange(int(lengths.sum()))
    return np.repeat(rows, lengths), columns

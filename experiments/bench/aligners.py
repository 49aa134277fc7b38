"""Aligning batch by batch, against pair by pair with the usual packages: simalign's functions and POT.

`python -m experiments.bench.aligners`: first what is read from scores alone, then everything from text to links with a
small untrained encoder. Sentences are Pocket English and the same in reverse. Where CALQUE_ENCODER and CALQUE_DATA are
set, that encoder and a gold set follow: SimAlign computes in the precision in which its weights are stored, so it is
measured in float32 too, in which both have the same links.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from functools import partial
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import torch
from torch import Tensor
from transformers import PreTrainedTokenizerFast, RobertaConfig, RobertaModel
from transformers.utils.logging import disable_progress_bar

from analysis.aligners.encoder import Precision, main_layer
from analysis.aligners.extract import itermax
from analysis.aligners.methods import BY_NAME, DEFAULT, METHODS, RELEASED, Method, Transport
from analysis.aligners.pair_encoder import EncoderAligner
from analysis.measures.aer import gold_set
from derive.bpe import learn
from derive.links.aligner import Links, Pair
from derive.pocket.language import Pocket
from derive.types import OURS, SPECIALS
from experiments.bench.timing import Comparison, agreement, arguments, interleaved, report
from pretrain.saved_model import read_config
from pretrain.transport import EPSILON

PAIRS, PIECES, WIDTH = 1000, 40, 64
LAYER, SENTENCES, LENGTH, BATCH = 2, 500, 256, 125
ALIKE = 0.99
"""The fraction of pairs with equal links at least: rounding parts scores that are as good as equal."""


def plan_by_pot(products: np.ndarray, iterations: int) -> np.ndarray:
    """One pair's transport, columns first."""
    import ot

    n, m = products.shape
    cost = -np.log(np.maximum(EPSILON, products))
    marginals = np.full(n, 1 / n), np.full(m, 1 / m)
    return n * ot.bregman.sinkhorn_knopp(*marginals, cost, 1.0, numItermax=iterations, stopThr=0, warn=False)


def released(products: np.ndarray) -> np.ndarray:
    """One pair's links as the released aligner of XLM-Align reads them."""
    pi = np.maximum(products, EPSILON)
    for _ in range(2):
        xi = pi / pi.sum(0)
        pi = xi / xi.sum(1, keepdims=True)
    links = np.zeros_like(products)
    rows = np.arange(len(links))
    links[rows, pi.argmax(1)] = xi.argmax(0)[pi.argmax(1)] == rows
    return links


def from_scores(iterations: int, rounds: int) -> Comparison:
    """Transport and Itermax from the raw products of PAIRS pairs of PIECES sub-words."""
    from simalign import SentenceAligner

    states = torch.randn(2, PAIRS, PIECES, WIDTH, generator=torch.Generator().manual_seed(0))
    products = torch.bmm(states[0], states[1].transpose(1, 2))
    by_pair = list(products.double().numpy())
    all_pieces = torch.ones(PAIRS, PIECES, dtype=torch.bool)
    transport = Transport(iterations)

    def ours() -> Tensor:
        links = []
        for begin in range(0, PAIRS, BATCH):
            here = slice(begin, begin + BATCH)
            plan = transport.plan(products[here], all_pieces[here], all_pieces[here])
            links.append(itermax(plan, all_pieces[here], all_pieces[here]) + torch.tensor([begin, 0, 0]))
        return torch.cat(links)

    def theirs() -> list[np.ndarray]:
        return [SentenceAligner.iter_max(plan_by_pot(table, iterations)) for table in by_pair]

    table = np.zeros((PAIRS, PIECES, PIECES))
    table[ours().unbind(1)] = 1
    same = sum(map(np.array_equal, table, theirs()))
    fast, slow = interleaved([partial(cpu_seconds, ours), partial(cpu_seconds, theirs)], rounds)
    what = f"transport of {iterations} iterations, itermax: {agreement(same, PAIRS, 'pairs', ALIKE)}"
    return Comparison("aligners", what, 1000 * fast, 1000 * slow, "CPU ms", slow / fast)


def made(folder: Path) -> list[Pair]:
    """A small untrained encoder in `folder`, and sentence pairs that it can read."""
    sentences = [sentence.words for sentence in islice(Pocket().sentences(4000), 4000)]
    vocabulary = learn(sentences, 1200)
    vocabulary.save(folder)
    tokenizer = PreTrainedTokenizerFast(tokenizer_file=str(folder / "tokenizer.json"), pad_token=SPECIALS[OURS.pad])
    tokenizer.model_max_length = LENGTH
    tokenizer.save_pretrained(folder)
    torch.manual_seed(0)
    config = RobertaConfig(
        vocab_size=vocabulary.size,
        hidden_size=128,
        num_hidden_layers=4,
        num_attention_heads=4,
        intermediate_size=512,
        max_position_embeddings=LENGTH + OURS.pad + 1,
        type_vocab_size=1,
        bos_token_id=OURS.start,
        pad_token_id=OURS.pad,
        eos_token_id=OURS.end,
        initializer_range=0.1,
    )
    disable_progress_bar()
    RobertaModel(config, add_pooling_layer=False).save_pretrained(folder)
    # Two sentences a side, for lengths like those of text.
    doubled = [first + second for first, second in zip(sentences[::2], sentences[1::2], strict=True)]
    return [(words, words[::-1]) for words in doubled[:SENTENCES]]


class PairByPair:
    """simalign as it comes, a pair at a time, and for transport the same with POT."""

    def __init__(self, folder: Path, method: Method, layer: int) -> None:
        from simalign import SentenceAligner

        self.method = method
        known = {"argmax": "a", "itermax": "i", "match": "m"}
        self.simalign = SentenceAligner(str(folder), "bpe", matching_methods=known.get(method.name, "a"), layer=layer)

    def align(self, pairs: Iterable[Pair]) -> list[Links]:
        align_pair = self._transport if isinstance(self.method.score, Transport) else self._similarity
        return [align_pair(*map(list, pair)) for pair in pairs]

    def _similarity(self, source: list[str], target: list[str]) -> Links:
        (links,) = self.simalign.get_word_aligns(source, target).values()
        return sorted(links)

    def _transport(self, source: list[str], target: list[str]) -> Links:
        tokenize = self.simalign.embed_loader.tokenizer.tokenize
        places = [[i for i, word in enumerate(side) for _ in tokenize(word)] for side in (source, target)]
        hidden = self.simalign.embed_loader.get_embed_list([source, target]).numpy()
        states = [side[: len(words)] for side, words in zip(hidden, places, strict=True)]
        products = states[0] @ states[1].T
        links = released(products) if self.method is RELEASED else self.simalign.iter_max(plan_by_pot(products, 2))
        return sorted({(places[0][i], places[1][j]) for i, j in np.argwhere(links > 0).tolist()})


def from_text(folder: Path, pairs: list[Pair], method: Method, rounds: int) -> Comparison:
    """Sentence pairs a second, from words to links."""
    aligner, naive = EncoderAligner.open(folder, method, LAYER), PairByPair(folder, method, LAYER)
    same = sum(a == b for a, b in zip(aligner.align(pairs), naive.align(pairs), strict=True))
    fast, slow = interleaved(
        [partial(cpu_seconds, lambda: list(aligner.align(pairs))), partial(cpu_seconds, lambda: naive.align(pairs))],
        rounds,
    )
    what = f"{method.name} with an encoder: {agreement(same, len(pairs), 'pairs', ALIKE)}"
    return Comparison("aligners", what, len(pairs) / fast, len(pairs) / slow, "pairs/CPU s", slow / fast)


def with_the_encoder(folder: Path, pairs: list[Pair], rounds: int) -> list[Comparison]:
    """Itermax by an encoder that is at hand, in either precision, against SimAlign in that of its weights and in full.

    Links of other precisions are as good, and not the same: a tenth of the pairs may differ.
    """
    layer, method = main_layer(int(read_config(folder).num_hidden_layers)), BY_NAME["itermax"]
    precisions: tuple[Precision, ...] = ("float32", "bfloat16")
    ours = [EncoderAligner.open(folder, method, layer, precision=precision) for precision in precisions]
    stored, full = (PairByPair(folder, method, layer) for _ in range(2))
    full.simalign.embed_loader.emb_model.float()
    dtype = str(stored.simalign.embed_loader.emb_model.dtype).removeprefix("torch.")

    def aligned(one: EncoderAligner | PairByPair) -> list[Links]:
        return list(one.align(pairs))

    everyone: list[EncoderAligner | PairByPair] = [*ours, stored, full]
    links = list(map(aligned, everyone))
    times = interleaved([partial(cpu_seconds, partial(aligned, one)) for one in everyone], rounds)
    made = []
    for mine, theirs, least in ((0, 3, ALIKE), (0, 2, ALIKE), (1, 2, 0.9)):
        same = sum(a == b for a, b in zip(links[mine], links[theirs], strict=True))
        what = f"itermax, layer {layer} of an encoder, {precisions[mine]} against {(dtype, 'float32')[theirs - 2]}"
        said = f"{what}: {agreement(same, len(pairs), 'pairs', least)}"
        rates = len(pairs) / times[mine], len(pairs) / times[theirs]
        made.append(Comparison("aligners", said, *rates, "pairs/CPU s", times[theirs] / times[mine]))
    return made


def cpu_seconds(work: Callable[[], object]) -> float:
    """The processor time of a call, which what else runs hardly changes: the mean of as many as take half a second."""
    start, calls = time.process_time(), 0
    while (taken := time.process_time() - start) < 0.5 or not calls:
        work()
        calls += 1
    return taken / calls


def main() -> None:
    """Measure and report."""
    options = arguments("aligning in batches against pair by pair with POT and simalign", rounds=3, threads=1)
    torch.set_num_threads(options.threads)
    comparisons = [from_scores(iterations, options.rounds) for iterations in (2, 100)]
    with TemporaryDirectory() as name:
        folder = Path(name)
        pairs = made(folder)
        comparisons += [from_text(folder, pairs, method, options.rounds) for method in METHODS if method != DEFAULT]
    if (encoder := os.environ.get("CALQUE_ENCODER")) and (data := os.environ.get("CALQUE_DATA")):
        gold = gold_set(Path(data) / "align", "en-fr")
        comparisons += with_the_encoder(Path(encoder), list(gold.pairs), options.rounds)
    report(comparisons, ["torch", "transformers", "numpy", "scipy", "POT", "simalign"], options.out)


if __name__ == "__main__":
    main()

"""Word alignment by an encoder, against SimAlign."""

import operator
from collections.abc import Callable
from functools import partial

from calque.analysis.aligners.encoder import Precision, main_layer
from calque.analysis.aligners.methods import BY_NAME
from calque.analysis.aligners.pair_encoder import EncoderAligner
from calque.analysis.measures.aer import gold_set
from calque.derive.links.aligner import Links
from calque.experiments.bench.harness import Comparison, check_equal, cpu_seconds, folder_of, interleaved
from calque.pretrain.saved_model import read_config


def aligners(rounds: int) -> list[Comparison]:
    """From text to links by Itermax with a real encoder, in batches, against SimAlign pair by pair.

    SimAlign computes in the precision of the stored weights, so it is also measured in float32, where both have the
    same links. In other precisions links are as good but not the same: a tenth of the pairs may differ.
    """
    from simalign import SentenceAligner  # only this benchmark needs it

    encoder, pairs = folder_of("CALQUE_ENCODER"), list(gold_set(folder_of("CALQUE_DATA") / "align", "en-fr").pairs)
    layer, method = main_layer(int(read_config(encoder).num_hidden_layers)), BY_NAME["itermax"]
    stored, full = (SentenceAligner(str(encoder), "bpe", matching_methods="i", layer=layer) for _ in range(2))
    full.embed_loader.emb_model.float()

    def ours(precision: Precision) -> Callable[[], list[Links]]:
        aligner = EncoderAligner.open(encoder, method, layer, precision=precision)
        return lambda: list(aligner.align(pairs))

    def theirs(aligner: SentenceAligner) -> list[Links]:
        return [sorted(*aligner.get_word_aligns(list(a), list(b)).values()) for a, b in pairs]

    by_name: dict[str, Callable[[], list[Links]]] = {
        "float32": ours("float32"),
        "bfloat16": ours("bfloat16"),
        "SimAlign in float32": partial(theirs, full),
        "SimAlign in the weights' precision": partial(theirs, stored),
    }
    names, sides = list(by_name), list(by_name.values())
    links, times = [side() for side in sides], interleaved([partial(cpu_seconds, side) for side in sides], rounds)
    comparisons = []
    for mine, other, least in ((0, 2, 0.99), (1, 3, 0.9)):
        equal = check_equal(sum(map(operator.eq, links[mine], links[other])), len(pairs), "pairs", least)
        what = f"text to links by a real encoder and Itermax, {names[mine]}; {equal}"
        rates = (tuple(len(pairs) / seconds for seconds in times[side]) for side in (mine, other))
        comparisons.append(Comparison(what, names[other], "pairs/CPU s", *rates))
    return comparisons

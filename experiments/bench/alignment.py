"""Word alignment with an encoder, compared with SimAlign."""

import operator
from functools import partial
from typing import Any

import torch

from calque.analysis.aligners.encoder import EncoderAligner, Precision
from calque.analysis.aligners.methods import BY_NAME
from calque.analysis.measures.word_alignment import gold_set
from calque.derive.links.aligner import Links, Pair
from calque.experiments.bench.harness import Comparison, check_equal, cpu_seconds, folder_of, interleaved
from calque.pretrain.architecture import main_layer
from calque.pretrain.saved_model import read_config


def aligners(rounds: int) -> list[Comparison]:
    """Compare the speed of Itermax alignment from text to links: ours in batches, SimAlign's pair by pair.

    In float32, both give the same links. On processors with bfloat16 units, our bfloat16 is also compared
    with SimAlign's default, the precision of the stored weights; at most a tenth of the pairs may then
    differ.
    """
    from simalign import SentenceAligner  # only this benchmark needs it

    encoder = folder_of("CALQUE_ENCODER")
    pairs = list(gold_set(folder_of("CALQUE_DATA") / "align", "en-fr").pairs)
    layer, method = main_layer(int(read_config(encoder).num_hidden_layers)), BY_NAME["itermax"]
    compared: list[tuple[Precision, str, float]] = [("float32", "SimAlign in float32", 0.99)]
    if any(torch.cpu.get_capabilities().get(unit) for unit in ("avx512_bf16", "amx_bf16", "bf16")):
        compared.append(("bfloat16", "SimAlign in the weights' precision", 0.9))
    comparisons = []
    for precision, other, least in compared:
        ours = EncoderAligner.open(encoder, method, layer, precision=precision)
        theirs = SentenceAligner(str(encoder), "bpe", matching_methods="i", layer=layer)
        if precision == "float32":
            theirs.embed_loader.emb_model.float()
        sides = partial(_ours, ours, pairs), partial(_theirs, theirs, pairs)
        same = sum(map(operator.eq, *(side() for side in sides)))
        equal = check_equal(same, len(pairs), "pairs", least)
        what = f"text to links by a real encoder and Itermax, {precision}; {equal}"
        times = interleaved([partial(cpu_seconds, side) for side in sides], rounds)
        rates = (tuple(len(pairs) / seconds for seconds in side) for side in times)
        comparisons.append(Comparison(what, other, "pairs/CPU s", *rates))
    return comparisons


def _ours(aligner: EncoderAligner, pairs: list[Pair]) -> list[Links]:
    return list(aligner.align(pairs))


def _theirs(aligner: Any, pairs: list[Pair]) -> list[Links]:
    return [sorted(*aligner.get_word_aligns(list(a), list(b)).values()) for a, b in pairs]

import numpy as np
import pytest
import torch
from transformers import RobertaModel

from calque.analysis.measures.word_alignment import PAIRS, pair_links, score_all
from calque.analysis.records.record import AER, MeasuredModel, Record
from calque.derive.languages import Languages
from calque.derive.order import Invert
from calque.derive.readers.parallel import GoldPair
from calque.derive.script import Transliterate
from calque.derive.transform import compose
from calque.derive.types import OURS
from calque.pretrain.transport import itermax, log_kernel, sinkhorn
from tests.pocket import derive_pocket

SEED, STEP = 5, 400
LENGTH = 32


def model_of(checkpoint, language=""):
    return MeasuredModel(checkpoint, "run", language, SEED, STEP)


def derived(checkpoint, study, language):
    return pair_links(model_of(checkpoint, language), Languages.open(study, [language]), language).records


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    transforms = Transliterate(), compose(Transliterate(), Invert())
    return derive_pocket(tmp_path_factory.mktemp("studies"), *transforms, sentences=120)


def test_contextual_alignment_equals_pair_by_pair(study, make_checkpoint):
    types = 2 * len(np.load(study / "trans.inv" / "image.npy"))
    checkpoint = make_checkpoint(types, languages=3, length=LENGTH)
    model = RobertaModel.from_pretrained(checkpoint, add_pooling_layer=False).eval()
    room = LENGTH - 3
    languages = Languages.open(study, ["trans.inv"])
    bitext = languages.bitext("source", "trans.inv")
    every = []
    for number in bitext.order(SEED)[::-1].tolist():
        (source, derived_ids), (line, other) = bitext.ids(number), bitext.lines[number]
        if len(source) + len(derived_ids) <= room and len(every) < PAIRS:
            pieces = bitext.first.corpus.pieces[line], bitext.second.corpus.pieces[other]
            gold = frozenset((int(i), int(j)) for i, j in bitext.links(number))
            every.append(((source, derived_ids), pieces, gold))
    links = []
    for sides, counts, _ in every:
        states = []
        for language, ids in enumerate(sides):
            row = torch.tensor([[OURS.start, *ids.tolist(), OURS.end]])
            with torch.no_grad():
                states.append(
                    model(row, token_type_ids=torch.full_like(row, language)).last_hidden_state[:, 1:-1]
                )
        products = states[0] @ states[1].transpose(1, 2)
        masks = [torch.ones(1, side.shape[1], dtype=torch.bool) for side in states]
        cells = itermax(sinkhorn(log_kernel(products), *masks), *masks)[:, 1:].tolist()
        words = [np.repeat(np.arange(len(pieces)), pieces) for pieces in counts]
        links.append({(int(words[0][i]), int(words[1][j])) for i, j in cells})
    golds = [GoldPair(gold, gold) for *_, gold in every]
    made = derived(checkpoint, study, "trans.inv")
    (found,) = (r for r in made if (r.layer, r.joint) == (1, False))
    value, count = score_all(golds, links).aer, sum(len(gold) for *_, gold in every)
    assert found == Record("run", AER, "aer", value, count, language="trans.inv", layer=1, step=STEP)

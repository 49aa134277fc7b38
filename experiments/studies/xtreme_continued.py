"""XTREME's tasks from a pretrained multilingual encoder, before and after further pretraining."""

from dataclasses import replace
from itertools import chain

from calque.derive.natural.files import TextFiles
from calque.experiments.studies.given import ewt, real_data_and_encoder, same_sentences
from calque.experiments.studies.xlm_align_small import xlm_align_small
from calque.experiments.studies.xtreme_small import xtreme_small
from calque.experiments.study import Study
from calque.experiments.study.languages import NaturalLanguages
from calque.pretrain.objectives.ppa import PPA
from calque.pretrain.objectives.weam import WEAM
from calque.pretrain.objectives.xlm_align import XLMAlign


def xtreme_continued() -> Study:
    """`xtreme_small` after 100 further steps of XLM-Align, WEAM or PPA."""
    data, _ = real_data_and_encoder("xtreme_continued", "xtreme")
    small, pretrained = xtreme_small(), xlm_align_small()
    entities = data / "ner" / "panx" / "dev-en.tsv", *chain.from_iterable(small.tasks["ner"].tests.values())
    trees = (*same_sentences(data).values(), *ewt(data).test)
    assert isinstance(pretrained.languages, NaturalLanguages)
    return small.changed(
        name="xtreme_continued",
        texts=pretrained.languages.texts,
        bitexts=pretrained.languages.bitexts,
        withheld=TextFiles((*trees, *entities)),
        objectives=(XLMAlign(pieces=3), WEAM(), PPA(queue=2_048, momentum=0.99)),
        train=replace(pretrained.train, steps=100),
        head=pretrained.head,
        mixture=pretrained.mixture,
    )

import pytest
import torch
from transformers import RobertaForMaskedLM

from calque.analysis.measures.knowledge import answers
from calque.derive.build import Derivation, derive_languages
from calque.derive.dictionary import DictionaryConfig
from calque.derive.languages import Languages
from calque.derive.order import Invert
from calque.derive.pocket.language import Facts, Pocket, PocketEnglish, Sizes
from calque.derive.transform import compose, image_of_question
from calque.derive.transforms import Transliterate

LENGTH, LANGUAGE = 24, "trans.inv"
TRANSFORM = compose(Transliterate(), Invert())
FEW = Sizes(1, 1, 1)
SOURCE = PocketEnglish(Pocket(types=300), 300, FEW, FEW, FEW, Facts(subjects=12, values=3, mentions=30))


@pytest.fixture(scope="module")
def languages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("facts")
    derivation = Derivation(SOURCE, (TRANSFORM,), 500, DictionaryConfig(0.5))
    derive_languages(derivation, folder / "data", folder / "cache")
    return Languages.open(folder / "data", [LANGUAGE])


@pytest.fixture(scope="module")
def questions():
    return [(q, image_of_question(q, TRANSFORM, number)) for number, q in enumerate(SOURCE.questions())]


def test_answer_is_the_most_probable_candidate(languages, questions, make_checkpoint, monkeypatch):
    monkeypatch.setattr("calque.analysis.aligners.ROWS", 4)
    checkpoint = make_checkpoint(languages.rows, languages=3, length=LENGTH)
    model = RobertaForMaskedLM.from_pretrained(checkpoint).eval()
    encode, specials = languages.vocabulary.encode, languages.specials
    for side, name in enumerate(("source", LANGUAGE)):
        asked = [pair[side] for pair in questions]
        found = answers(model, languages, name, asked)
        table = languages[name].table
        for question, given in list(zip(asked, found.tolist(), strict=True))[::7]:
            total = torch.zeros(len(question.candidates))
            for cloze in question.clozes:
                ids = [specials.start]
                for place, word in enumerate(cloze.sentence.words):
                    ids += [specials.mask] if place == cloze.place else table[list(encode(word))].tolist()
                row = torch.tensor([[*ids, specials.end]])
                with torch.no_grad():
                    logits = model(input_ids=row, token_type_ids=torch.full_like(row, side)).logits[0]
                words = [int(table[encode(word)[0]]) for word in question.candidates]
                total += logits[ids.index(specials.mask)].log_softmax(0)[words]
            assert given == int(total.argmax())

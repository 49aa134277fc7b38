from calque.analysis.tasks.tagging import NER
from calque.derive.example import Example
from calque.derive.order import Invert
from calque.derive.sentence import Sentence, Span
from calque.derive.transform import Account, image_of_example


def test_gold_is_iob2_after_reordering():
    sentence = Sentence(("Ann", "Lee", "saw", "Rome", "."), spans=(Span(0, 2, "PER"), Span(3, 4, "LOC")))
    example = Example(((sentence,),))
    assert tuple(NER().gold(example)) == ("B-PER", "I-PER", "O", "B-LOC", "O")
    image = image_of_example(Invert(), example, 0, Account())
    assert tuple(NER().gold(image)) == ("B-LOC", "O", "B-PER", "I-PER", "O")

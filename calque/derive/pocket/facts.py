"""Facts about invented people. Each person has one value per relation, and all values are equally frequent.

Half of each person's facts are also stated in derived languages."""

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import cycle, islice, product

from calque.derive.errors import BadInput, check_range
from calque.derive.pocket.language import Pocket
from calque.derive.pocket.lexicon import WORDS, Lexicon
from calque.derive.pocket.tree import ENGLISH, Node, adposition, adverb, mark, say
from calque.derive.sentence import Sentence
from calque.derive.source import Cloze, Question

RELATIONS: dict[str, list[str]] = WORDS["facts"]  # patterns by relation
LEADS = ("", "today", "again", "indeed")  # optional adverbs at the start of a statement
STATEMENTS = 1_000_000  # maximum number of statements, because they are shuffled in memory
SAMPLE, STREAM = 4_000, 2**20
"""The number of sentences used to identify nouns, and their random stream, which no corpus or task uses."""
_SYLLABLES = [
    onset + vowel for onset in "b d f g k l m n p r s t v z br dr gr kr pl st tr".split() for vowel in "aeiou"
]


@dataclass(frozen=True)
class Facts:
    """Facts about `subjects` people. Each fact is stated `mentions` times per language, and each relation has
    `values` possible values, which are nouns."""

    subjects: int = 64
    values: int = 8
    mentions: int = 24
    seed: int = 0

    def __post_init__(self) -> None:
        check_range("subjects", self.subjects, 2)
        check_range("values", self.values, 2)
        check_range("mentions", self.mentions, 1)
        check_range("subjects x relations x mentions", self.number * self.mentions, 1, STATEMENTS)

    @property
    def number(self) -> int:
        return self.subjects * len(RELATIONS)

    def questions(self, language: Pocket) -> tuple[Question, ...]:
        """Return one question per fact, grouped by relation; raise BadInput if there are too few nouns or
        names."""
        return _questions(self, language)

    def statements(self, language: Pocket, shared: bool) -> list[Sentence]:
        """Return sentences in random order that state the facts shared with derived languages (if `shared`)
        or the other facts."""
        rng = random.Random(f"{self.seed}:statements:{shared}")
        statements = []
        for question in self.questions(language):
            if question.shared is shared:
                for pattern in islice(cycle(RELATIONS[question.relation]), self.mentions):
                    cloze = _state(pattern, question.subject, question.answer, rng.choice(LEADS))
                    statements.append(cloze.sentence)
        rng.shuffle(statements)
        return statements


@lru_cache(maxsize=4)
def _questions(facts: Facts, language: Pocket) -> tuple[Question, ...]:
    rng = random.Random(f"{facts.seed}:facts")
    nouns = _nouns(language)
    total = facts.values * len(RELATIONS)
    if len(nouns) < total:
        fault = f"{facts.values} values per relation require {total} words that are mostly used as nouns"
        raise BadInput(f"{fault}, but a language of {language.types} types has only {len(nouns)}")
    all_values = rng.sample(nouns[:total], total)
    forms = Lexicon(language.types).forms
    available = [name for name in map("".join, product(_SYLLABLES, repeat=2)) if name not in forms]
    if facts.subjects > len(available):
        raise BadInput(
            f"{facts.subjects:,} subjects need names, but only {len(available):,} names are available"
        )
    names = rng.sample(available, facts.subjects)
    shared = {name: set(rng.sample(list(RELATIONS), len(RELATIONS) // 2)) for name in names}
    questions = []
    for place, (relation, patterns) in enumerate(RELATIONS.items()):
        values = tuple(all_values[place * facts.values : (place + 1) * facts.values])
        turns = _turns(values, rng), _turns(values, rng)
        for name in names:
            is_shared = relation in shared[name]
            answer = next(turns[is_shared])
            clozes = tuple(_state(pattern, name, answer) for pattern in patterns)
            questions.append(Question(relation, name, answer, values, clozes, is_shared))
    return tuple(questions)


def _state(pattern: str, person: str, value: str, lead: str = "") -> Cloze:
    first, verb, *preposition, second = pattern.split()
    nodes = {"S": Node(person, "PROPN", ""), "V": Node(value, "NOUN", "", [Node("the", "DET", "det")])}
    nodes[first].relation, nodes[second].relation = "nsubj", "obl" if preposition else "obj"
    for word in preposition:
        adposition(nodes[second], word)
    root = Node(verb, "VERB", "root", [nodes[first], nodes[second], mark(".")])
    sentence = say(root.add(adverb(lead, "first")) if lead else root, ENGLISH.places)
    return Cloze(sentence, sentence.tags.index("NOUN"))


def _turns(values: tuple[str, ...], rng: random.Random) -> Iterator[str]:
    while True:
        yield from rng.sample(values, len(values))


def _nouns(language: Pocket) -> list[str]:
    """Return the words that are mostly nouns, starting with the most frequent."""
    words, nouns = Counter[str](), Counter[str]()
    for sentence in language.sentences(SAMPLE, STREAM):
        words.update(sentence.words)
        tagged = zip(sentence.words, sentence.tags, strict=True)
        nouns.update(word for word, tag in tagged if tag == "NOUN")
    mostly = [word for word in nouns if 2 * nouns[word] > words[word]]
    return sorted(mostly, key=lambda word: (-nouns[word], word))

"""Facts about invented people. Each person has one value per relation, and all values are equally frequent.

Half of each person's facts are also stated in derived languages."""

import random
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from pathlib import Path

from calque.derive.errors import BadInput, check_range
from calque.derive.files import read_toml
from calque.derive.pocket.language import Pocket
from calque.derive.sentence import Sentence
from calque.derive.source import Cloze, Question

RELATIONS: dict[str, list[str]] = read_toml(Path(__file__).with_name("facts.toml"))  # patterns by relation
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
            for number in range(self.mentions if question.shared is shared else 0):
                cloze = question.clozes[number % len(question.clozes)]
                statements.append(_with_lead(cloze.sentence, rng.choice(LEADS)))
        rng.shuffle(statements)
        return statements


@lru_cache(maxsize=4)
def _questions(facts: Facts, language: Pocket) -> tuple[Question, ...]:
    rng = random.Random(f"{facts.seed}:facts")
    nouns = _nouns(language)
    wanted = facts.values * len(RELATIONS)
    if len(nouns) < wanted:
        raise BadInput(
            f"{facts.values} values per relation require {wanted} words that are mostly used as nouns, but a "
            f"language of {language.types} types has only {len(nouns)}"
        )
    chosen = rng.sample(nouns[:wanted], wanted)
    taken = language.forms
    free = [name for name in map("".join, product(_SYLLABLES, repeat=2)) if name not in taken]
    if facts.subjects > len(free):
        raise BadInput(f"{facts.subjects:,} subjects need names, but only {len(free):,} names are available")
    names = rng.sample(free, facts.subjects)
    shared = {name: set(rng.sample(list(RELATIONS), len(RELATIONS) // 2)) for name in names}
    questions = []
    for place, (relation, patterns) in enumerate(RELATIONS.items()):
        values = tuple(chosen[place * facts.values : (place + 1) * facts.values])
        turns = {True: _turns(values, rng), False: _turns(values, rng)}
        for name in names:
            is_shared = relation in shared[name]
            answer = next(turns[is_shared])
            clozes = tuple(_cloze(pattern, name, answer) for pattern in patterns)
            questions.append(Question(relation, name, answer, values, clozes, is_shared))
    return tuple(questions)


def _cloze(pattern: str, subject: str, answer: str) -> Cloze:
    entries = [entry.split(":") for entry in pattern.split()]
    words, tags, relations, heads = zip(*entries, strict=True)
    filled = tuple({"S": subject, "V": answer}.get(word, word) for word in words)
    sentence = Sentence(filled, tags, tuple(int(head) - 1 for head in heads), relations)
    return Cloze(sentence, words.index("V"))


def _turns(values: tuple[str, ...], rng: random.Random) -> Iterator[str]:
    while True:
        yield from rng.sample(values, len(values))


def _nouns(language: Pocket) -> list[str]:
    """Return the words that are mostly nouns, starting with the most frequent."""
    tags: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for sentence in language.sentences(SAMPLE, STREAM):
        for word, tag in zip(sentence.words, sentence.tags, strict=True):
            tags[word][tag] += 1
    counts = {word: of["NOUN"] for word, of in tags.items() if 2 * of["NOUN"] > of.total()}
    return sorted(counts, key=lambda word: (-counts[word], word))


def _with_lead(sentence: Sentence, lead: str) -> Sentence:
    if not lead:
        return sentence
    root = sentence.heads.index(-1) + 1
    return Sentence(
        words=(lead, *sentence.words),
        tags=("ADV", *sentence.tags),
        heads=(root, *(head + 1 if head >= 0 else -1 for head in sentence.heads)),
        relations=("advmod", *sentence.relations),
    )

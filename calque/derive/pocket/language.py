"""Pocket English: its configuration, sentences, task data, and facts about invented people."""

import random
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain, count, cycle, islice, product

from calque.derive.errors import BadInput, check_range
from calque.derive.fingerprint import ADDED
from calque.derive.pocket.grammar import PAST, PRESENT, SentenceGrammar
from calque.derive.pocket.inference import inferences
from calque.derive.pocket.lexicon import WORDS, Lexicon, Preferences, Sense
from calque.derive.pocket.pairs import WordDraws, paraphrases, questions
from calque.derive.pocket.tree import ENGLISH, ORDERS, Node, adposition, adverb, draw_cast, mark, say
from calque.derive.sentence import Cloze, Example, Question, Sentence

CHUNK = 1_000  # number of sentences per chunk, the unit of generation
PRESENT_SHARE = 0.7
LONGEST = 25

GENERATED: dict[str, tuple[str, Callable[[WordDraws], Iterator[Example]]]] = {
    "nli": ("pairs", inferences),
    "paraphrase": ("paraphrases", paraphrases),
    "qa": ("questions", questions),
}
"""The name of each task's random stream, and the function that generates its examples."""

RELATIONS: dict[str, list[str]] = WORDS["facts"]  # patterns by relation
LEADS = ("", "today", "again", "indeed")  # optional adverbs at the start of a statement
STATEMENTS = 1_000_000  # maximum number of statements, because they are shuffled in memory
SAMPLE, STREAM = 4_000, 2**20  # the sentences that identify nouns, in a stream that nothing else uses
_SYLLABLES = [
    onset + vowel for onset in "b d f g k l m n p r s t v z br dr gr kr pl st tr".split() for vowel in "aeiou"
]


@dataclass(frozen=True)
class Pocket:
    """A language with 300 or 600 word types; `seed` determines its preferences and sentences. `order` is a
    key of derive.pocket.tree.ORDERS; trees and words are the same in all orders."""

    former_fields = (("zipf", 1.0),)

    types: int = 600
    seed: int = 0
    order: str = field(default="english", metadata=ADDED)

    def __post_init__(self) -> None:
        if self.types not in (300, 600):
            raise BadInput(f"Pocket English has 300 or 600 word types, not {self.types:,}")
        if self.order not in ORDERS:
            raise BadInput(f"no word order is called {self.order!r}; available: {', '.join(ORDERS)}")

    def sentences(self, size: int, stream: int = 0, withhold: bool = False) -> Iterator[Sentence]:
        """Yield the first `size` sentences of a random stream; `withhold` excludes the names reserved for
        test data."""
        chunks = (self.chunk(stream, number, withhold) for number in count())
        return islice(chain.from_iterable(chunks), size)

    def chunk(self, stream: int, number: int, withhold: bool = False) -> Iterator[Sentence]:
        """Yield a chunk of a random stream, in paragraphs of three to six sentences."""
        topics, withheld = _parts(self.types, self.seed)
        key = f"{self.seed}:sentences:{stream}:{number}"
        rng, order = random.Random(key), random.Random(f"{key}:order")
        grammars = SentenceGrammar(rng, PAST), SentenceGrammar(rng, PRESENT)
        weights = [topic.weight for topic in topics]
        remaining = CHUNK
        while remaining:
            cast = draw_cast(rng.choices(topics, weights)[0], rng, withheld if withhold else frozenset())
            grammar = grammars[rng.random() < PRESENT_SHARE]
            paragraph = min(remaining, 3 + int(rng.random() * 4))
            remaining -= paragraph
            while paragraph:
                sentence = say(grammar.sentence(), ORDERS[self.order].draw(order), cast, rng.random)
                if len(sentence) <= LONGEST:
                    paragraph -= 1
                    yield sentence

    def examples(self, task: str, stream: int = 0) -> Iterator[Example]:
        """Yield an infinite random stream of a task's examples, with equally frequent labels: inference pairs
        (`nli`), paraphrases ("1") or not ("0") (`paraphrase`), or questions with contexts in which a span
        marks the answer (`qa`)."""
        name, generate = GENERATED[task]
        rng, order = (random.Random(f"{self.seed}:{key}{name}:{stream}") for key in ("", "order:"))
        topics, _ = _parts(self.types, self.seed)
        return generate(WordDraws(topics, rng, lambda: ORDERS[self.order].draw(order)))


@lru_cache(maxsize=4)
def _parts(types: int, seed: int) -> tuple[list[Sense], frozenset[str]]:
    lexicon = Lexicon(types)
    return Preferences(lexicon, seed).topics, frozenset(lexicon.withheld)


@dataclass(frozen=True)
class Facts:
    """Facts about `subjects` people. Each person has one value per relation; a relation's `values` possible
    values are nouns and equally frequent. Each fact is stated `mentions` times per language; half of each
    person's facts are also stated in derived languages."""

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

    def statements(self, language: Pocket, shared: bool) -> list[Sentence]:
        """Return sentences in random order that state the facts shared with derived languages (if `shared`)
        or the other facts."""
        rng = random.Random(f"{self.seed}:statements:{shared}")
        statements = []
        for question in questions_of(self, language):
            if question.shared is shared:
                for pattern in islice(cycle(RELATIONS[question.relation]), self.mentions):
                    cloze = _state(pattern, question.subject, question.answer, rng.choice(LEADS))
                    statements.append(cloze.sentence)
        rng.shuffle(statements)
        return statements


@lru_cache(maxsize=4)
def questions_of(facts: Facts, language: Pocket) -> tuple[Question, ...]:
    """Return one question per fact, grouped by relation. Raises BadInput if there are too few nouns or
    names."""
    rng = random.Random(f"{facts.seed}:facts")
    nouns, total, forms = _nouns(language), facts.values * len(RELATIONS), Lexicon(language.types).forms
    available = [name for name in map("".join, product(_SYLLABLES, repeat=2)) if name not in forms]
    if total > len(nouns) or facts.subjects > len(available):
        most = f"{len(nouns) // len(RELATIONS)} values and {len(available):,} subjects"
        raise BadInput(f"facts can have at most {most} in a language of {language.types} types")
    all_values, names = rng.sample(nouns[:total], total), rng.sample(available, facts.subjects)
    shared = {name: set(rng.sample(list(RELATIONS), len(RELATIONS) // 2)) for name in names}
    questions = []
    for place, (relation, patterns) in enumerate(RELATIONS.items()):
        values = tuple(all_values[place * facts.values : (place + 1) * facts.values])
        turns = [chain.from_iterable(rng.sample(values, len(values)) for _ in count()) for _ in range(2)]
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


def _nouns(language: Pocket) -> list[str]:
    """Return the words that are mostly nouns, starting with the most frequent."""
    words, nouns = Counter[str](), Counter[str]()
    for sentence in language.sentences(SAMPLE, STREAM):
        words.update(sentence.words)
        tagged = zip(sentence.words, sentence.tags, strict=True)
        nouns.update(word for word, tag in tagged if tag == "NOUN")
    mostly = [word for word in nouns if 2 * nouns[word] > words[word]]
    return sorted(mostly, key=lambda word: (-nouns[word], word))

"""Pocket English: its configuration, sentences and task data, and facts about invented people."""

import random
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import chain, compress, count, cycle, islice, product
from typing import Any, Self

from calque.derive.errors import BadInput, check_range
from calque.derive.fingerprint import ADDED, fingerprint
from calque.derive.pocket.grammar import PAST, PRESENT, SentenceGrammar
from calque.derive.pocket.inference import inferences
from calque.derive.pocket.lexicon import WORDS, Lexicon, Preferences, Sense
from calque.derive.pocket.pairs import WordDraws, paraphrases, questions
from calque.derive.pocket.tree import ENGLISH, ORDERS, Node, adposition, adverb, draw_cast, mark, say
from calque.derive.sentence import Cloze, Example, Question, Sentence
from calque.derive.source import SPLITS, Source, TaskData

CHUNK = 1_000  # number of sentences per chunk, the unit of generation
PRESENT_SHARE = 0.7
LONGEST = 25

EDITION = "pocket, second edition"
CORPUS = 0  # the corpus's random stream
TASKS = ("pos", "ner", "nli", "qa", "paraphrase")  # in the order of their random streams
GENERATED: dict[str, tuple[str, int, Callable[[WordDraws], Iterator[Example]]]] = {
    "nli": ("pairs", 3, inferences),
    "paraphrase": ("paraphrases", 2, paraphrases),
    "qa": ("questions", 1, questions),
}
"""Each task's name in random streams, number of examples per round (one per label), and generator."""
SHARED, ALONE = -1, -2  # chunks of facts: those shared with derived languages, and all others
MOST_SENTENCES = 1_000_000_000
MOST_EXAMPLES = 1_000_000  # in a split, which must fit in memory
MANY = 2**40  # practically infinite

RELATIONS: dict[str, list[str]] = WORDS["facts"]  # patterns by relation
LEADS = ("", "today", "again", "indeed")  # optional adverbs at the start of a statement
STATEMENTS = 1_000_000  # maximum number of statements, which are shuffled in memory
SAMPLE, STREAM = 4_000, 2**20  # the sentences that identify nouns, and their stream
_SYLLABLES = [
    onset + vowel for onset in "b d f g k l m n p r s t v z br dr gr kr pl st tr".split() for vowel in "aeiou"
]


@dataclass(frozen=True)
class Pocket:
    """A language with 300 or 600 word types; `seed` determines its preferences and sentences. `order` is a
    word order; trees and words are the same in all orders."""

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
        """Yield the first `size` sentences of a random stream; `withhold` excludes names for test data."""
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
        """Yield endless random examples of a task; labels are equally frequent, spans mark answers."""
        name, _, generate = GENERATED[task]
        rng, order = (random.Random(f"{self.seed}:{key}{name}:{stream}") for key in ("", "order:"))
        topics, _ = _parts(self.types, self.seed)
        return generate(WordDraws(topics, rng, lambda: ORDERS[self.order].draw(order)))


@lru_cache(maxsize=4)
def _parts(types: int, seed: int) -> tuple[list[Sense], frozenset[str]]:
    lexicon = Lexicon(types)
    return Preferences(lexicon, seed).topics, frozenset(lexicon.withheld)


@dataclass(frozen=True)
class Facts:
    """Facts about `subjects` people. Each person has one value per relation; a relation's `values` are nouns
    and equally frequent. Each fact is stated `mentions` times per language; half of each person's facts are
    also stated in derived languages."""

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
        """Return the statements, in random order, of facts (not) `shared` with derived languages."""
        rng = random.Random(f"{self.seed}:statements:{shared}")
        statements = []
        for question in questions_of(self, language):
            for pattern in islice(cycle(RELATIONS[question.relation]), self.mentions):
                if question.shared is shared:
                    cloze = _state(pattern, question.subject, question.answer, rng.choice(LEADS))
                    statements.append(cloze.sentence)
        rng.shuffle(statements)
        return statements


@lru_cache(maxsize=4)
def questions_of(facts: Facts, language: Pocket) -> tuple[Question, ...]:
    """Return one question per fact, by relation; raise BadInput if there are too few nouns or names."""
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
    words, nouns = Counter[str](), Counter[str]()
    for sentence in language.sentences(SAMPLE, STREAM):
        words.update(sentence.words)
        nouns.update(compress(sentence.words, map("NOUN".__eq__, sentence.tags)))
    mostly = [word for word in nouns if 2 * nouns[word] > words[word]]
    return sorted(mostly, key=lambda word: (-nouns[word], word))


@dataclass(frozen=True)
class Sizes:
    train: int = 2_000
    dev: int = 500
    test: int = 1_000

    def __post_init__(self) -> None:
        for size in self:
            check_range("the number of examples in a split", size, 1, MOST_EXAMPLES)

    def __iter__(self) -> Iterator[int]:
        return iter((self.train, self.dev, self.test))


@dataclass(frozen=True)
class PocketEnglish(Source):
    """`size` sentences of Pocket English, statements of the `facts`, and task data from separate random
    streams. No example occurs twice in a task, and a third of the names are absent from the training data for
    tagging and NER."""

    drawn = ("the lexicon", "the text", "the task items")

    language: Pocket = field(default_factory=Pocket)
    size: int = 50_000
    pos: Sizes = Sizes()
    ner: Sizes = Sizes()
    nli: Sizes = Sizes()
    facts: Facts | None = field(default=None, metadata=ADDED)
    qa: Sizes | None = field(default=None, metadata=ADDED)
    paraphrase: Sizes | None = field(default=None, metadata=ADDED)

    def __post_init__(self) -> None:
        check_range("the number of sentences in a corpus", self.size, 1, MOST_SENTENCES)

    @property
    def title(self) -> str:
        facts = f", and {self.facts.number} facts" if self.facts else ""
        return f"Pocket English, {self.language.types:,} word types{facts}"

    def chunks(self) -> Iterator[tuple[int, int]]:
        """Yield each chunk's index in the random stream and its number of sentences. Facts follow the first
        chunk, because previews show the first chunk and the last ones may be held out."""
        for number in range(-(-self.size // CHUNK)):
            yield number, min(CHUNK, self.size - number * CHUNK)
            if self.facts and not number:
                for kind in (SHARED, ALONE):
                    yield kind, len(self.facts.statements(self.language, kind == SHARED))

    def sentences(self, chunk: tuple[int, int]) -> tuple[list[Sentence], Counter[str]]:
        number, size = chunk
        if self.facts and number < 0:
            return self.facts.statements(self.language, number == SHARED), Counter()
        return list(islice(self.language.chunk(CORPUS, number), size)), Counter()

    def has_images(self, chunk: tuple[int, int]) -> bool:
        return chunk[0] != ALONE

    def questions(self) -> tuple[Question, ...]:
        return questions_of(self.facts, self.language) if self.facts else ()

    @property
    def tasks(self) -> tuple[str, ...]:
        return tuple(task for task in TASKS if getattr(self, task))

    def task_data(self, task: str) -> TaskData:
        """Return the first examples of each split's stream, without rounds that repeat a text."""
        language, labels = self.language, GENERATED[task][1] if task in GENERATED else 1
        data = TaskData({}, {split: Counter() for split in SPLITS})
        seen = set[Any]()
        first = CORPUS + 1 + TASKS.index(task) * len(SPLITS)
        for stream, (split, size) in enumerate(zip(SPLITS, getattr(self, task), strict=True), start=first):
            if task in GENERATED:
                examples = language.examples(task, stream)
            else:
                sentences = language.sentences(MANY, stream, withhold=split == SPLITS[0])
                examples = (Example(((sentence,),)) for sentence in sentences)
            distinct: list[Example] = []
            while len(distinct) < size:
                group = list(islice(examples, labels))
                texts = [example.words for example in group]
                if seen.isdisjoint(texts):
                    seen.update(texts)
                    distinct += group
                else:
                    data.left_out[split]["repetitions"] += labels
            data.examples[split] = distinct[:size]
        return data

    def corpus_fingerprint(self, trees: bool = False) -> str:
        return fingerprint(EDITION, self.language, self.size, *([self.facts] if self.facts else []))

    def task_fingerprint(self, task: str, trees: bool = False) -> str:
        extra = ["diagnostics"] if task == "nli" else []
        return fingerprint(EDITION, self.language, task, getattr(self, task), *extra)

    def reseeded(self, offset: int) -> Self:
        facts = replace(self.facts, seed=self.facts.seed + offset) if self.facts else None
        return replace(self, language=replace(self.language, seed=self.language.seed + offset), facts=facts)

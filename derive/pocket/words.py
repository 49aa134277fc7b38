"""The words that Pocket English starts from: function words, and a core of common English ones by topic.

`a:b` is a with its hypernym b, `a/b` a pair of antonyms; each list runs from frequent to rare. The words are
ordinary English; what they mean to one another here (hypernyms, topics) is a toy's.
"""

ARTICLES = "the a an"
POINTERS = "this that every no"
PLURAL_POINTERS = "these those some many"
PRONOUNS = "he she it they him her them his who what"
AUXILIARIES = "is are was were be did does do has have"
MODALS = "can will must"
CONJUNCTIONS = "and or but because when if after before"
PREPOSITIONS = "in at near behind with for about from to of by"
NUMBERS = "two three four five six seven eight nine"
OTHERS = "not there where very too 's . , ?"

FUNCTION = frozenset(
    " ".join(
        (
            *(ARTICLES, POINTERS, PLURAL_POINTERS, PRONOUNS, AUXILIARIES, MODALS),
            *(CONJUNCTIONS, PREPOSITIONS, NUMBERS, OTHERS),
        )
    ).split()
)

# Where something is, and what else a preposition may bring: the first take places, the second things.
LOCATIVE = ("in", "at", "near", "behind", "from")
OBLIQUE = ("with", "for", "about", "after", "before")

# General words have a sense in every topic. Kinds: nouns are person, animal, thing or place; verbs take no object
# (intr), a thing (tr), a person or animal (soc), a recipient and a thing (ditr), a that-clause (say) or an
# infinitive (want); adverbs say how (manner) or how often (freq).
GENERAL = {
    "person": "woman:person man:person",
    "intr": "come wait",
    "tr": "find/lose see",
    "soc": "help meet",
    "ditr": "give show",
    "say": "say know",
    "want": "want",
    "adj": "old/young big/small good/bad",
    "manner": "quickly slowly quietly well",
    "freq": "often always never",
}

TOPICS = (
    {
        "person": "farmer:worker shepherd:worker gardener:worker neighbour:person",
        "animal": "horse:animal cow:animal sheep:animal hen:animal goose:animal",
        "thing": "apple:food rose:plant spade:tool cart:vehicle plum:food tree:plant seed:plant axe:tool fence",
        "place": "field:place barn:building garden:place mill:building hill:place",
        "intr": "work walk rest",
        "tr": "plant pick dig/fill water grow burn",
        "soc": "feed chase/avoid",
        "ditr": "sell lend",
        "say": "hope",
        "want": "plan",
        "adj": "ripe/rotten wet/dry wild/tame green/brown",
    },
    {
        "person": "cook:worker baker:worker waiter:worker guest:person",
        "animal": "cat:animal mouse:animal",
        "thing": "soup:food loaf:food knife:tool tea:drink cake:food pan:tool egg:food juice:drink spoon:tool",
        "place": "kitchen:room restaurant:building cellar:room inn:building",
        "intr": "eat smile/frown",
        "tr": "cook drink taste bake cut/mend boil",
        "soc": "invite/ignore serve",
        "ditr": "bring pass",
        "say": "think",
        "want": "love",
        "adj": "hot/cold full/empty sweet/bitter fresh/stale",
    },
    {
        "person": "teacher:worker girl:child boy:child pupil:child student:person",
        "animal": "parrot:animal",
        "thing": "book:text pen:tool letter:text desk:item poem:text chair:item lamp:tool map:text",
        "place": "school:building library:building classroom:room yard:place",
        "intr": "laugh/cry play",
        "tr": "read/skip open/close write learn/forget",
        "soc": "teach praise/blame",
        "ditr": "tell",
        "say": "explain",
        "want": "learn",
        "adj": "easy/hard clever/foolish long/short quiet/loud",
    },
    {
        "person": "sailor:worker captain:worker fisherman:worker pirate:person",
        "animal": "fish:animal whale:animal gull:animal seal:animal",
        "thing": "ship:vehicle boat:vehicle net:tool rope:tool ferry:vehicle anchor:tool chart:text pearl",
        "place": "harbour:place island:place beach:place lighthouse:building",
        "intr": "swim/sink sail fish",
        "tr": "steer load/unload push/pull ship",
        "soc": "catch/release rescue",
        "ditr": "throw",
        "say": "shout",
        "want": "fear",
        "adj": "deep/shallow calm/rough safe/dangerous",
    },
    {
        "person": "merchant:worker driver:worker customer:person thief:person",
        "animal": "dog:animal pigeon:animal",
        "thing": "car:vehicle coat:garment bus:vehicle hat:garment coin ring watch:tool shirt:garment bag:tool",
        "place": "market:place shop:building street:place station:building park:place",
        "intr": "run/stop hurry",
        "tr": "buy/sell wear drive park carry/drop",
        "soc": "watch pay/rob",
        "ditr": "offer",
        "say": "complain",
        "want": "refuse",
        "adj": "cheap/costly rich/poor new/worn",
    },
    {
        "person": "doctor:worker nurse:worker patient:person surgeon:worker",
        "animal": "rat:animal",
        "thing": "pill:medicine bed:item needle:tool syrup:medicine cup:tool sheet pillow:item",
        "place": "hospital:building ward:room clinic:building",
        "intr": "sleep/wake sneeze",
        "tr": "swallow lift/lower clean/soil use",
        "soc": "cure/harm visit treat",
        "ditr": "promise",
        "say": "believe",
        "want": "need",
        "adj": "sick/healthy strong/weak clean/dirty patient/nervous",
    },
    {
        "person": "singer:artist dancer:artist actor:artist painter:artist critic:person",
        "animal": "bird:animal",
        "thing": "song:text violin:instrument drum:instrument picture play:text flute:instrument mask brush:tool",
        "place": "theatre:building hall:room stage:place museum:building",
        "intr": "dance sing perform",
        "tr": "play hear paint/erase show/hide",
        "soc": "admire/despise paint",
        "ditr": "teach",
        "say": "sing",
        "want": "wish",
        "adj": "famous/unknown bright/dark happy/sad",
    },
    {
        "person": "judge:official soldier:official guard:official lawyer:worker prisoner:person",
        "animal": "wolf:animal",
        "thing": "sword:weapon gun:weapon law:text bow:weapon contract:text shield:weapon flag key:tool",
        "place": "court:building castle:building prison:building border:place",
        "intr": "fight/surrender march",
        "tr": "sign/cancel break/keep win",
        "soc": "attack/defend guard judge arrest/free",
        "ditr": "deny",
        "say": "swear",
        "want": "fail",
        "adj": "guilty/innocent brave/timid just/unfair",
    },
)

PLURALS = {
    "man": "men", "woman": "women", "child": "children", "person": "people", "sheep": "sheep", "goose": "geese",
    "mouse": "mice", "loaf": "loaves", "knife": "knives", "thief": "thieves", "fisherman": "fishermen",
    "fish": "fish", "wolf": "wolves",
}  # fmt: skip

# Past and participle.
STRONG = {
    "come": ("came", "come"), "find": ("found", "found"), "lose": ("lost", "lost"), "see": ("saw", "seen"),
    "meet": ("met", "met"), "give": ("gave", "given"), "show": ("showed", "shown"), "say": ("said", "said"),
    "know": ("knew", "known"), "dig": ("dug", "dug"), "grow": ("grew", "grown"), "feed": ("fed", "fed"),
    "sell": ("sold", "sold"), "lend": ("lent", "lent"), "eat": ("ate", "eaten"), "drink": ("drank", "drunk"),
    "cut": ("cut", "cut"), "bring": ("brought", "brought"), "think": ("thought", "thought"), "read": ("read", "read"),
    "write": ("wrote", "written"), "forget": ("forgot", "forgotten"), "teach": ("taught", "taught"),
    "tell": ("told", "told"), "swim": ("swam", "swum"), "sink": ("sank", "sunk"), "catch": ("caught", "caught"),
    "throw": ("threw", "thrown"), "run": ("ran", "run"), "buy": ("bought", "bought"), "wear": ("wore", "worn"),
    "drive": ("drove", "driven"), "pay": ("paid", "paid"), "sleep": ("slept", "slept"), "wake": ("woke", "woken"),
    "sing": ("sang", "sung"), "hear": ("heard", "heard"), "hide": ("hid", "hidden"), "fight": ("fought", "fought"),
    "break": ("broke", "broken"), "keep": ("kept", "kept"), "win": ("won", "won"), "swear": ("swore", "sworn"),
}  # fmt: skip

# A person's first name carries its pronoun; surnames, places and brands also stand inside other names.
WOMEN = "Sara Ana Maria Helen Rosa Nina Clara Vera"
MEN = "Tom Paul Omar Ivan Hugo Peter Leo Felix"
SURNAMES = "Baker Hill Lopez Novak Weston Carlow Stone Marsh Khan Field"
PLACES = "Dalmar Kerra Northfield Carlow Orrin Weston Tarvale Belmont Sundby Elmora"
BRANDS = "Orvex Lumina Trentag Solvid"
SITES = "Lake Port North South Mount"
FIRMS = "Bank University Times Works Museum"

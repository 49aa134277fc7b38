"""The words that Pocket English starts from: function words, and a core of common English ones by topic.

`a:b` is a with its hypernym b, `a/b` a pair of antonyms; each list runs from frequent to rare. The words are
ordinary English; what they mean to one another here (hypernyms, topics) is a toy's. A word that stands in several
lists is ambiguous, on purpose: only context tells a noun from a verb, an adjective or a name.
"""

ARTICLES = "the a an"
POINTERS = "this that every no"
PLURAL_POINTERS = "these those some many"
PRONOUNS = "he she it they him her them his who what"
AUXILIARIES = "is are was were be did does do has have"
MODALS = "can will must may"
CONJUNCTIONS = "and or but because when if after before"
PREPOSITIONS = "in at near behind with for about from to of by like"
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
OBLIQUE = ("with", "for", "about", "after", "before", "like")

# Prepositions that are adverbs where nothing follows them.
PARTICLES = {"there": 3, "in": 2, "near": 1, "behind": 1, "after": 1, "before": 1}

# General words have a sense in every topic. Kinds: nouns are person, animal, thing or place; verbs take no object
# (intr), a thing (tr), a person or animal (soc), a recipient and a thing (ditr), a place (go), a that-clause (say) or
# an infinitive (want), and those of kind firm say what only an organisation does to a person. Adjectives (adj) stand
# anywhere, participles (past) before their noun only; adverbs say how (manner) or how often (freq).
GENERAL = {
    "person": "woman:person man:person",
    "thing": "work light show help rest",
    "place": "well",
    "intr": "work rest",
    "tr": "find/lose like see",
    "soc": "help meet",
    "ditr": "give show",
    "go": "leave reach",
    "firm": "hire train",
    "say": "say know",
    "want": "want",
    "adj": "light/dark fast/slow hard/soft big/small old/young good/bad",
    "past": "lost known loved wanted",
    "manner": "fast well hard slowly",
    "freq": "often always never",
}

TOPICS = (
    {
        "person": "guard:worker farmer:worker shepherd:worker neighbour:person gardener:worker",
        "animal": "duck:animal horse:animal cow:animal sheep:animal hen:animal goose:animal",
        "thing": "rake:tool seed:plant rose:plant saw:tool apple:food cart:vehicle pick:tool fork:tool tree:plant "
        "fence plum:food axe:tool",
        "place": "field:place hill:place mill:building farm:building garden:place barn:building",
        "intr": "wait duck walk",
        "tr": "rake plant seed dry pick/drop cart light water fence farm burn grow",
        "soc": "guard chase/avoid feed",
        "ditr": "sell lend",
        "go": "cross",
        "firm": "pay",
        "say": "hope",
        "want": "plan",
        "adj": "dry/wet wild/tame ripe/rotten green/brown",
        "past": "burned",
    },
    {
        "person": "cook:worker host:person baker:worker guest:person waiter:worker",
        "animal": "cat:animal mouse:animal",
        "thing": "toast:food drink can:tool sweet:food dish cold butter:food peel:food cut:food "
        "knife:tool soup:food pan:tool tea:drink "
        "cake:food egg:food spoon:tool",
        "place": "kitchen:room restaurant:building inn:building cellar:room",
        "intr": "smoke wait smile/frown eat",
        "tr": "cook drink toast warm/cool butter peel cut/mend taste dish empty/fill boil",
        "soc": "host invite/ignore serve",
        "ditr": "bring pass",
        "go": "enter",
        "firm": "serve",
        "say": "think",
        "want": "love",
        "adj": "warm/cold sweet/bitter full/empty fresh/stale",
        "past": "toasted",
    },
    {
        "person": "pupil:child coach:worker teacher:worker girl:child boy:child student:person",
        "animal": "parrot:animal",
        "thing": "book:text mark:text copy:text test:text note:text letter:text pen:tool chalk desk:item "
        "plan:text chair:item "
        "poem:text lamp:tool map:text",
        "place": "study:room school:building library:building yard:place classroom:room",
        "intr": "study laugh/cry play",
        "tr": "book mark copy test open/close note read/skip chalk write learn/forget",
        "soc": "coach praise/blame teach",
        "ditr": "tell",
        "go": "cross",
        "firm": "book",
        "say": "explain",
        "want": "learn",
        "adj": "open/closed easy/difficult clever/foolish long/short quiet/loud",
        "past": "marked",
    },
    {
        "person": "pilot:worker sailor:worker captain:worker fisherman:worker pirate:person",
        "animal": "fish:animal whale:animal gull:animal seal:animal",
        "thing": "ship:vehicle net:tool anchor:tool load boat:vehicle rope:tool ferry:vehicle chart:text pearl",
        "place": "dock:place harbour:place island:place beach:place lighthouse:building",
        "intr": "fish sail swim/sink",
        "tr": "ship anchor net chart load/unload dock push/pull steer",
        "soc": "pilot catch/release rescue",
        "ditr": "throw",
        "go": "pass",
        "firm": "ship",
        "say": "shout",
        "want": "fear",
        "adj": "deep/shallow calm/rough safe/dangerous",
        "past": "sunk",
    },
    {
        "person": "merchant:worker driver:worker customer:person thief:person clown:artist",
        "animal": "dog:animal pigeon:animal",
        "thing": "watch:tool coat:garment ring bag:tool price trade car:vehicle bus:vehicle hat:garment "
        "coin shirt:garment",
        "place": "shop:building park:place market:place street:place station:building",
        "intr": "shop run/stop hurry",
        "tr": "watch coat park price buy/sell bag trade wear drive carry",
        "soc": "ring pay/rob",
        "ditr": "offer",
        "go": "enter",
        "firm": "trade",
        "say": "complain",
        "want": "refuse",
        "adj": "cheap/costly rich/poor new/worn",
        "past": "priced",
    },
    {
        "person": "doctor:worker nurse:worker patient:person surgeon:worker",
        "animal": "rat:animal",
        "thing": "cure:medicine bandage:item dose:medicine pill:medicine cup:tool sheet bed:item "
        "needle:tool syrup:medicine",
        "place": "ward:room hospital:building clinic:building",
        "intr": "sleep/wake sneeze",
        "tr": "bandage dose swallow lift/lower clean/soil use",
        "soc": "nurse doctor cure/harm visit treat",
        "ditr": "promise",
        "go": "visit",
        "firm": "test",
        "say": "believe",
        "want": "need",
        "adj": "patient/nervous sick/healthy strong/weak clean/dirty",
        "past": "cured",
    },
    {
        "person": "actor:artist dancer:artist singer:artist painter:artist critic:person",
        "animal": "bird:animal",
        "thing": "play:text drum:instrument brush:tool mask paint song:text violin:instrument picture flute:instrument",
        "place": "stage:place theatre:building hall:room museum:building",
        "intr": "dance drum perform sing",
        "tr": "play brush mask paint/erase stage show/hide hear",
        "soc": "mask admire/despise paint",
        "ditr": "teach",
        "go": "tour",
        "firm": "cast",
        "say": "sing",
        "want": "wish",
        "adj": "famous/unknown bright/dark happy/sad",
        "past": "masked",
    },
    {
        "person": "judge:official guard:official soldier:official criminal:person prisoner:person lawyer:worker",
        "animal": "wolf:animal",
        "thing": "sign arm:weapon shield:weapon sword:weapon gun:weapon law:text contract:text bow:weapon "
        "flag key:tool",
        "place": "court:building jail:building castle:building border:place",
        "intr": "march fight/surrender",
        "tr": "sign/cancel shield break/keep arm flag win",
        "soc": "judge guard jail attack/defend arrest/free",
        "ditr": "deny",
        "go": "patrol",
        "firm": "arm",
        "say": "swear",
        "want": "fail",
        "adj": "criminal/just guilty/innocent brave/timid",
        "past": "armed",
    },
)

PLURALS = {
    "man": "men", "woman": "women", "child": "children", "person": "people", "sheep": "sheep", "goose": "geese",
    "mouse": "mice", "loaf": "loaves", "knife": "knives", "thief": "thieves", "fisherman": "fishermen",
    "fish": "fish", "wolf": "wolves",
}  # fmt: skip

# Past and participle.
STRONG = {
    "find": ("found", "found"), "lose": ("lost", "lost"), "see": ("saw", "seen"),
    "meet": ("met", "met"), "give": ("gave", "given"), "show": ("showed", "shown"), "say": ("said", "said"),
    "know": ("knew", "known"), "dig": ("dug", "dug"), "grow": ("grew", "grown"), "feed": ("fed", "fed"),
    "sell": ("sold", "sold"), "lend": ("lent", "lent"), "eat": ("ate", "eaten"), "drink": ("drank", "drunk"),
    "cut": ("cut", "cut"), "bring": ("brought", "brought"), "think": ("thought", "thought"), "read": ("read", "read"),
    "write": ("wrote", "written"), "forget": ("forgot", "forgotten"), "teach": ("taught", "taught"),
    "tell": ("told", "told"), "swim": ("swam", "swum"), "sink": ("sank", "sunk"), "catch": ("caught", "caught"),
    "throw": ("threw", "thrown"), "run": ("ran", "run"), "buy": ("bought", "bought"), "wear": ("wore", "worn"),
    "drive": ("drove", "driven"), "pay": ("paid", "paid"), "sleep": ("slept", "slept"), "wake": ("woke", "woken"),
    "sing": ("sang", "sung"), "hear": ("heard", "heard"), "hide": ("hid", "hidden"), "fight": ("fought", "fought"),
    "leave": ("left", "left"), "ring": ("rang", "rung"), "cast": ("cast", "cast"), "patrol": ("patrolled", "patrolled"),
    "break": ("broke", "broken"), "keep": ("kept", "kept"), "win": ("won", "won"), "swear": ("swore", "sworn"),
}  # fmt: skip

# What a name may be: a woman's (W), a man's (M), a family's (S), a place's (L), an organisation's (O). Many are also
# common nouns.
NAMES = (
    "rose:WSO hill:SLO mark:MO field:SLO florence:WLO baker:MSO apple:WO cook:MSO sydney:WLO mill:SLO "
    "kent:MSL guard:SO hope:WL ford:SLO coach:O austin:MLO farmer:SO ana:W dalmar:LO tom:M "
    "victoria:WL shepherd:SO lincoln:MSL test:O jordan:MLS lily:WO study:LO "
    "chelsea:WLO stone:SO will:MS paris:WL marsh:SLO bill:MO may:WS dale:MSL shell:WO chester:ML "
    "charlotte:WL georgia:WLO houston:SLO carolina:WL orvex:O paul:M kerra:L novak:S "
    "brook:WSL hull:SLO clara:W bath:LO jackson:MSL pearl:WO drake:MSO orrin:L ivan:M devon:ML "
    "lumina:O vera:W burton:SLO key:SO hugo:M sundby:L bush:SO nina:W wells:SLO"
)
SITES = "lake mount port"
FIRMS = "bank school mill museum works"

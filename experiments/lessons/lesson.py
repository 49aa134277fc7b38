# %% [markdown]
# # Does a language model understand a language that it was never taught?
#
# In 15 minutes you invent a language, predict how well a model copes with another one, measure it, look inside the
# model, and decide what your numbers show.
#
# Run the cells from top to bottom with Shift+Enter. A cell that starts with `# Exercise` waits for you: change it,
# run it, and it says whether your answer is right or what is missing. `sheet.pdf` has room for notes, and
# `solutions.md` the solutions.

# %%
from dataclasses import dataclass
from pathlib import Path

import calque
from calque.derive.derivation import Derived
from calque.derive.sentence import Sentence
from calque.derive.transform import Transform
from calque.experiments.lessons import checks

# %% [markdown]
# ## 1. What transfer is (2 minutes)
#
# A language model learns in two steps.
#
# 1. **Pretraining**: it reads plain text in two languages and learns to guess words that are hidden from it.
# 2. **Fine-tuning**: it learns a task from examples. Our task is part-of-speech tagging (POS): say for each word
#    whether it is a noun, a verb, and so on.
#
# The examples are in one language. Can the model do the task in the other language too? If it can, it *transfers*.
# Three numbers measure that, all in percent of the words that are tagged correctly:
#
# - **ZS** (zero-shot): fine-tuned on the first language, tested on the second.
# - **SUP** (supervised): fine-tuned on the second language, tested on the second.
# - **Δ = SUP − ZS**: what is lost because the examples were in the other language. Perfect transfer has Δ = 0.
#
# English and Japanese differ in many ways at once, so we could not tell which difference matters. We therefore use
# *derived* languages, which differ from English in ways that we choose.

# %% [markdown]
# ## 2. A sentence in five languages (2 minutes)
#
# Here is English with four languages derived from it. `trans` has another script, `inv` is reversed, `perm` has a
# random order in each sentence, and `trans.inv` has another script and is reversed. The number above a word is its
# place in the English sentence, and `gloss` gives the English words.

# %%
sentence = "the old farmer warms two rooms ."
for name in ("trans", "inv", "perm", "trans.inv"):
    print(calque.derive(sentence, name))

# %%
# Exercise 1: which English word does the first word of the sentence in `trans.inv` stand for?
first = ""
checks.first_word(first, sentence)

# %% [markdown]
# ## 3. Invent a language (3 minutes)
#
# A language is a name and a rule that puts the words of a sentence in a new order. This rule exchanges neighbours:
# the first word with the second, the third with the fourth, and so on. Open `invent.html` in a browser and
# tick only `swap` to see this language. (JupyterLab first asks you to trust the page.)


# %%
@dataclass(frozen=True)
class Swap(Transform):
    name = "swap"

    def __call__(self, sentence: Sentence, number: int = 0) -> Sentence:
        order = list(range(len(sentence)))
        for i in range(0, len(order) - 1, 2):
            order[i], order[i + 1] = order[i + 1], order[i]
        return sentence.reorder(order)


print(Derived(Sentence(tuple(sentence.split())), Swap()))


# %%
# Exercise 2: invent a word order of your own. Change `order`, which now has the places of the words in English order.
@dataclass(frozen=True)
class Mine(Transform):
    name = "mine"

    def __call__(self, sentence: Sentence, number: int = 0) -> Sentence:
        order = list(range(len(sentence)))
        return sentence.reorder(order)


checks.invented(Mine())
print(Derived(Sentence(tuple(sentence.split())), Mine()))

# %% [markdown]
# The check counts how many neighbours in English are still neighbours. A model learns what a word means from its
# neighbours, so such counts help to guess how hard a language is.

# %% [markdown]
# ## 4. Predict, then measure (4 minutes)
#
# Pretraining a model on your language would take longer than this lesson. Eight models are pretrained already, on
# English and `trans.inv`. They are of two kinds:
#
# - **MLM** models guess hidden words, and nothing else.
# - **ALIGN-MLM** models do the same, and get a small dictionary: for a quarter of the words, they are trained to give
#   the English word and its counterpart the same representation.
#
# There are four models of each kind. They differ only in their *seed*: the random numbers that give a model its first
# weights and the order in which it reads. The next cells fine-tune the models on English tags and test them on
# `trans.inv`. A model that calls every word a noun scores 18 %, and one that transfers perfectly about 95 %.

# %%
# Exercise 3: predict ZS for both kinds of models, from 0 to 100, before you measure it.
predicted = {"MLM": None, "ALIGN-MLM": None}
checks.predicted(predicted)

# %% [markdown]
# Now measure. This takes one to two minutes. On a slow computer, `SEEDS = "0,1"` takes about two thirds of the time,
# but supports fewer conclusions.

# %%
SEEDS = "0,1,2,3"
study = calque.study("lesson", f"seeds={SEEDS}")
report = study.run()
rows = study.records()

# %%
zero_shot = checks.per_seed(rows, "ZS", "accuracy")
checks.compare(predicted, zero_shot)
supervised = checks.per_seed(rows, "SUP", "accuracy")
checks.losses(supervised, zero_shot)

# %% [markdown]
# Both kinds reach about 95 % if they are taught in the language itself (SUP). Without that, a good part is lost, and
# the dictionary recovers some of it. How?

# %% [markdown]
# ## 5. Look inside (2 minutes)
#
# A model represents each word by a list of numbers. The *cosine* of two words says how similar their lists are: 1.00
# for the same direction, about 0 for unrelated ones. A word and its counterpart have the same meaning, so in a good
# model they should be close. Which word of `trans.inv` is nearest to each of these?

# %%
models = {
    objective: calque.load(next(Path("runs/lesson/trans.inv", objective).glob("seed-0-*/checkpoint")))
    for objective in ("MLM", "ALIGN-MLM")
}
words = ("old", "warm", "cook", "two", "kitchen", "dark")
for objective, model in models.items():
    print(objective)
    for word in words:
        counterpart = calque.derive(word, "trans").words[0]
        nearest = model.nearest(word, among="trans.inv", count=1)[0]
        print(f"  {word:<8} {nearest.word:<9} {nearest.cosine:.2f} {'own counterpart' * (nearest.word == counterpart)}")

# %%
# Exercise 4: the dictionary had `old`, so its cosine is 1.00. Which of the six words did the ALIGN-MLM model bring
# nearest to their own counterparts although the dictionary lacks them?
without_help = ["old"]
checks.aligned_without_help(without_help, models["ALIGN-MLM"], words)

# %% [markdown]
# ## 6. Does alignment explain transfer? (1 minute)
#
# *alignment@1* is the share of words whose nearest word in the other language is their own counterpart. Do models with
# a higher alignment@1 transfer better? Look at the correlation over all models, then within each kind.

# %%
alignment = checks.per_seed(rows, "alignment", "all")
for objective in zero_shot:
    print(f"{objective:<10} alignment@1 {alignment[objective]}, ZS {zero_shot[objective]}")
checks.correlations(alignment, zero_shot)

# %%
# Exercise 5: what does the correlation over all models show?
# "a": alignment causes transfer.
# "b": the models with a dictionary both align and transfer better; this does not show that one causes the other.
# "c": alignment and transfer have nothing to do with each other.
answer = ""
checks.explanation(answer)

# %% [markdown]
# ## 7. What one seed can and cannot say (1 minute)
#
# Suppose that you had trained only one model of each kind. Which difference would you have measured? Each pair of
# models is one answer that you could have got.

# %%
differences = sorted(round(b - a, 1) for a in zero_shot["MLM"] for b in zero_shot["ALIGN-MLM"])
print(differences)

# %%
# Exercise 6: the smallest and the largest difference that one pair of models could have shown.
smallest = None
largest = None
checks.smallest_and_largest((smallest, largest), zero_shot)

# %% [markdown]
# One pair of models says little about how large the effect is. Two models of the same kind differ by several points
# too, although nothing but the seed differs. So the report compares the difference with the variation between seeds.
# A claim *holds* or *fails* only if chance is an unlikely explanation. Otherwise it is *undecided*, which means "we
# do not know", not "there is no difference". *Before correction only* is not safe either: whoever tests several claims
# finds something by chance sooner or later, and the correction allows for that. *Held-out types* are the words that the
# dictionary lacks.

# %%
checks.verdicts(report)
print("The whole report:", report / "report.html")

# %% [markdown]
# ## After the lesson
#
# - Open `report.html` and find the means of this lesson in Tables 3 and 8 (POS accuracy; Figure 2 shows another
#   score, F1). In the section *Look inside*, replace a word of your own sentence with `<mask>`.
# - Measure your own language: `calque new transform mine` writes a file with a rule like yours, and `calque run
#   mine.py` pretrains and measures models of it.

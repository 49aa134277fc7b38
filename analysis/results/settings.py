"""Describe study settings in words."""

from calque.analysis.tasks.catalog import task_title

TITLES = {
    "steps": "training steps",
    "batch": "rows per step",
    "learning_rate": "learning rate",
    "finetune.learning_rate": "learning rate of fine-tuning",
    "finetune.freeze_table": "frozen table in fine-tuning",
    "epochs": "epochs of fine-tuning",
    "dictionary.fraction": "share of types in the dictionary",
    "dictionary.by": "choice of the dictionary’s types",
    "dictionary.correct": "share of correct dictionary pairs",
    "dictionary.wrong": "wrong pairs of the dictionary",
    "vocabulary": "vocabulary size",
    "easy.types": "word types of the text",
    "language.types": "word types of the text",
    "source.size": "sentences of text",
    "disjoint": "disjoint halves of the text",
    "transforms": "languages",
    "redraw": "data drawn for each seed",
    "model.layers": "layers",
    "model.hidden": "width",
}
"""Titles of settings, by the last components of their keys."""


def setting_title(key: str) -> str:
    """Return a setting's title: for `train.weight_decay`, "weight decay"."""
    path = key.split(".")
    ends = [".".join(path[start:]) for start in range(len(path))]
    titles = TITLES
    if "." not in key:
        titles = {name.rpartition(".")[2]: title for name, title in TITLES.items()} | TITLES
    title = next((titles[end] for end in ends if end in titles), path[-1].replace("_", " "))
    return f"{title} on {task_title(path[1])}" if path[0] == "tasks" and len(path) > 2 else title

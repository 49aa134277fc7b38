"""A small tagger and a small parser trained offline from a treebank, in a folder laid out as Stanza's.

`python -m tests.stanza_training TREEBANK FOLDER [STEPS]` makes one in minutes, without a network.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from calque.derive.files import whole_folder, write_json
from calque.derive.parser import RESOURCES
from calque.derive.readers.conllu import read_conllu
from tests.treebanks import write_treebank

SMALL = """--no_pretrain --hidden_dim 100 --char_hidden_dim 50 --char_emb_dim 25 --word_emb_dim 64
    --word_cutoff 2 --transformed_dim 50 --num_layers 1 --deep_biaff_hidden_dim 100 --tag_emb_dim 20
    --dropout 0.2 --word_dropout 0.1 --lr 5e-3 --beta2 0.95 --second_lr 1e-3"""
"""Small models hardly learn under Stanza's default dropout."""
ONLY = {
    "tagger": "--composite_deep_biaff_hidden_dim 20 --batch_size 48 --fix_eval_interval",
    "parser": """--deep_biaff_output_dim 50 --batch_size 1500 --no_xpos --no_ufeats --optim adam
        --weight_decay 0 --second_warmup_steps 0 --no_checkpoint""",
}
"""Options for one of them. The tagger counts a batch in sentences (1,000 take 23 GB), the parser in words."""
FALLS = {"tagger": "--max_steps_before_stop", "parser": "--second_optim_start_step"}
"""The step at which the learning rate falls; the tagger's falls after that many steps without a dev score."""


def train_models(treebank, out, steps=800):
    """Train a tagger and a parser of English from a UD treebank; the parser takes half of the steps."""
    training, dev = (
        [sentence for file in sorted(treebank.glob(f"*{split}*.conllu")) for sentence in read_conllu(file)]
        for split in ("train", "dev")
    )
    if not dev:  # every tenth sentence
        dev, training = training[::10], [sentence for i, sentence in enumerate(training) if i % 10]
    with whole_folder(out) as part, TemporaryDirectory(dir=part.parent, prefix=f".{out.name}.") as name:
        folder, models = Path(name), {}
        for split, sentences in (
            ("train", training),
            ("dev", dev[:500]),
        ):  # dev only picks among three parsers
            write_treebank(folder / f"{split}.conllu", sentences, lemmas=True)  # the parser embeds lemmas
        for processor, kind, own in (("pos", "tagger", steps), ("depparse", "parser", steps // 2)):
            models[processor] = _train(kind, own // 3 * 3, folder)
        write_folder(part, "en", models)


def _train(kind, steps, folder):
    model = folder / f"{kind}.pt"
    each = steps if kind == "tagger" else steps // 3
    options = f"""--mode train --lang xx --shorthand xx_calque --save_name {model.name} --max_steps {steps}
        --eval_interval {each} {FALLS[kind]} {steps // 3 * 2} {SMALL} {ONLY[kind]}"""
    files = {"train_file": folder / "train.conllu", "eval_file": folder / "dev.conllu", "save_dir": folder}
    places = [word for option, path in files.items() for word in (f"--{option}", path)]
    command = [sys.executable, "-m", f"stanza.models.{kind}", *options.split(), *places]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment, check=True)
    return model


def write_folder(part, language, models):
    for processor, model in models.items():
        place = part / language / processor / "calque.pt"
        place.parent.mkdir(parents=True)
        shutil.move(model, place)  # it may be on another disk
    packages = {"packages": {"default": dict.fromkeys(models, "calque")}}
    write_json(part / RESOURCES, {language: packages | {processor: {"calque": {}} for processor in models}})


if __name__ == "__main__":
    train_models(Path(sys.argv[1]), Path(sys.argv[2]), *map(int, sys.argv[3:]))

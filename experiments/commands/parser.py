"""`calque parser`: Stanza's models, by training or by download."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from derive.errors import BadInput

if TYPE_CHECKING:
    from derive.sentence import Sentence
    from experiments.progress import Report

SMALL = """--no_pretrain --hidden_dim 100 --char_hidden_dim 50 --char_emb_dim 25 --word_emb_dim 64 --word_cutoff 2
    --transformed_dim 50 --num_layers 1 --deep_biaff_hidden_dim 100 --tag_emb_dim 20 --dropout 0.2 --word_dropout 0.1
    --lr 5e-3 --beta2 0.95 --second_lr 1e-3"""
"""Both models are small, with less dropout than Stanza's default, under which a small model hardly learns."""
ONLY = {
    "tagger": "--composite_deep_biaff_hidden_dim 20 --batch_size 48 --fix_eval_interval",
    "parser": """--deep_biaff_output_dim 50 --batch_size 1500 --no_xpos --no_ufeats --optim adam --weight_decay 0
        --second_warmup_steps 0 --no_checkpoint""",
}
"""Options that only one of them has. A batch is sentences to the tagger (1,000 take 23 GB) and words to the parser."""
FALLS = {"tagger": "--max_steps_before_stop", "parser": "--second_optim_start_step"}
"""The step at which the learning rate falls; the tagger's falls after that many steps without a dev score."""

app = typer.Typer(help="Stanza's models: train or fetch them.", no_args_is_help=True)

Out = Annotated[Path, typer.Argument(help="The folder of models to write.")]


@app.command()
def train(
    treebank: Annotated[
        Path, typer.Argument(help="A UD v2 treebank: *train*.conllu and, if there is one, *dev*.conllu.")
    ],
    out: Out,
    language: Annotated[str, typer.Option(help="Stanza's code of the language, as in en.")] = "en",
    steps: Annotated[
        int, typer.Option(min=6, help="Training steps of the tagger; the parser takes half as many.")
    ] = 800,
) -> None:
    """Train a small tagger and a small parser from a treebank, offline, and score them on its dev file."""
    from experiments.progress import board

    with board() as bars:
        scores = train_models(treebank, out, language, steps, bars.report)
    typer.echo(", ".join(f"{what} {fraction:.1%}" for what, fraction in scores.items()))
    typer.echo(f"{out}: the models of {language}")


@app.command()
def fetch(language: Annotated[str, typer.Argument(help="Stanza's code of the language, as in en.")], out: Out) -> None:
    """Download Stanza's own models of a language, in the version that the installed Stanza names."""
    from derive import parser

    version = parser.fetch(language, out)
    typer.echo(f"{out}: Stanza's models {version} of {language}")


def train_models(treebank: Path, out: Path, language: str, steps: int, report: Report) -> dict[str, float]:
    """Train the models of `out`, whole or not at all, and return the fractions of dev words that they get right."""
    from derive.files import check_name, whole_folder, write_json
    from derive.parser import StanzaParser, write_folder
    from derive.readers.conllu import read_conllu, write_treebank

    check_name(language, "a language's code")
    training, dev = (
        [sentence for file in sorted(treebank.glob(f"*{split}*.conllu")) for sentence in read_conllu(file)]
        for split in ("train", "dev")
    )
    if not training:
        raise BadInput("no *train*.conllu in it; expected the folder of a UD treebank", treebank)
    if not dev:  # every tenth sentence
        dev, training = training[::10], [sentence for i, sentence in enumerate(training) if i % 10]
    if not training:
        raise BadInput("only one sentence; expected more to train on", treebank)
    with whole_folder(out) as part, TemporaryDirectory(dir=part.parent, prefix=f".{out.name}.") as name:
        folder, models = Path(name), {}
        for split, sentences in (("train", training), ("dev", dev[:500])):  # dev only picks among three parsers
            write_treebank(folder / f"{split}.conllu", sentences, lemmas=True)  # the parser embeds lemmas
        for done, (processor, kind, own) in enumerate((("pos", "tagger", steps), ("depparse", "parser", steps // 2))):
            report(f"training Stanza's {kind}", done, 2)
            models[processor] = _train(kind, own // 3 * 3, folder, out)
        write_folder(part, language, models)
        scores = _score(dev, StanzaParser(part).parse([sentence.words for sentence in dev]))
        write_json(part / "about.json", {"steps": steps, "training sentences": len(training), "dev": scores})
    return scores


def _train(kind: str, steps: int, folder: Path, out: Path) -> Path:
    """Train `stanza.models.KIND` on the treebank in the folder, in a process of its own; return the model's file."""
    log, model = out.with_name(f"{out.name}.{kind}.log"), folder / f"{kind}.pt"
    command = [
        *(sys.executable, "-m", f"stanza.models.{kind}", "--mode", "train", "--lang", "xx", "--shorthand", "xx_calque"),
        *("--train_file", str(folder / "train.conllu"), "--eval_file", str(folder / "dev.conllu")),
        *("--save_dir", str(folder), "--save_name", model.name, "--max_steps", str(steps)),
        *("--eval_interval", str(steps if kind == "tagger" else steps // 3), FALLS[kind], str(steps // 3 * 2)),
        *(*SMALL.split(), *ONLY[kind].split()),
    ]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}  # matrices so small gain nothing from a second thread
    with log.open("w", encoding="utf-8") as file:
        code = subprocess.run(command, stdout=file, stderr=subprocess.STDOUT, env=environment, check=False).returncode
    if code or not model.exists():
        last = (log.read_text(encoding="utf-8").strip() or "no output").splitlines()[-1]
        raise BadInput(f"training Stanza's {kind} failed with code {code}: {last}", log)
    log.unlink()
    return model


def _score(dev: list[Sentence], parses: list[Sentence]) -> dict[str, float]:
    """Fractions of words with the right tag, head, and head and relation. A sentence without a tree has none right."""
    right: Counter[str] = Counter()
    for gold, parse in zip(dev, parses, strict=True):
        for i in range(len(parse.heads)):
            head = gold.heads[i] == parse.heads[i]
            right["tags"] += gold.tags[i] == parse.tags[i]
            right["heads (UAS)"] += head
            right["heads and relations (LAS)"] += head and gold.relations[i] == parse.relations[i]
    words = sum(map(len, dev))
    return {what: count / words for what, count in right.items()}

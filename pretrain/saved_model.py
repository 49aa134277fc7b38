"""Models and tokenizers of a folder, as transformers saves them: the one file that loads them, and writes tokenizers.

Nothing in a folder is run (trust_remote_code), nothing is unpickled (weights in safetensors only), nothing is fetched,
and nothing is asked on the terminal. Any kind of model that transformers knows can be read.
"""

import hashlib
import json
import re
import shutil
from collections.abc import Callable, Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from tokenizers import Tokenizer
from tokenizers.processors import TemplateProcessing
from transformers import AutoConfig, AutoModel, AutoTokenizer, PreTrainedConfig, PreTrainedModel
from transformers.utils import logging

from calque.derive import strict_json
from calque.derive.artefact import check_part
from calque.derive.errors import BadInput
from calque.derive.fingerprint import sha256
from calque.derive.languages import Languages
from calque.derive.script import Letters
from calque.derive.types import Specials
from calque.derive.vocabulary import ROLES

CONFIG, WEIGHTS = "config.json", "model.safetensors"
TOKENIZER, TOKENIZER_CONFIG, TOKENIZERS = "tokenizer.json", "tokenizer_config.json", "tokenizers"
RUN = "run"  # the kind of artefact that a run's folder is
INDEX = f"{WEIGHTS}.index.json"  # which of several files has which tensor
MOST = 10_000
"""Layers, or labels, that a model may have: transformers makes an object of each before it reads any weight."""
_COUNT = re.compile(r"(?:^|_)(?:layers?|labels)$")
_OTHER_WEIGHTS = (".bin", ".pt", ".pth", ".ckpt", ".h5", ".msgpack")
_LAYER = re.compile(r"\blayers?\.\d+\.")
_SPARE, _NEVER, _KEPT = "\U0010fffd", "\U0010fffc", 0x100000
"""Private characters, which no text has: a letter on its way, a mark that no piece has, special types meanwhile."""
_SAFELY = {"local_files_only": True, "trust_remote_code": False}


def read_config(folder: Path) -> PreTrainedConfig:
    """The configuration of a folder's model."""
    path = folder / CONFIG
    if not path.is_file():
        raise BadInput(f"no model here: expected a folder with {CONFIG}, {WEIGHTS} and a tokenizer", folder)
    try:
        parts = [json.loads(path.read_text(encoding="utf-8"))]
    except (OSError, ValueError, RecursionError):
        parts = []  # transformers says what is wrong
    while parts:
        part = parts.pop()
        for name, value in part.items() if isinstance(part, dict) else ():
            if isinstance(value, dict):
                parts.append(value)
            if type(value) is int and value > MOST and _COUNT.search(name):
                raise BadInput(f"{name} is {value:,}; expected at most {MOST:,}", path)
    return _loaded(folder, "model", lambda: AutoConfig.from_pretrained(folder, **_SAFELY))


def weight_files(folder: Path) -> tuple[Path, ...]:
    """The files of a model's weights: one in safetensors, or the files that an index names, sorted."""
    if (whole := folder / WEIGHTS).is_file():
        return (whole,)
    if not (index := folder / INDEX).is_file():
        if others := sorted(path for path in folder.glob("*") if path.suffix in _OTHER_WEIGHTS):
            raise BadInput(f"not opened: expected {WEIGHTS}, as transformers saves a model", others[0])
        raise BadInput(f"no weights: expected {WEIGHTS}", folder)
    try:
        places = strict_json.loads(index.read_text(encoding="utf-8"))["weight_map"]
        names = sorted(set(map(str, places.values())))
    except (OSError, ValueError, TypeError, LookupError, AttributeError) as error:
        raise BadInput(f"damaged, expected the file of each tensor: {error}", index) from None
    for name in names:
        if Path(name).name != name or not (folder / name).is_file():
            raise BadInput(f"names the file {name!r}, which is not in its folder", index)
    if not names:
        raise BadInput("names no file", index)
    return tuple(folder / name for name in names)


def weights_digest(folder: Path) -> str:
    """The sha256 of a checkpoint's weights; of several files, that of their names and digests."""
    files = weight_files(folder)
    if len(files) == 1:
        return sha256(files[0])
    return hashlib.sha256("".join(f"{sha256(path)}  {path.name}\n" for path in files).encode()).hexdigest()


def tensor_files(folder: Path) -> dict[str, Path]:
    """The names of a model's tensors, each with its file; no tensor is read."""
    files: dict[str, Path] = {}
    for path in weight_files(folder):
        try:
            with safe_open(path, framework="pt") as tensors:
                files |= dict.fromkeys(tensors.keys(), path)
        except (OSError, SafetensorError) as error:
            raise BadInput(f"no weights that can be loaded: {error}", path) from None
    return files


def load_model(folder: Path, kind: Any = AutoModel, **options: Any) -> tuple[PreTrainedModel, list[str]]:
    """The model of a folder on the CPU in float32, and the names of the weights that the folder lacks, sorted.

    `kind` is the class of transformers, or the Auto class, whose `from_pretrained` makes it; `options` go there too.

    Raises:
        BadInput: there is no model, only code of its own reads it, its weights are not in safetensors or do not fit its
            config, or it is the checkpoint of a run and a byte of it, or of the run's manifest, has changed.
        MemoryError: it does not fit into memory.
    """
    check_part(folder, RUN)  # safetensors have no checksum
    layers, files = getattr(read_config(folder), "num_hidden_layers", 0), tensor_files(folder)
    if isinstance(layers, int) and layers > len(files):
        raise BadInput(f"{layers:,} layers, and only {len(files):,} tensors in the weights", folder / CONFIG)
    options |= {"use_safetensors": True, "output_loading_info": True, "dtype": torch.float32}
    options |= {"ignore_mismatched_sizes": True}  # they are refused here, by name
    # A class of transformers itself runs no code of the folder, and does not know the option that forbids it.
    options |= _SAFELY if kind.__name__.startswith("Auto") else {"local_files_only": True}
    model, report = _loaded(folder, "model", lambda: kind.from_pretrained(folder, **options))
    for name, saved, wanted in sorted(report["mismatched_keys"]):
        path = next((path for other, path in files.items() if other.endswith(name) or name.endswith(other)), folder)
        raise BadInput(f"{name} is {tuple(saved)}, and by {CONFIG} {tuple(wanted)}", path)
    if extra := sorted(name for name in report["unexpected_keys"] if _LAYER.search(name)):
        raise BadInput(f"{CONFIG} has no such layer as that of the weights {extra[0]}", folder)
    return model, sorted(report["missing_keys"])


def load_tokenizer(folder: Path) -> Any:
    """The tokenizer of a folder."""
    return _loaded(folder, "tokenizer", lambda: AutoTokenizer.from_pretrained(folder, **_SAFELY))


def _loaded(place: Path, what: str, load: Callable[[], Any]) -> Any:
    """The result of `load`, without transformers' own messages; what it cannot load is the folder's fault."""
    level = logging.get_verbosity()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        return load()
    except Exception as error:  # of a dozen kinds, by what is damaged
        message = " ".join(str(error).split()) or type(error).__name__
        if isinstance(error, MemoryError | torch.OutOfMemoryError) or "allocate memory" in message:
            raise MemoryError(f"{place}: {message[:200]}") from None
        raise BadInput(f"no {what} that can be loaded: {message[:300]}", place) from None
    finally:
        logging.set_verbosity(level)


def write_tokenizers(languages: Languages, folder: Path, length: int) -> None:
    """Write the source's tokenizer to a checkpoint's folder, and that of each other language below `tokenizers/`. The
    latter read and print a language as it is spelt. A language whose spelling is more than an exchange of letters has
    none."""
    write_tokenizer(languages.tokenizer, folder, languages.specials, length)
    state = json.loads((folder / TOKENIZER).read_text(encoding="utf-8"))
    for name in languages.others:
        letters, table = languages.letters(name), languages[name].table
        if letters is None:
            continue
        own = folder / TOKENIZERS / name
        own.mkdir(parents=True)
        for file in (TOKENIZER, TOKENIZER_CONFIG):
            shutil.copy(folder / file, own / file)
        if letters or (table != np.arange(len(table))).any():
            derived = json.dumps(derived_tokenizer(state, table, letters), indent=2, ensure_ascii=False)
            (own / TOKENIZER).write_text(derived + "\n", encoding="utf-8", newline="\n")


def write_tokenizer(tokenizer: Path, folder: Path, specials: Specials, length: int) -> None:
    """Copy a vocabulary's tokenizer, and say what transformers must know: its class and special types. Without that,
    transformers would make RoBERTa's own tokenizer of the same file, which cuts words another way. One that puts
    nothing around a text gets a template, as the model's rows begin and end with special types. `length` is how many
    ids a row of the model may have."""
    copy = Tokenizer.from_str(tokenizer.read_text(encoding="utf-8"))  # errors of `from_file` and `save` name nothing
    start, pad, end, unknown, mask = (
        copy.id_to_token(i) for i in (specials.start, specials.pad, specials.end, specials.unknown, specials.mask)
    )
    if copy.post_processor is None:
        copy.post_processor = TemplateProcessing(
            single=f"{start} $A {end}",
            pair=f"{start} $A {end} {end} $B {end}",
            special_tokens=[(start, specials.start), (end, specials.end)],
        )
        (folder / TOKENIZER).write_text(copy.to_str(pretty=True), encoding="utf-8", newline="\n")
    else:
        shutil.copy(tokenizer, folder / TOKENIZER)
    config = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "bos_token": start,
        "cls_token": start,
        "eos_token": end,
        "sep_token": end,
        "pad_token": pad,
        "unk_token": unknown,
        "mask_token": mask,
        "model_max_length": length,
        "clean_up_tokenization_spaces": False,
    }
    text = json.dumps(config, indent=2, ensure_ascii=False)
    (folder / TOKENIZER_CONFIG).write_text(text + "\n", encoding="utf-8", newline="\n")


def check_own_types(folder: Path, rows: int, pad: int | None) -> None:
    """Refuse a model with a tokenizer that is not its own: one with more types than its table of `rows` rows has, or
    with padding in another place than the model's, `pad`."""
    types, path = _types(folder), folder / TOKENIZER
    if not types:
        raise BadInput("has no types", path)
    if (last := max(types.values())) >= rows:
        raise BadInput(f"has types up to id {last:,}, and the model beside it a table of {rows:,} rows", path)
    if pad not in (pads := [types[name] for name in ROLES["pad"] if name in types]):
        raise BadInput(f"padding is id {', '.join(map(str, pads)) or 'none'}, and the model beside it has {pad}", path)


def check_same_types(folder: Path, ours: Path) -> None:
    """Refuse a model whose ids mean other types than those of our vocabulary's tokenizer."""
    theirs = folder / TOKENIZER
    if theirs.is_file() and sha256(theirs) == sha256(ours):
        return
    if _types(folder) != Tokenizer.from_file(str(ours)).get_vocab(with_added_tokens=True):
        raise BadInput(f"expected the vocabulary of {ours}, so that an id is the same type to both", theirs)


def _types(folder: Path) -> dict[str, int]:
    """The types of a folder's tokenizer: a model's class may add some of its own to those of the file."""
    try:
        return dict(Tokenizer.from_file(str(folder / TOKENIZER)).get_vocab(with_added_tokens=True))
    except Exception:  # tokenizers raises bare Exception; transformers may read other files
        return dict(load_tokenizer(folder).get_vocab())


def derived_tokenizer(tokenizer: Mapping[str, Any], table: np.ndarray, letters: Letters) -> dict[str, Any]:
    """The state of a tokenizer of a derived language, made from that of the vocabulary, as tokenizer.json holds it. It
    gives the language's ids (`table`, (V,)) of text in the language's `letters`, and prints them as that text. Only
    text with a letter that others become, and that itself becomes no other, is not printed as it was."""
    state = deepcopy(dict(tokenizer))
    model, added = state["model"], state["added_tokens"]
    if isinstance(model["vocab"], dict):  # BPE, WordPiece, whole words
        model["vocab"] = {piece: int(table[i]) for piece, i in model["vocab"].items()}
    else:  # Unigram, whose ids are places in a list
        rows = [[f"{_NEVER}{i}", -1e4] for i in range(int(table.max()) + 1)]
        for i, entry in enumerate(model["vocab"]):
            rows[int(table[i])] = entry
        model["vocab"] = rows
    for token in added:
        token["id"] = int(table[token["id"]])
        token["normalized"] = token["normalized"] and not token["special"]  # found before letters are exchanged
    if letters:
        names = dict(enumerate((token["content"] for token in added if token["special"]), start=_KEPT))
        escaped = {i: "".join(a if a.isalnum() else f"\\{a}" for a in name) for i, name in names.items()}
        normalizers = [*_exchange({spelt: letter for letter, spelt in letters.items()}), state["normalizer"]]
        decoders = [
            *(_replace({"Regex": f"^{escaped[i]}$"}, chr(i)) for i in names),
            state["decoder"] or {"type": "WordPiece", "prefix": _NEVER, "cleanup": False},
            {"type": "Fuse"},
            *_exchange(letters),
            *(_replace({"String": chr(i)}, name) for i, name in names.items()),
        ]
        state["normalizer"] = {"type": "Sequence", "normalizers": [part for part in normalizers if part]}
        state["decoder"] = {"type": "Sequence", "decoders": decoders}
    return state


def _exchange(letters: Mapping[str, str]) -> list[dict[str, Any]]:
    """Replacements, one after the other, that exchange letters: each before what would make it anew."""
    waiting, turns = dict(letters), []
    while waiting:
        last = next((letter for letter, spelt in waiting.items() if spelt not in waiting), None)
        if last is None:  # only circles are left: one is opened
            first, spelt = next(iter(waiting.items()))
            turns.append(_replace({"String": first}, _SPARE))
            del waiting[first]
            waiting[_SPARE] = spelt
        else:
            turns.append(_replace({"String": last}, waiting.pop(last)))
    return turns


def _replace(pattern: dict[str, str], content: str) -> dict[str, Any]:
    return {"type": "Replace", "pattern": pattern, "content": content}

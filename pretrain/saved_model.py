"""Models and tokenizers as saved by transformers: the only file that loads them, and writes tokenizers.

No code of a folder is run (trust_remote_code), nothing is unpickled (weights are safetensors only), nothing is
downloaded, and there are no prompts. Any model type of transformers can be read.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from copy import deepcopy
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from safetensors import SafetensorError, safe_open
from tokenizers import Tokenizer
from tokenizers.processors import TemplateProcessing

from calque.derive import strict_json
from calque.derive.artefact import check_part
from calque.derive.errors import BadInput
from calque.derive.files import write_json
from calque.derive.fingerprint import sha256
from calque.derive.languages import Languages
from calque.derive.script import Letters
from calque.derive.types import Specials
from calque.derive.vocabulary import ROLES, TOKENIZER, TOKENIZER_CONFIG, role_names
from calque.pretrain.lazy import torch

if TYPE_CHECKING:  # transformers loads its models, for seconds, where a name is looked up
    from transformers import PreTrainedConfig, PreTrainedModel

CONFIG, WEIGHTS = "config.json", "model.safetensors"
ALIGNER_LAYER, ALIGNER_LABELS = "aligner_layer", "aligner_labels"
"""In the configuration of a model from aligner training: the layer to align with, and the kind of labels."""
TOKENIZERS = "tokenizers"
RUN = "run"  # the kind of a run's artefact
INDEX = f"{WEIGHTS}.index.json"  # the file of each tensor, if there are several files
MOST = 10_000  # maximum number of layers or labels: transformers allocates an object for each before it reads weights
ADAPTERS = ("adapter_config.json", "adapter_model.safetensors", "adapter_model.bin")
FLOATS = frozenset({"F64", "F32", "F16", "BF16"})
DECODERS = {
    "is_decoder": "a left-to-right model",
    "is_encoder_decoder": "a model with a decoder",
    "add_cross_attention": "a model that reads another model's states",
}
"""Settings of models that are not bidirectional encoders."""
COUNT_FROM_PADDING = frozenset(
    "camembert data2vec-text ibert longformer luke mpnet roberta roberta-prelayernorm xlm-roberta xlm-roberta-xl "
    "xmod".split()
)  # RoBERTa and its descendants, whose positions start after padding's id
_COUNT = re.compile(r"(?:^|_)(?:layers?|labels)$")
_OTHER_WEIGHTS = (".bin", ".pt", ".pth", ".ckpt", ".h5", ".msgpack")
_TABLE = "word_embeddings.weight"
_LAYER = re.compile(r"\blayers?\.\d+\.")
_SPARE, _NEVER, _KEPT = "\U0010fffd", "\U0010fffc", 0x100000
"""Private characters that no text has: a temporary letter, a mark of unused pieces, and stand-ins for special types."""
_SAFELY = {"local_files_only": True, "trust_remote_code": False}


def read_config(folder: Path) -> PreTrainedConfig:
    """The configuration of a folder's model."""
    path = folder / CONFIG
    if not path.is_file():
        raise BadInput(f"no model here: expected a folder with {CONFIG}, {WEIGHTS} and a tokenizer", folder)

    def check(part: dict[str, Any]) -> None:
        for name, value in part.items():
            if type(value) is int and value > MOST and _COUNT.search(name):
                raise BadInput(f"{name} is {value:,}; expected at most {MOST:,}", path)

    with suppress(OSError, ValueError, RecursionError):  # transformers reports the fault
        json.loads(path.read_text(encoding="utf-8"), object_hook=check)
    from transformers import AutoConfig

    config = _loaded(folder, "model", lambda: AutoConfig.from_pretrained(folder, **_SAFELY))
    for name, kind in DECODERS.items():
        if getattr(config, name, False):
            raise BadInput(f"{name} is set: {kind}; expected a bidirectional encoder", path)
    if config.model_type in COUNT_FROM_PADDING and config.pad_token_id is None:
        raise BadInput("pad_token_id is null; expected padding's id, after which positions start", path)
    if other := getattr(config, "transformers_weights", None):
        raise BadInput(f"transformers_weights is {other!r}; expected weights in {WEIGHTS}", path)
    config.return_dict, config.chunk_size_feed_forward = True, 0  # another form of the same outputs
    return config


def weight_files(folder: Path) -> tuple[Path, ...]:
    """The files of a model's weights: one in safetensors, or the files in an index, sorted. Refuses an adapter, which
    changes them."""
    if adapters := [folder / name for name in ADAPTERS if (folder / name).exists()]:
        raise BadInput(f"an adapter next to {CONFIG}: merge it into {WEIGHTS}, or remove it", adapters[0])
    if (whole := folder / WEIGHTS).is_file():
        return (whole,)
    if not (index := folder / INDEX).is_file():
        if others := sorted(path for path in folder.glob("*") if path.suffix in _OTHER_WEIGHTS):
            raise BadInput(f"not opened: expected {WEIGHTS}, the safe format of transformers", others[0])
        raise BadInput(f"no weights: expected {WEIGHTS}", folder)
    try:
        places = strict_json.loads(index.read_text(encoding="utf-8"))["weight_map"]
        names = sorted(set(map(str, places.values())))
    except (OSError, ValueError, TypeError, LookupError, AttributeError) as error:
        raise BadInput(f"damaged, expected the file of each tensor: {error}", index) from None
    for name in names:
        if Path(name).name != name or not (folder / name).is_file():
            raise BadInput(f"lists the file {name!r}, which is not in its folder", index)
    if not names:
        raise BadInput("lists no file", index)
    return tuple(folder / name for name in names)


def weights_digest(folder: Path) -> str:
    """The sha256 of a checkpoint's weights; for several files, of their names and digests."""
    files = weight_files(folder)
    if len(files) == 1:
        return sha256(files[0])
    return hashlib.sha256("".join(f"{sha256(path)}  {path.name}\n" for path in files).encode()).hexdigest()


def tensor_files(folder: Path) -> dict[str, Path]:
    """The names of a model's tensors, each with its file; no tensor is read. Refuses quantised weights."""
    files: dict[str, Path] = {}
    for path in weight_files(folder):
        try:
            with safe_open(path, framework="pt") as tensors:
                names = list(tensors.keys())
                kinds = {name: tensors.get_slice(name).get_dtype() for name in names}
        except (OSError, SafetensorError) as error:
            raise BadInput(f"cannot load weights: {error}", path) from None
        for name, kind in kinds.items():
            if kind not in FLOATS and name.endswith((".weight", ".bias")):
                raise BadInput(f"{name} is {kind}; expected weights of 16 bits or more, not quantised", path)
        files |= dict.fromkeys(kinds, path)
    return files


def read_tensor(path: Path, name: str) -> torch.Tensor:
    """A tensor of a file of weights."""
    with safe_open(path, framework="pt") as tensors:
        return tensors.get_tensor(name)


def load_model(folder: Path, kind: Any = None, **options: Any) -> tuple[PreTrainedModel, list[str]]:
    """The model of a folder on the CPU in float32, and the names of the weights that the folder lacks, sorted.

    `kind` is the class of transformers, or the Auto class, whose `from_pretrained` loads it with `options`; by default
    AutoModel. BadInput if there is no model, it needs code of its own, its weights are not in safetensors or do not fit
    its config, or a byte of a run's checkpoint or manifest has changed; MemoryError if it does not fit into memory."""
    from transformers import AutoModel

    check_part(folder, RUN)  # safetensors have no checksum
    kind = kind or AutoModel
    config, files = read_config(folder), tensor_files(folder)
    layers = getattr(config, "num_hidden_layers", 0)
    if isinstance(layers, int) and layers > len(files):
        raise BadInput(f"{layers:,} layers, but only {len(files):,} tensors in the weights", folder / CONFIG)
    options = (
        {"config": config} | options | {"use_safetensors": True, "output_loading_info": True, "dtype": torch.float32}
    )
    options |= {"ignore_mismatched_sizes": True}  # refused below, by name
    # Classes of transformers run no code of the folder and lack the option that forbids it.
    options |= _SAFELY if kind.__name__.startswith("Auto") else {"local_files_only": True}
    model, report = _loaded(folder, "model", lambda: kind.from_pretrained(folder, **options))
    for name, saved, wanted in sorted(report["mismatched_keys"]):
        path = next((path for other, path in files.items() if other.endswith(name) or name.endswith(other)), folder)
        raise BadInput(f"{name} is {tuple(saved)}, but {tuple(wanted)} in {CONFIG}", path)
    if extra := sorted(name for name in report["unexpected_keys"] if _LAYER.search(name)):
        raise BadInput(f"the model of {CONFIG} has no layer for the weights {extra[0]}", folder)
    missing = sorted(report["missing_keys"])
    if getattr(config, "tie_word_embeddings", False) and _set_table(model, missing, files):
        missing = [name for name in missing if not name.endswith(_TABLE)]
    if lacking := [name for name in missing if _LAYER.search(name) or "embeddings." in name]:
        raise BadInput(f"{len(lacking):,} weights are missing, such as {lacking[0]}", folder)
    return model, missing


def _set_table(model: Any, missing: Sequence[str], files: Mapping[str, Path]) -> bool:
    """Set a table of words that the weights have as the head's only, which AutoModel does not read; whether it did."""
    table = next((name for name in missing if name.endswith(_TABLE)), None)
    decoder = next((name for name in files if name.endswith(".decoder.weight")), None)
    if table and decoder:
        model.get_input_embeddings().weight.data.copy_(read_tensor(files[decoder], decoder))
    return bool(table and decoder)


def load_tokenizer(folder: Path) -> Any:
    """The tokenizer of a folder."""
    from transformers import AutoTokenizer

    return _loaded(folder, "tokenizer", lambda: AutoTokenizer.from_pretrained(folder, **_SAFELY))


def _loaded(place: Path, what: str, load: Callable[[], Any]) -> Any:
    """The result of `load`, without transformers' own messages; errors become BadInput about `place`."""
    from transformers.utils import logging

    level = logging.get_verbosity()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        return load()
    except Exception as error:  # a dozen types, depending on the damage
        message = " ".join(str(error).split()) or type(error).__name__
        if isinstance(error, MemoryError | torch.OutOfMemoryError) or "allocate memory" in message:
            raise MemoryError(f"{place}: {message[:200]}") from None
        raise BadInput(f"cannot load the {what}: {message[:300]}", place) from None
    finally:
        logging.set_verbosity(level)


def write_tokenizers(languages: Languages, folder: Path, length: int) -> None:
    """Write the source's tokenizer to a checkpoint's folder, and each other language's below `tokenizers/`, which reads
    and prints the language's spelling. A language whose spelling is more than an exchange of letters has none."""
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
            write_json(own / TOKENIZER, derived_tokenizer(state, table, letters))


def write_tokenizer(tokenizer: Path, folder: Path, specials: Specials, length: int) -> None:
    """Copy a vocabulary's tokenizer, and write its class and special types for transformers, which would otherwise load
    RoBERTa's own tokenizer, with another segmentation. A tokenizer without a template gets one, because the model's
    rows start and end with special types. `length` is the maximum number of ids in a row of the model."""
    copy = Tokenizer.from_str(tokenizer.read_text(encoding="utf-8"))  # errors of `from_file` do not name the file
    start, pad, end, unknown, mask, *_ = map(copy.id_to_token, specials.ids)
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
    write_json(folder / TOKENIZER_CONFIG, config)


def check_own_types(folder: Path, rows: int, pad: int | None) -> None:
    """Refuse a model with another model's tokenizer: with more types than its table's `rows`, or another padding than
    `pad`."""
    types, path = _types(folder), folder / TOKENIZER
    if not types:
        raise BadInput("has no types", path)
    if (last := max(types.values())) >= rows:
        raise BadInput(f"has types up to id {last:,}, but the model next to it has a table of {rows:,} rows", path)
    name = role_names(folder).get("pad")
    names = [name] if name in types else [name for name in ROLES["pad"] if name in types]
    if pad not in (pads := [types[name] for name in names]):
        raise BadInput(f"padding is id {', '.join(map(str, pads)) or 'none'}, but {pad} in the model next to it", path)


def check_same_types(folder: Path, ours: Path) -> None:
    """Refuse a model whose ids are other types than our vocabulary's."""
    theirs = folder / TOKENIZER
    if theirs.is_file() and sha256(theirs) == sha256(ours):
        return
    if _types(folder) != Tokenizer.from_file(str(ours)).get_vocab(with_added_tokens=True):
        raise BadInput(f"expected the vocabulary of {ours}, so that ids are the same types", theirs)


def _types(folder: Path) -> dict[str, int]:
    """The types of a folder's tokenizer, including types that its class adds."""
    try:
        return dict(Tokenizer.from_file(str(folder / TOKENIZER)).get_vocab(with_added_tokens=True))
    except Exception:  # tokenizers raises bare Exception; transformers may read other files
        return dict(load_tokenizer(folder).get_vocab())


def derived_tokenizer(tokenizer: Mapping[str, Any], table: np.ndarray, letters: Letters) -> dict[str, Any]:
    """`tokenizer.json` for a derived language, from the vocabulary's. It encodes text in the language's `letters` as
    its ids (`table`, (V,)) and decodes them to the same text, unless a letter in it is an image but has none."""
    state = deepcopy(dict(tokenizer))
    model, added = state["model"], state["added_tokens"]
    if isinstance(model["vocab"], dict):  # BPE, WordPiece, whole words
        model["vocab"] = {piece: int(table[i]) for piece, i in model["vocab"].items()}
    else:  # Unigram, whose ids are list indices
        rows = [[f"{_NEVER}{i}", -1e4] for i in range(int(table.max()) + 1)]
        for i, entry in enumerate(model["vocab"]):
            rows[int(table[i])] = entry
        model["vocab"] = rows
    for token in added:
        token["id"] = int(table[token["id"]])
        token["normalized"] = token["normalized"] and not token["special"]  # matched before letters are exchanged
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
    """Sequential replacements that exchange letters: a letter is replaced before others become it."""
    waiting, turns = dict(letters), []
    while waiting:
        last = next((letter for letter, spelt in waiting.items() if spelt not in waiting), None)
        if last is None:  # only cycles are left: break one
            first, spelt = next(iter(waiting.items()))
            turns.append(_replace({"String": first}, _SPARE))
            del waiting[first]
            waiting[_SPARE] = spelt
        else:
            turns.append(_replace({"String": last}, waiting.pop(last)))
    return turns


def _replace(pattern: dict[str, str], content: str) -> dict[str, Any]:
    return {"type": "Replace", "pattern": pattern, "content": content}

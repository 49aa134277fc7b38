"""A process that has imported the libraries and forks once a request, so that torch is not loaded anew for each mutant.

It imports nothing of the project: a forked process reads the project's files as they are at that moment.
"""

import importlib
import json
import os
import resource
import signal
import sys
import time
import warnings

LIBRARIES = (
    "pytest",
    "numpy",
    "scipy.stats",
    "scipy.optimize",
    "torch",
    "torch.distributed",
    "tokenizers",
    "safetensors.torch",
    "transformers.models.bert.modeling_bert",
    "transformers.models.roberta.modeling_roberta",
    "transformers.models.xlm_roberta.modeling_xlm_roberta",
    "matplotlib.pyplot",
    "typer.testing",
)
"""What tests import, as far as it is slow to import."""
TIMEOUT = 124
LONGEST = 1_800
"""Seconds by the clock after which tests have stopped for good."""


def main() -> None:
    """Load the libraries that the arguments name; answer each line of standard input with pytest's code and time."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in sys.argv[1:]:
            importlib.import_module(name)
    for line in sys.stdin:
        before = _used()
        code = _forked(**json.loads(line))
        print(json.dumps([code, _used() - before]), file=answers, flush=True)


def _used() -> float:
    """Seconds of a processor that ended processes have taken."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _forked(arguments: list[str], seconds: int, log: str) -> int:
    """The code that pytest ends with, `TIMEOUT` after so many of a processor's seconds; it writes to the file `log`."""
    parent, child = os.getppid(), os.fork()
    if not child:
        _run(arguments, seconds, log)
    end = time.monotonic() + LONGEST
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done or time.monotonic() > end or os.getppid() != parent:
            break
        time.sleep(0.02)  # who asked may be killed meanwhile: then nobody waits for an answer
    _kill(child)  # with whatever processes it has left behind
    if not done:
        os.waitpid(child, 0)
        return TIMEOUT
    code = os.waitstatus_to_exitcode(status)
    return TIMEOUT if code == -signal.SIGXCPU else code


def _run(arguments: list[str], seconds: int, log: str) -> None:
    code = 70
    try:
        os.setsid()
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))  # a busy machine is no reason to give up
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        file = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(file, 1)
        os.dup2(file, 2)
        code = int(importlib.import_module("pytest").main(arguments))
    finally:
        os._exit(code)


def _kill(group: int) -> None:
    try:
        os.killpg(group, signal.SIGKILL)
    except ProcessLookupError:
        return


if __name__ == "__main__":
    main()

"""Worlds of forked processes: importing torch takes seconds, so one process imports it and forks the others.
It computes no gradient itself, since autograd's threads would not survive the fork."""

import os
import sys

import torch

from calque.pretrain.distributed import PATIENCE, join, leave
from tests.processes import free_port


def begin(size, work, patience=PATIENCE):
    """Let `size` processes join a world and work in it; return their process ids by rank. They exit with 0,
    or with 1 after an error, such as a lost process, that they print."""
    port = str(free_port())
    children = []
    for rank in range(size):
        child = os.fork()
        if child:
            children.append(child)
            continue
        os.environ |= {"RANK": str(rank), "WORLD_SIZE": str(size)}
        os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
        try:
            torch.set_num_threads(1)
            work(join(patience))
            leave()
        except BaseException as error:
            print(f"rank {rank}: {type(error).__name__}: {error}", file=sys.stderr, flush=True)
            leave()
            os._exit(1)
        os._exit(0)
    return children


def through(size, work):
    return [end_of(child) for child in begin(size, work)]


def end_of(child):
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

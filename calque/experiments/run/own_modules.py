"""Import users' study files."""

import dataclasses
import inspect
from importlib import import_module
from types import ModuleType
from typing import Any

from calque.analysis.tasks.catalogue import PRIMARY, PRINTED, TASKS
from calque.analysis.tasks.task import Task
from calque.derive.errors import BadInput
from calque.derive.fingerprint import PACKAGE, modules_of
from calque.derive.transform import Transform
from calque.derive.transforms import TRANSFORMS
from calque.pretrain.objective import Objective
from calque.pretrain.objectives import OBJECTIVES

own_modules: list[str] = []  # study files that this process has imported; its workers import them too


def import_own(name: str) -> ModuleType:
    """Import a study file, and register the transforms, objectives and tasks defined in it or in modules that
    it imports from its folder. Raises BadInput if a task has the same name as one of Calque's tasks."""
    module = import_module(name)
    modules = modules_of(name)  # also records the digest of the imported code
    for kind in [
        part for own_module in modules for part in vars(own_module).values() if isinstance(part, type)
    ]:
        if kind.__module__.split(".")[0] == PACKAGE or inspect.isabstract(kind) or not _has_defaults(kind):
            continue
        if issubclass(kind, Transform):
            _list(TRANSFORMS, kind)
        elif issubclass(kind, Objective) and kind.short_name:
            _list(OBJECTIVES, kind)
        elif issubclass(kind, Task):
            task = kind()
            if task.name in TASKS and type(TASKS[task.name]).__module__.split(".")[0] == PACKAGE:
                fault = f"Calque already has a task named {task.name}"
                raise BadInput(f"{kind.__name__}: {fault}; choose another name")
            TASKS[task.name], PRIMARY[task.name] = task, task.primary
            PRINTED[task.name] = task.printed or task.primary
    return module


def _has_defaults(kind: type) -> bool:
    fields = dataclasses.fields(kind) if dataclasses.is_dataclass(kind) else ()
    return all(f.default is not f.default_factory for f in fields)  # both are MISSING for a required field


def _list(kinds: list[Any], kind: type) -> None:
    """Append a class to a list, after removing any version of it from before the file was edited."""
    qualified_name = (kind.__module__, kind.__qualname__)
    kinds[:] = [*(other for other in kinds if (other.__module__, other.__qualname__) != qualified_name), kind]

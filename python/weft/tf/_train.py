"""`tf.train`: checkpoints under prefixes, as TensorFlow numbers them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, TypeAlias

import weft as wf
from weft import _weft
from weft._arguments import NeedsInit, options
from weft._restores import wait

__all__ = ["Checkpoint", "CheckpointManager", "latest_checkpoint"]

Path: TypeAlias = "str | os.PathLike[str]"

_STATE = "checkpoint"  # the file that says which checkpoint of a folder is the latest


class Checkpoint(NeedsInit):
    """Parts under names, as a file: every variable by its path, each once, with the state of
    optimizers and data sets.

        checkpoint = tf.train.Checkpoint(model=model, optimizer=optimizer)
        checkpoint.restore(checkpoint.save("./ckpt/run"))  # ./ckpt/run-1

    Files are safetensors with digests, as those of `wf.Checkpoint`, which does the work.
    """

    _made_by_init = ("save_counter",)

    def __init__(self, root: Any = None, **kwargs: Any) -> None:
        parts: dict[str, Any] = {} if root is None else {**vars(root)}
        parts.update(kwargs)
        self.save_counter = wf.Variable(0, False, "save_counter", "int64")
        for name, part in parts.items():
            setattr(self, name, part)
        self._given = frozenset(parts)
        _bind_optimizers(_parts_of(self))

    def save(self, file_prefix: Path, options: Any = None) -> str:
        """Writes the file `<prefix>-<number>`, numbered from 1, and gives its path."""
        prefix = os.fspath(file_prefix)
        self.save_counter.assign_add(1)
        path = f"{prefix}-{int(self.save_counter.numpy())}"
        try:
            self.write(path)
        except BaseException:
            self.save_counter.assign_sub(1)
            raise
        _set_latest(path)
        return path

    def write(self, file_prefix: Path, options: Any = None) -> str:
        """Writes a file of that name, and gives its path."""
        path = os.fspath(file_prefix)
        folder = os.path.dirname(path)
        if folder:
            os.makedirs(folder, exist_ok=True)
        self._saved().write(path)
        return path

    def restore(self, save_path: Any, options: Any = None) -> Any:
        """Gives everything that is here and in the file its value from there, later what is made
        later. The status that it gives asserts how much that was. With None nothing is restored."""
        if save_path is not None:
            path: Path = save_path
            self._bind_as_in(os.fspath(path))
        saved = _weft.internal_SavedParts(tuple(self._parts_now().items()))
        status = saved.restore(save_path)
        if save_path is not None:
            wait(status, self, self._parts_now(), grows=True)
        return status

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        _weft.internal_restore_attached()

    def read(self, save_path: Any, options: Any = None) -> Any:
        """As `restore`."""
        return self.restore(save_path)

    def _saved(self) -> wf.Checkpoint:
        """The parts that have something to save: not optimizers of which nobody knows yet whose they
        are."""
        return wf.Checkpoint(**self._parts_now())

    def _parts_now(self) -> dict[str, Any]:
        parts = _parts_of(self)
        _bind_optimizers(parts)
        made = {name: _made_of(part) for name, part in parts.items()}
        return {name: part for name, part in made.items() if part is not None}

    def _bind_as_in(self, path: str) -> None:
        """Makes optimizers that are nobody's yet those of the models of which the file has their
        state."""
        from ._keras import Deferred

        waiting = {
            name: part
            for name, part in _parts_of(self).items()
            if isinstance(part, Deferred) and part.candidates is not None and _made_of(part) is None
        }
        if not waiting:
            return
        # "optimizer.slots.m.model.0.kernel"; what is there twice is saved once, and noted.
        notes = wf.io.safetensors_metadata(path)
        saved = [
            *wf.io.safetensors_names(path),
            *notes.values(),
            *(key.removeprefix("weft.alias.") for key in notes),
        ]
        for name, part in waiting.items():
            if len(part.candidates) == 1:
                continue  # has no variables yet
            start = f"{name}.slots."
            inside = [key.removeprefix(start).split(".") for key in saved if key.startswith(start)]
            found = {path[1] for path in inside if len(path) > 1}
            models = {key: m for key, m in part.candidates.items() if key in found}
            if models:
                part.made_for(models)


def _parts_of(checkpoint: Checkpoint) -> dict[str, Any]:
    """What a checkpoint holds now. Attributes may be added later; numbers, texts and None among these are
    notes of the program."""
    found = vars(checkpoint)
    given = found["_given"]
    return {
        name: part
        for name, part in found.items()
        if name in given
        or not (name.startswith("_") or part is None or isinstance(part, str | bytes | int | float))
    }


def _made_of(part: Any) -> Any:
    from ._keras import Deferred

    if isinstance(part, Checkpoint):
        inner = {name: _made_of(each) for name, each in _parts_of(part).items()}
        return {name: each for name, each in inner.items() if each is not None}
    return part.part_of_checkpoint() if isinstance(part, Deferred) else part


def _bind_optimizers(parts: dict[str, Any]) -> None:
    """Has optimizers without variables work for the model beside them, so that what is saved of
    them waits for variables that are made later; of several models the first update says which."""
    from ._keras import Deferred

    networks: Any = wf.nn
    kinds = (wf.Module, networks.Layer)
    models = {name: part for name, part in parts.items() if isinstance(part, kinds)}
    for part in parts.values():
        if not isinstance(part, Deferred) or not models:
            continue
        if len(models) == 1 and _weft.internal_may_train(next(iter(models.values()))):
            part.made_for(next(iter(models.values())))
        else:
            part.candidates = models


def _set_latest(path: str) -> None:
    folder, name = os.path.split(path)
    state = os.path.join(folder, _STATE)
    with open(state + ".tmp", "w", encoding="utf-8") as file:
        file.write(f'model_checkpoint_path: "{name}"\n')
    os.replace(state + ".tmp", state)


@options
def latest_checkpoint(checkpoint_dir: Path, latest_filename: str | None = None) -> str | None:
    """The path of the checkpoint that was saved last in a folder, or None."""
    folder = os.fspath(checkpoint_dir)
    try:
        with open(os.path.join(folder, latest_filename or _STATE), encoding="utf-8") as file:
            line = file.readline()
    except OSError:
        return wf.latest_checkpoint(folder)
    path = os.path.join(folder, line.partition('"')[2].rpartition('"')[0])
    return path if os.path.isfile(path) else None


class CheckpointManager(NeedsInit):
    """Saves a checkpoint again and again, and keeps the newest files."""

    _made_by_init = ("checkpoint", "directory", "_most", "_name", "_paths")

    @options
    def __init__(
        self,
        checkpoint: Checkpoint,
        directory: Path,
        max_to_keep: int | None,
        checkpoint_name: str = "ckpt",
    ) -> None:
        if max_to_keep is not None and max_to_keep < 1:
            raise _weft.ValueError(f"CheckpointManager: max_to_keep is {max_to_keep}: 1 at least")
        self.checkpoint, self.directory = checkpoint, os.fspath(directory)
        self._most, self._name = max_to_keep, checkpoint_name
        self._paths = _numbered(self.directory, checkpoint_name)

    @property
    def checkpoints(self) -> Sequence[str]:
        """The files that are there, the oldest first."""
        return list(self._paths)

    @property
    def latest_checkpoint(self) -> str | None:
        """The newest file, or None."""
        return self._paths[-1] if self._paths else None

    def save(self, checkpoint_number: int | None = None) -> str:
        """Writes the next file, removes those that are not to be kept, and gives its path."""
        if checkpoint_number is not None:
            self.checkpoint.save_counter.assign(checkpoint_number - 1)
        path = self.checkpoint.save(os.path.join(self.directory, self._name))
        self._paths = [each for each in self._paths if each != path] + [path]
        while self._most is not None and len(self._paths) > self._most:
            os.remove(self._paths.pop(0))
        return path

    def restore_or_initialize(self) -> str | None:
        """Restores the newest file, if there is one, and gives its path."""
        if self.latest_checkpoint is not None:
            self.checkpoint.restore(self.latest_checkpoint)
        return self.latest_checkpoint


def _numbered(folder: str, name: str) -> list[str]:
    """The files of a manager, by their numbers."""
    try:
        found = os.listdir(folder)
    except OSError:
        return []
    ends = [each.removeprefix(name + "-") for each in found if each.startswith(name + "-")]
    numbers = sorted(int(end) for end in ends if end.isdigit())
    return [os.path.join(folder, f"{name}-{n}") for n in numbers]

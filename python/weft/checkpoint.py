"""Checkpoints: saving and restoring models, optimizers, data sets and whole runs."""

from __future__ import annotations

import os
from typing import Any, NamedTuple, TypeAlias

from weft import _weft
from weft._arguments import NeedsInit, integer, optional_integer, optional_number, options
from weft._restores import wait
from weft._tracebacks import users_lines
from weft._weft import RestoreStatus

__all__ = ["Checkpoint", "CheckpointInfo", "CheckpointManager", "latest_checkpoint"]

Path: TypeAlias = "str | os.PathLike[str]"


class Checkpoint(NeedsInit):
    """A structure, or several parts under names, as a file: every variable by its path
    ("model.blocks.1.w"), each once, the state of optimizers, data sets and generators.

        checkpoint = wf.Checkpoint(model=model, optimizer=adam, data=digits, run=run)
        path = checkpoint.save("run1")
        checkpoint.restore(wf.latest_checkpoint("run1"))

    Numbers and texts are saved where a restore has somewhere to put them: those that are entries of
    a dict or fields of a dataclass that is a part, as in `run = {"epoch": 0}`, and of the one
    structure of a checkpoint also the attributes of a Module. Those deeper in are what a model is
    made with, and stay as the program says.

    Files are in the safetensors format, with digests. They appear as a whole or not at all.

    >>> w = wf.Variable([1.0, 2.0])
    >>> path = wf.Checkpoint(w=w).save("run1")
    >>> w = wf.Variable([0.0, 0.0])
    >>> status = wf.Checkpoint(w=w).restore(path)
    >>> w.numpy()
    array([1., 2.], dtype=float32)
    """

    _made_by_init = ("_parts",)

    @users_lines
    def __init__(self, structure: Any = None, /, **parts: Any) -> None:
        if structure is not None and parts:
            raise TypeError(
                "Checkpoint takes one structure, or parts by name: give the structure a name too"
            )
        if structure is None and not parts:
            raise TypeError("Checkpoint: there is nothing to save: Checkpoint(model=model)")
        self._parts: tuple[tuple[str, Any], ...]
        self._parts = tuple(parts.items()) if parts else (("", structure),)

    def _saved(self) -> _weft.internal_SavedParts:
        return _weft.internal_SavedParts(self._parts)

    @users_lines
    def save(self, folder: Path) -> str:
        """Writes the next numbered file of a folder, which is made if it is not there, and gives
        its path: "run1/ckpt-1.safetensors".

        Raises:
            IOError: if it cannot be written
            DTypeError: for a part that is a number or has nothing to save
            ValueError: if two parts have one path
            StateError: inside of a traced function
        """
        return self._saved().save(os.fsdecode(folder))

    @users_lines
    def write(self, path: Path) -> None:
        """Writes a file of that name."""
        self._saved().write(os.fsdecode(path))

    @users_lines
    def restore(self, path: Path | None) -> RestoreStatus:
        """Gives everything that is here and in the file its value from there; the rest stays as it
        is. Values of layers without variables yet wait for their first call, and those of which
        nothing has the path for what is attached to a Module, a list or a dict of the parts later:
        that is given its value when it is attached, or first used. With None nothing is restored,
        and the status says so if it is asked.

        Raises:
            IOError: before anything is changed, if the file is not whole or has another dtype,
                shape or kind for something; it lists all of it
        """
        status = self._saved().restore(None if path is None else os.fsdecode(path))
        if path is not None:
            wait(status, self, self._parts_now())
        return status

    def _parts_now(self) -> dict[str, Any]:
        return dict(self._parts)


@options
def latest_checkpoint(folder: Path) -> str | None:
    """The numbered file of the highest number in a folder whose header is whole; None if there is
    none, or no folder.

    >>> wf.latest_checkpoint("no such folder") is None
    True
    >>> path = wf.Checkpoint(w=wf.Variable(1.0)).save("run1")
    >>> wf.latest_checkpoint("run1") == path
    True
    """
    return _weft.internal_latest_checkpoint(os.fsdecode(folder))


class CheckpointInfo(NamedTuple):
    """What is known of a checkpoint without restoring it.

    >>> manager = wf.CheckpointManager("run1")
    >>> manager.save(wf.Checkpoint(w=wf.Variable(1.0)), metric=0.5, step=10)
    >>> manager.wait()
    >>> [(info.number, info.metric, info.step) for info in manager.checkpoints()]
    [(1, 0.5, 10)]
    """

    path: str
    number: int
    metric: float | None
    step: int | None
    time: float
    """When it was saved, in seconds since 1970."""


def _info(found: Any) -> CheckpointInfo | None:
    return None if found is None else CheckpointInfo(*found)


def _restored(what: Any, result: tuple[Any, Any]) -> CheckpointInfo | None:
    """What a manager restored; the values that are left of a partial restore wait."""
    found, status = result
    if status is not None:
        wait(status, what, what._parts_now())
    return _info(found)


def _checkpoint_of(what: Any) -> Any:
    """The checkpoint of a structure, or one itself."""
    return what if isinstance(what, Checkpoint) else Checkpoint(what)


def _saved(what: Any) -> _weft.internal_SavedParts:
    return _checkpoint_of(what)._saved()


class CheckpointManager(NeedsInit):
    """Numbered checkpoints in a folder: saves them while training goes on, keeps some, and restores
    the newest that is whole.

        manager = wf.CheckpointManager("run1", keep=3, every_steps=100)
        manager.restore_latest(checkpoint)
        for step in range(1000):
            ...
            manager.save_if_due(checkpoint, step)

    >>> w = wf.Variable(1.0)
    >>> manager = wf.CheckpointManager("run1", keep=2, background=False)
    >>> for step in range(3):
    ...     manager.save(wf.Checkpoint(w=w), step=step)
    >>> [info.step for info in manager.checkpoints()]
    [1, 2]
    >>> manager.restore_latest(wf.Checkpoint(w=w)).step
    2

    Args:
        folder: made when it first saves
        keep: how many of the newest files stay; 0 keeps all
        keep_best: how many of those with the best metric stay besides
        largest_is_best: whether the largest metric is the best
        every_steps, every_seconds: when `save_if_due` saves: whichever is given and comes first
        background: whether files are written by another thread while the program goes on

    Raises:
        ValueError: for options that make no sense
    """

    _made_by_init = ("_manager",)

    @options
    def __init__(
        self,
        folder: Path,
        *,
        keep: int = 5,
        keep_best: int = 0,
        largest_is_best: bool = False,
        every_steps: int | None = None,
        every_seconds: float | None = None,
        background: bool = True,
    ) -> None:
        self._manager = _weft.internal_Manager(
            os.fsdecode(folder),
            integer("CheckpointManager: keep", keep),
            integer("CheckpointManager: keep_best", keep_best),
            bool(largest_is_best),
            optional_integer("CheckpointManager: every_steps", every_steps),
            optional_number("CheckpointManager: every_seconds", every_seconds),
            bool(background),
        )

    @options
    def save(
        self, what: Any, *, metric: float | None = None, step: int | None = None
    ) -> None:
        """Saves the state of a Checkpoint, or of a structure that one may have, at this moment, then
        removes the files that are not to be kept. Returns when the state is taken.

        Raises:
            IOError: if it, or the save before, cannot be written
        """
        value, now = optional_number("save: metric", metric), optional_integer("save: step", step)
        self._manager.save(_saved(what), value, now)

    @options
    def save_if_due(self, what: Any, step: int, *, metric: float | None = None) -> bool:
        """Saves if `every_steps` or `every_seconds` says so; whether it has."""
        value = optional_number("save_if_due: metric", metric)
        now = integer("save_if_due: step", step)
        return self._manager.save_if_due(_saved(what), now, value)

    @users_lines
    def wait(self) -> None:
        """Returns when what is being saved is there. Raises what the save raised."""
        self._manager.wait()

    @options
    def restore_latest(self, what: Any, *, partial: bool = False) -> CheckpointInfo | None:
        """Restores the newest checkpoint; None if there is none. Broken files are passed over, and
        the log warns of them.

        Args:
            partial: lets the file have more than the structure, and the structure more than the
                file

        Raises:
            IOError: before anything is changed, which lists what does not fit, or if all are broken
        """
        # What is attached later is restored as long as the manager is there.
        self._restores = _checkpoint_of(what)
        return _restored(self._restores, self._manager.restore_latest(_saved(self._restores), partial))

    @options
    def restore_best(self, what: Any, *, partial: bool = False) -> CheckpointInfo | None:
        """The same for that with the best metric; None if none has one."""
        self._restores = _checkpoint_of(what)
        return _restored(self._restores, self._manager.restore_best(_saved(self._restores), partial))

    @users_lines
    def checkpoints(self) -> list[CheckpointInfo]:
        """Those that are there and whole, oldest first."""
        return [CheckpointInfo(*found) for found in self._manager.checkpoints()]

    @property
    def folder(self) -> str:
        """Where they are."""
        return self._manager.folder

"""Reports of runs, and profiles: where the time went."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, NamedTuple, Self, TypeAlias

from weft import _weft
from weft._arguments import NeedsInit, options

__all__ = ["Profile", "ProfileEntry", "trace_profile", "versions", "write_report"]

Path: TypeAlias = "str | os.PathLike[str]"


def versions() -> dict[str, str]:
    """What a run's numbers depend on besides its program: Weft's version, the compiler that built
    it, the processor, threads, the system.

    >>> wf.train.versions()["Weft"] == wf.__version__
    True
    """
    return dict(_weft.internal_versions())


@options
def write_report(
    path: Path,
    history: _weft.internal_History,
    *,
    title: str = "Training run",
    configuration: Mapping[str, Any] | None = None,
    model: str = "",
    resources: _weft.internal_History | None = None,
    times: Mapping[str, float] | None = None,
    confusion: Any = None,
    classes: Sequence[str] = (),
    pictures: Sequence[Any] = (),
    pictures_title: str = "Worst samples",
    tables: Mapping[str, Sequence[Sequence[Any]]] | None = None,
    profile: Profile | None = None,
) -> None:
    """Writes one HTML file about a run that needs nothing else: the curves of its history, and what
    else is given.

    >>> history = wf.train.History()
    >>> history.add("loss", 1, 0.5)
    >>> wf.train.write_report("report.html", history, title="One epoch")
    >>> with open("report.html") as file:
    ...     "One epoch" in file.read()
    True

    Args:
        configuration: what the run was made with
        model: text that is shown as it is, such as a summary
        resources: seconds, MiB or what else was measured, by its own step
        times: seconds of the parts of the run
        confusion: how often a label (row) was taken for a class (column)
        classes: their names
        pictures: images, or pairs of an image and a caption
        tables: rows by title, the first of which is the head
        profile: where the time went

    Raises:
        IOError: if it cannot be written
    """
    noted = None if profile is None else profile._profile  # pyright: ignore[reportPrivateUsage]
    options: dict[str, Any] = {
        "title": title,
        "configuration": dict(configuration or {}),
        "model": model,
        "resources": resources,
        "times": dict(times or {}),
        "confusion": confusion,
        "classes": list(classes),
        "pictures": [p if isinstance(p, tuple) else (p, "") for p in pictures],
        "pictures_title": pictures_title,
        "tables": dict(tables or {}),
        "profile": noted,
    }
    _weft.internal_write_report(os.fsdecode(path), history, options)


class ProfileEntry(NamedTuple):
    """All events of one kind, name and line together.

    >>> with wf.train.Profile() as profile:
    ...     x = wf.exp(wf.ones(1000))
    >>> [entry.calls for entry in profile.entries if entry.name == "exp"]
    [1]
    """

    kind: str
    """"op", "code" (inside of a compiled function), "function", "layer", "data", "compile", ..."""
    name: str
    file: str | None
    line: int | None
    calls: int
    """How many events."""
    total_ms: float
    self_ms: float
    """Without what was noted inside."""


class Profile(NeedsInit):
    """Notes what the process does, on all threads, until `stop` or the end of its `with`. There is
    one at a time.

    >>> with wf.train.Profile() as profile:
    ...     x = wf.exp(wf.ones(1000))
    >>> profile.events > 0
    True

    Args:
        path: where events are written, too, as JSON for https://ui.perfetto.dev
        inside_functions: whether calls of compiled functions are seen from inside
        max_events: how many events are written at most

    Raises:
        StateError: if there is one already
    """

    _made_by_init = ("_profile",)

    @options
    def __init__(
        self,
        path: Path | None = None,
        *,
        inside_functions: bool = True,
        max_events: int = 1_000_000,
    ) -> None:
        file = None if path is None else os.fsdecode(path)
        self._profile = _weft.internal_Profile(file, inside_functions, max_events)

    def stop(self) -> None:
        """Ends it.

        Raises:
            IOError: if the file could not be written as a whole
        """
        self._profile.stop()

    @property
    def entries(self) -> list[ProfileEntry]:
        """What has taken time, the largest `self_ms` first."""
        return [ProfileEntry(*fields) for fields in self._profile.entries()]

    @property
    def memory(self) -> list[tuple[float, float]]:
        """Bytes of tensors over time: seconds since the start, and bytes."""
        return self._profile.memory()

    @property
    def seconds(self) -> float:
        """From the start to the end, or to now."""
        return self._profile.seconds()

    @property
    def events(self) -> int:
        """How many events were noted."""
        return self._profile.events()

    def text(self, rows: int = 20) -> str:
        """A table of the first entries."""
        return self._profile.text(rows)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def __repr__(self) -> str:
        return self.text()


@options
def trace_profile(
    path: Path, *, inside_functions: bool = True, max_events: int = 1_000_000
) -> Profile:
    """A `Profile` whose events are written to `path`, which is good at any moment.

    >>> import json
    >>> with wf.train.trace_profile("profile.json"):
    ...     x = wf.exp(wf.ones(1000))
    >>> with open("profile.json") as file:
    ...     len(json.load(file)) > 0
    True
    """
    return Profile(path, inside_functions=inside_functions, max_events=max_events)

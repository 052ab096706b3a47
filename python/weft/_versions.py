"""Versions of Weft and of what it works with here, for reports of faults."""

from __future__ import annotations

import sys

from weft import _train

__all__ = ["show_versions"]


def versions() -> dict[str, str]:
    """Names and versions: of the library, the processor and system that it runs on, Python, and the
    packages that it meets where they are installed."""
    import importlib.metadata
    import os
    import platform

    found = _train.versions()
    found["Python"] = f"{platform.python_version()} ({platform.python_implementation()})"
    found["package"] = os.path.dirname(__file__)
    for name in ("numpy", "diastatic-malt", "ml_dtypes", "torch", "jax", "tensorflow"):
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            if name in ("numpy", "diastatic-malt"):
                found[name] = "not installed"
    return found


def show_versions() -> None:
    """Prints the versions of Weft, of what it runs on, and of the packages that it meets: put them
    into a report of a fault.

    >>> wf.show_versions()
    Weft              0.1.0
    ...
    """
    for name, text in versions().items():
        sys.stdout.write(f"{name:<17} {text}\n")

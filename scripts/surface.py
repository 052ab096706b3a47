"""Prints what users of Weft see as one text, which is the same at every run: names, signatures, docstrings, pickle names, options of
classes, stubs, C++ declarations, and the words of errors for arguments of wrong types. Two versions are compared by diff."""

import contextlib
import copy
import importlib.util
import inspect
import io
import os
import pickle
import re
import sys
import tempfile
import types
import warnings
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent
ADDRESS = re.compile(r"\b0x[0-9a-f]{6,}\b")
MODULES = (
    "weft", "weft.autograph", "weft.config", "weft.data", "weft.fft", "weft.io", "weft.linalg", "weft.losses", "weft.metrics", "weft.nn",
    "weft.nn.initializers", "weft.optimizers", "weft.random", "weft.schedules", "weft.summary", "weft.train",
)  # fmt: skip
SPECIAL = ("__init__", "__call__", "__enter__", "__exit__", "__iter__", "__len__", "__getitem__")


def load(path, name):
    """A module of the tests, whose values and loops are used here."""
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def stable(text):
    return ADDRESS.sub("0x...", str(text)).replace(str(TOP), ".").replace(tempfile.gettempdir(), "/tmp")


def indented(text, by="    "):
    return "\n".join(by + line if line.strip() else "" for line in stable(text).rstrip().split("\n"))


def signature_of(value):
    try:
        return str(inspect.signature(value))
    except (TypeError, ValueError):
        return "(no signature)"


def pickle_name(value):
    try:
        pickle.dumps(value)
    except Exception as error:
        return f"not pickled: {type(error).__name__}"
    return f"{value.__module__}.{value.__qualname__}" if hasattr(value, "__qualname__") else "by value"


def members(cls):
    """Public members, and the special ones that users call, of a class and of its bases in the package."""
    found = {}
    for base in reversed(cls.__mro__):
        if str(base.__module__).split(".")[0] == "weft":
            found |= {name: value for name, value in vars(base).items() if name[0] != "_" or name in SPECIAL}
    return sorted(found.items())


def state_of(cls):
    """What an object of the class says of itself, where the class can be called with no argument or with small numbers."""
    for arguments in ((), (2,), (2, 2)):
        try:
            created = cls(*arguments)
        except Exception:
            continue
        yield f"repr{arguments} = {created!r}"
        with contextlib.suppress(Exception):
            yield f"pickled{arguments} = {created.__reduce_ex__(2)!r}"
        with contextlib.suppress(Exception):
            yield from (f"option {name} = {option!r}" for name, option in sorted(created.get_config().items()))
        return


def show(path, value):
    print(f"\n## {path}")
    if isinstance(value, types.ModuleType):
        print("    module")
    elif isinstance(value, type):
        bases = [f"{base.__module__}.{base.__qualname__}" for base in value.__mro__[1:-1] if "internal" not in base.__qualname__]
        print(stable(f"    class{signature_of(value)}, bases: {', '.join(bases) or 'none'}, pickled as {pickle_name(value)}"))
        print(indented(value.__doc__ or "(no docstring)"))
        for line in state_of(value):
            print(indented(line, "  "))
        for name, member in members(value):
            kind = "property" if isinstance(member, property) or inspect.isdatadescriptor(member) else "method"
            raw = getattr(member, "__func__", member)
            print(stable(f"  {kind} {name}{signature_of(raw) if callable(raw) else ''}"))
            print(indented(getattr(member, "__doc__", None) or "(no docstring)", "      "))
    elif callable(value):
        print(stable(f"    function{signature_of(value)}, pickled as {pickle_name(value)}"))
        print(indented(value.__doc__ or "(no docstring)"))
    else:
        print(stable(f"    {type(value).__name__} {value!r}"))


def public_names():
    import weft

    for name in MODULES:
        module = weft
        for word in name.split(".")[1:]:
            module = getattr(module, word)
        for word in sorted(getattr(module, "__all__", None) or [n for n in vars(module) if n[0] != "_"]):
            yield f"{name}.{word}", getattr(module, word)


def tf_names():
    from weft import tf
    from weft.tf._names import NAMES

    for path in sorted(NAMES):
        value = tf
        for word in path.split("."):
            value = getattr(value, word)
        yield f"weft.tf.{path}", value


def words_of_errors():
    """What is said of each argument of each function when it is of a wrong type: the calls of test_wrong_types.py."""
    calls = load(TOP / "test/python/rows/test_wrong_types.py", "weft_wrong_types")
    calls.WRONG["object"] = object()
    for path, function, parameters in calls.FUNCTIONS:
        rest = [p for p in parameters if p.kind is p.VAR_POSITIONAL]
        named = [p for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
        right = {p.name: calls.value_of(path, p.name) for p in named if p.default is p.empty}
        for word, wrong in calls.WRONG.items():
            cases = [(p.name, {**right, p.name: wrong}, (calls.MATRIX,) if rest else ()) for p in named]
            cases += [(f"*{rest[0].name}", right, (wrong,))] if rest else []
            for argument, arguments, more in cases:
                try:
                    calls.called(function, named, copy.copy(arguments), more)
                    yield f"{path}({argument}: {word}) -> accepted"
                except Exception as error:
                    yield f"{path}({argument}: {word}) -> {type(error).__name__}: {error}"


def words_of_bound_calls():
    """What is said of an argument that does not exist, of every function and class."""
    for path, value in public_names():
        if callable(value) and not (isinstance(value, type) and issubclass(value, BaseException)):
            try:
                value(no_such_argument=1)
                yield f"{path}(no_such_argument=1) -> accepted"
            except Exception as error:
                yield f"{path}(no_such_argument=1) -> {type(error).__name__}: {error}"


def declarations(build):
    """The public headers, hand-written and generated, without what changes nothing for users: blank lines and includes."""
    headers = sorted((TOP / "include").rglob("*.h")) + sorted((build / "generated/include").rglob("*.h"))
    for header in headers:
        relative = header.relative_to(build / "generated") if build in header.parents else header.relative_to(TOP)
        if "detail" in relative.parts:
            continue
        print(f"\n## {relative}")
        for line in header.read_text().split("\n"):
            if line.strip() and not line.startswith(("#include", "#pragma")):
                print(f"    {line}")


def main():
    build = Path(sys.argv[1]).resolve()
    warnings.simplefilter("ignore")
    os.environ.setdefault("WEFT_CACHE", "off")
    print("# Python: names")
    for path, value in public_names():
        show(path, value)
    print("\n# weft.tf: names")
    for path, value in tf_names():
        show(path, value)
    print("\n# Stubs")
    for stub in sorted((build / "python/weft").rglob("*.pyi")):
        print(f"\n## {stub.relative_to(build)}\n{indented(stub.read_text())}")
    print("\n# C++: declarations")
    declarations(build)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for title, words in (("that do not exist", words_of_bound_calls), ("of wrong types", words_of_errors)):
            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                lines = [stable(line.replace(folder, "FOLDER")) for line in words()]  # what is called may print
            print(f"\n# Words: arguments {title}", *lines, sep="\n")
        os.chdir(TOP)


if __name__ == "__main__":
    main()

"""Trees: values put together of lists, tuples, dicts and dataclasses, taken apart into leaves.

    wf.tree.map(lambda p, g: p - 0.1 * g, parameters, gradients)

The containers of a tree are lists, tuples, namedtuples, dicts and their subclasses, by their sorted keys, and dataclasses;
None is empty. All else is a leaf: tensors, variables, numbers, texts, Modules.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from weft import _weft
from weft._weft import internal_TreeStructure as Structure

from ._tracebacks import users_lines

__all__ = ["flatten", "leaves", "map", "structure", "unflatten"]

IsLeaf = Callable[[Any], bool] | None


class _Star:
    """What stands for a leaf where a structure is shown."""

    def __repr__(self) -> str:
        return "*"


_STAR = _Star()


@users_lines
def flatten(tree: Any, is_leaf: IsLeaf = None) -> tuple[list[Any], Structure]:
    """The leaves of a tree in order, and its structure, which puts others together again.

    >>> wf.tree.flatten({"w": 1.0, "b": [2.0, None]})
    ([2.0, 1.0], Structure({'w': *, 'b': [*, None]}))

    Args:
        is_leaf: asked of each part whether it is one leaf, be it a container

    Raises:
        ValueError: if it is nested more than 256 deep, or holds itself
        TypeError: if the keys of a dict have no order
    """
    return _weft.internal_flatten("flatten", tree, is_leaf, True, False)


@users_lines
def unflatten(structure: Structure, leaves: Iterable[Any]) -> Any:
    """A tree of this structure with these leaves, in their order.

    >>> leaves, structure = wf.tree.flatten((1, {"a": 2}))
    >>> wf.tree.unflatten(structure, [x * 10 for x in leaves])
    (10, {'a': 20})

    Raises:
        ValueError: if there are more or fewer leaves
        TypeError: if `structure` is none
    """
    if type(structure) is not Structure:
        raise TypeError(
            f"unflatten: structure is of type {type(structure).__name__}: what wf.tree.structure gives is wanted"
        )
    return structure.unflatten(leaves)


@users_lines
def leaves(tree: Any, is_leaf: IsLeaf = None) -> list[Any]:
    """The leaves of a tree in order, as `flatten` gives them.

    >>> wf.tree.leaves([1, (2, None), {"a": 3}])
    [1, 2, 3]
    """
    return _weft.internal_flatten("leaves", tree, is_leaf, True, False)[0]


@users_lines
def structure(tree: Any, is_leaf: IsLeaf = None) -> Structure:
    """The structure of a tree without its leaves.

    >>> wf.tree.structure([1, 2]) == wf.tree.structure(["a", "b"])
    True
    """
    return _weft.internal_flatten("structure", tree, is_leaf, True, False)[1]


@users_lines
def map(f: Callable[..., Any], tree: Any, *rest: Any, is_leaf: IsLeaf = None) -> Any:
    """The tree with `f(leaf)` for each of its leaves; with more trees, which are of its structure,
    `f(leaf, *others)` with the leaves that stand where it does.

    >>> wf.tree.map(lambda a, b: a + b, {"x": 1, "y": (2, 3)}, {"x": 10, "y": (20, 30)})
    {'x': 11, 'y': (22, 33)}

    Raises:
        ValueError: if a tree is of another structure than the first
    """
    first, structure = _weft.internal_flatten("map", tree, is_leaf, True, False)
    columns = [first]
    for n, other in enumerate(rest):
        column, found = _weft.internal_flatten("map", other, is_leaf, True, False)
        if found != structure:
            raise _weft.ValueError(
                f"map: tree number {n + 1} is of another structure than the first: {found}, not {structure}"
            )
        columns.append(column)
    return structure.unflatten([f(*row) for row in zip(*columns, strict=True)])

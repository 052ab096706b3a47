"""Replicas of `tf.distribute`: the contexts that a function runs in, the turns of those of one process, and
what all of them become together."""

from __future__ import annotations

import contextlib
import re
import threading
import weakref
from collections.abc import Callable, Generator, Iterable, Sequence
from typing import Any, cast

import weft as wf
from weft import _weft

from . import _more

__all__ = [
    "DistributedValues",
    "ReplicaContext",
    "check_turns",
    "exchanged",
    "fitting",
    "here",
    "joined",
    "local_values",
    "note_metric",
    "note_parts",
    "note_reset",
    "number_of_replica",
    "placed",
    "reduction_of",
    "regrouped",
    "run_replicas",
    "updated",
    "whole_of",
    "written_in",
]


class DistributedValues:
    """A value for each replica of this process: what `strategy.run` gives where there are several."""

    def __init__(self, values: Any) -> None:
        if not isinstance(values, Iterable):
            raise TypeError(f"DistributedValues: values must be a value for each replica, not a {type(values).__name__}")
        self._values: tuple[Any, ...] = tuple(cast("Iterable[Any]", values))

    @property
    def values(self) -> tuple[Any, ...]:
        """The values, in the order of the replicas."""
        return self._values

    def __repr__(self) -> str:
        lines = ",\n".join(f"  {i}: {value!r}" for i, value in enumerate(self._values))
        return f"PerReplica:{{\n{lines}\n}}"


class _Here(threading.local):
    """Which strategy's scope, and which replica, this thread is in."""

    strategy: Any = None
    replica: Any = None


here = _Here()



def note_metric(metric: Any) -> None:
    """That a metric was made: those of a strategy's scope belong to it."""
    if here.strategy is not None:
        here.strategy.note_metric(metric)


def note_reset(metric: Any) -> None:
    """That a replica has a metric count from 0: what it counted before `run` is forgotten."""
    if here.replica is not None and here.replica.strategy.joining is not None:
        here.replica.strategy.joining.note_reset(metric)


@contextlib.contextmanager
def fitting() -> Generator[None]:
    """Outside of the scope that this thread is in: `fit` runs the replicas itself. Throws StateError in one."""
    if here.replica is not None:
        raise _weft.StateError("fit: this is a replica: call fit outside of the function of strategy.run")
    outer, here.strategy = here.strategy, None
    try:
        yield
    finally:
        here.strategy = outer


_wholes: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()


def note_parts(parts: Any, whole: Any) -> Any:
    """That a data set has the rows of this process's replicas of another, which is given back by `whole_of`."""
    _wholes[parts] = whole
    return parts


def whole_of(dataset: Any) -> Any:
    """The data set of global batches that a strategy has cut, or what was given: `fit` cuts batches itself."""
    try:
        return _wholes.get(dataset, dataset)
    except TypeError:  # what has no weak references is none of ours
        return dataset


_numbers: list[Any] = []


def number_of_replica() -> Any:
    """The variable that holds the number of the replica that is running. What is traced reads it: the
    ranks of a world have one program."""
    if not _numbers:
        _numbers.append(wf.Variable(0, False, "replica_id", "int64"))
    return _numbers[0]


class _AtOnce(BaseException):
    """Raised in a trace that replicas of one process would have to take turns in: the traced function
    runs at once instead."""

    _weft_runs_at_once = True


def check_turns(replicas: int) -> None:
    """Has a function that is being traced run at once, if there are several replicas here."""
    if replicas > 1 and _weft.internal_is_tracing():
        raise _AtOnce


class _Ended(BaseException):
    """Ends a replica whose others have failed."""


def local_values(value: Any, count: int) -> list[Any]:
    """What each replica of this process has of a structure, in which others are the same for all."""

    def of(i: int) -> Any:
        def pick(leaf: Any) -> Any:
            return leaf.values[i] if isinstance(leaf, DistributedValues) else leaf

        return _more.map_structure(pick, [value])

    return [of(i) for i in range(count)]


def placed(value: Any, device: str | None) -> Any:
    """A structure with its tensors on a device, outside of traces, where nothing moves."""
    if device is None or _weft.internal_is_tracing():
        return value

    def move(leaf: Any) -> Any:
        return cast("Any", leaf).to(device) if isinstance(leaf, wf.Tensor) else leaf

    return _more.map_structure(move, [value])


def exchanged(lists: list[list[Any]], replicas: int, how: str, what: str) -> list[Any]:
    """Lists of tensors, one for each replica of this process, reduced over all replicas. Ranks whose `what`
    differ have a StateError of it."""
    return _weft.internal_reduce_replicas(lists, replicas, how, what)


def regrouped(results: Sequence[Any]) -> Any:
    """One structure of the same structures of the replicas of this process."""
    if len(results) == 1:
        return results[0]

    def together(*leaves: Any) -> Any:
        first = leaves[0]
        return first if all(leaf is first for leaf in leaves) else DistributedValues(leaves)

    return _more.map_structure(together, results)


# One replica.


class ReplicaContext:
    """Where a function of `strategy.run` finds itself: `tf.distribute.get_replica_context()`."""

    def __init__(self, strategy: Any, local: int = 0, number: int = 0) -> None:
        self._strategy, self._local = strategy, local
        self.number = number
        """That of this replica among all, as Python has it."""
        self._turn: Any = None

    @property
    def strategy(self) -> Any:
        """The strategy that runs it."""
        return self._strategy

    @property
    def num_replicas_in_sync(self) -> int:
        """How many replicas there are."""
        return self._strategy.num_replicas_in_sync

    @property
    def replica_id_in_sync_group(self) -> Any:
        """The number of this replica, an int32 scalar."""
        if self.num_replicas_in_sync == 1:
            return wf.constant(0)
        return wf.cast(number_of_replica().value(), "int32")

    @property
    def devices(self) -> tuple[str, ...]:
        """The device of this replica."""
        return (self._strategy.devices[self._local],)

    def merge_call(self, merge_fn: Callable[..., Any], args: Any = (), kwargs: Any = None) -> Any:
        """Calls `merge_fn(strategy, *args)` once, when all replicas of this process have come to it, with
        the arguments of all, and gives what it gave."""
        strategy = self._strategy

        def merge(given: list[Any]) -> list[Any]:
            positional, named = regrouped(given)
            with strategy.scope():
                made = merge_fn(strategy, *positional, **named)
            return local_values(made, len(given))

        return self.together("merge_call", merge, (tuple(args), dict(kwargs or {})))

    def all_reduce(self, reduce_op: Any, value: Any, options: Any = None) -> Any:
        """The sum or the mean of a tensor, or of each of a structure, over all replicas."""
        how, replicas = reduction_of("all_reduce", reduce_op), self.num_replicas_in_sync
        leaves: list[Any] = _more.flatten(value)

        def merge(given: list[Any]) -> list[Any]:
            return [exchanged(given, replicas, how, "all_reduce of a replica")] * len(given)

        if replicas == 1:
            return value
        own = [wf.asarray(leaf) for leaf in leaves]
        if _weft.internal_is_tracing():
            return _more.pack_as(value, self.together("all_reduce", merge, own))

        # The tapes of replicas are those of their threads, and no tape hears of an exchange of many tensors.
        @wf.custom_gradient
        def reduced(*own: Any) -> Any:
            def back(*cotangents: Any) -> Any:
                return tuple(self.together("the gradient of all_reduce", merge, list(cotangents)))

            return tuple(self.together("all_reduce", merge, list(own))), back

        return _more.pack_as(value, list(reduced(*own)))

    def all_gather(self, value: Any, axis: int, options: Any = None) -> Any:
        """The tensors of all replicas, one behind the other along an axis."""
        if self.num_replicas_in_sync == 1:
            return wf.asarray(value)
        strategy, own = self._strategy, wf.asarray(value)
        if self._turn is None:
            return self.together("all_gather", lambda given: [strategy.gather(DistributedValues(given), axis)], own)

        def merge(given: list[Any]) -> list[Any]:
            whole = strategy.gather(DistributedValues(given), axis)
            ends = [sum(each.shape[axis] for each in given[: i + 1]) for i in range(len(given))]
            return [(whole, end) for end in ends]

        def merge_back(given: list[Any]) -> list[Any]:
            return exchanged([[each] for each in given], self.num_replicas_in_sync, "sum", "") * len(given)

        @wf.custom_gradient
        def gathered(own: Any) -> Any:
            whole, end = self.together("all_gather", merge, own)

            def back(cotangent: Any) -> Any:
                total = self.together("the gradient of all_gather", merge_back, cotangent)
                return wf.take(total, wf.arange(end - own.shape[axis], end), axis=axis)

            return whole, back

        return gathered(own)

    def sum_in_layer(self, where: str, own: Any) -> Any:
        """The sum over all replicas of what that layer gives, which synchronizes."""

        def merge(given: list[Any]) -> list[Any]:
            return exchanged([[each] for each in given], self.num_replicas_in_sync, "sum", f"statistics of {where}") * len(given)

        return self.together(where, merge, own)

    def together(self, what: str, merge: Callable[[list[Any]], list[Any]], own: Any) -> Any:
        """What `merge` makes for this replica of what each of this process has; the world's ranks come to
        it together."""
        if self._turn is not None:
            answer = self._turn.wait(what, merge, own)
            return placed(answer, self._strategy.device_of_replica(self._local))
        outer, here.replica = here.replica, None
        try:
            with _weft.internal_OutsideReplicas():
                return merge([own])[0]
        finally:
            here.replica = outer


def reduction_of(function: str, op: Any) -> str:
    """'sum' or 'mean'. Throws ValueError."""
    word = str(getattr(op, "value", op)).lower()
    if word not in ("sum", "mean"):
        raise _weft.ValueError(f"{function}: reduce_op is {op!r}: tf.distribute.ReduceOp.SUM or MEAN is wanted")
    return word


def updated(optimizer: Any, pairs: Any, apply: Callable[[list[Any]], Any], sums: bool) -> Any:
    """Applies gradients: in a replica the sum of those of all, once. A strategy's scope alone is no
    replica, as nobody knows there whose gradients they are."""
    context = here.replica
    if context is None:
        if here.strategy is not None and here.strategy.num_replicas_in_sync > 1:
            raise _weft.StateError(
                f"{type(optimizer).__name__}: apply_gradients was called in strategy.scope(), where there is no "
                "replica: call it in the function that strategy.run calls"
            )
        return apply(pairs)
    replicas = context.num_replicas_in_sync
    if replicas == 1 or not sums:
        return apply(pairs)

    def merge(given: list[list[Any]]) -> list[Any]:
        variables = [v for _, v in given[0]]
        orders = [_common_order(each) for each in given]
        of = [[id(each[i][1]) for i in order] for each, order in zip(given, orders, strict=True)]
        if any(each != of[0] for each in of):
            raise _weft.StateError(
                f"{type(optimizer).__name__}: apply_gradients: replicas have gradients of different variables, or of "
                "the same in another order"
            )
        names = ", ".join(f"{variables[i].name}{tuple(variables[i].shape)}" for i in orders[0])
        lists = [[each[i][0] for i in order] for each, order in zip(given, orders, strict=True)]
        sums = dict(zip(orders[0], exchanged(lists, replicas, "sum", f"apply_gradients of {names}"), strict=True))
        made = apply([(sums.get(i), v) for i, v in enumerate(variables)])
        for variable in [*variables, *optimizer.state]:
            _weft.internal_aggregate_by(variable, "same")
        return [made] * len(given)

    return context.together("apply_gradients", merge, list(pairs))


def _common_order(pairs: list[tuple[Any, Any]]) -> list[int]:
    """The positions of what has a gradient, in an order that replicas have in common: variables without names in
    the order in which they were made, as no two replicas need list them in one; the others where they stand."""
    there = [i for i, (g, _) in enumerate(pairs) if g is not None]
    made = {i: int(name[1]) for i in there if (name := re.fullmatch(r"variable_(\d+)", _weft.internal_name_of(pairs[i][1])))}
    in_order = iter(sorted(made, key=made.__getitem__))
    return [next(in_order) if i in made else i for i in there]


# Variables.


class _Joined:
    """What replicas write: each begins with what there was, metrics with zeros, and behind them variables
    have what all amount to."""

    def __init__(self, replicas: int, metrics: Iterable[Any]) -> None:
        self.replicas = replicas
        self._counts = [v for metric in metrics for v in metric.variables if v.is_initialized()]
        self._so_far = [v.value() for v in self._counts]
        for variable in self._counts:
            variable.assign(wf.zeros_like(variable.value()))
        self._is_count = {id(v) for v in self._counts}
        self._metrics = list(metrics)
        self._reset: set[int] = set()

    def note_reset(self, metric: Any) -> None:
        """That replicas have it count from 0."""
        self._reset |= {id(v) for v in metric.variables}

    def take_back(self) -> None:
        """After an error, metrics have what they had."""
        for variable, value in zip(self._counts, self._so_far, strict=True):
            variable.assign(value)

    def join(self, written: Sequence[dict[int, Any]]) -> None:
        """Has variables, which `written_in` gives for each replica of this process, what all replicas gave
        them; one that a replica did not write is as it was, which it has now."""
        late = {id(v) for metric in self._metrics for v in metric.variables} - self._is_count
        order: dict[int, Any] = {id(v): (v, "sum") for v in self._counts}
        for of in written:
            for key, (variable, _, how) in of.items():
                order.setdefault(key, (variable, "sum" if key in late else how))
        sums: list[list[Any]] = [[] for _ in written]
        most: list[list[Any]] = [[] for _ in written]
        kinds: list[tuple[Any, str]] = []
        for key, (variable, how) in order.items():
            now = variable.value()
            if how == "same":
                for of in written:
                    if key in of:
                        variable.assign(placed(of[key][1], variable.device))
                        break
                continue
            kinds.append((variable, how))
            for of, to_sum, to_most in zip(written, sums, most, strict=True):
                value = of[key][1] if key in of else wf.zeros_like(now) if how == "sum" else now
                if how == "sum":
                    to_sum.append(value)
                elif how == "mean":
                    to_sum.append(_wide(value))
                else:
                    to_most.append(wf.cast(value, "int64"))
        names = ", ".join(f"{variable.name}{tuple(variable.shape)}" for variable, _ in kinds) or "no variable"
        what = f"the end of run, which has assigned {names}"
        totals = iter(exchanged(sums, self.replicas, "sum", what) if sums[0] else [])
        largest = iter(exchanged(most, self.replicas, "max", what) if most[0] else [])
        if not kinds and not _weft.internal_is_tracing():
            exchanged(sums, self.replicas, "sum", what)  # by which ranks learn that others assigned some
        so_far = {id(v): value for v, value in zip(self._counts, self._so_far, strict=True)}
        for variable, how in kinds:
            of_all = placed(next(largest if how == "max" else totals), variable.device)
            if how == "sum":
                before = None if id(variable) in self._reset else so_far.get(id(variable))
                variable.assign(of_all if before is None else before + of_all)
            else:
                variable.assign(wf.cast(of_all / self.replicas if how == "mean" else of_all, variable.dtype))


def _wide(value: Any) -> Any:
    name = value.dtype.name
    return value if name in ("float32", "float64") or name.startswith("complex") else wf.cast(value, "float32")


def written_in(scope: Any) -> dict[int, Any]:
    """What a replica has written in its scope, by the identities of the variables: them, their values, and how
    those of replicas become one."""
    return {id(v): (v, v.value() if value is None else value, how) for v, value, how in scope.written()}


def joined(replicas: int, metrics: Iterable[Any]) -> _Joined:
    """What becomes of variables in a run of so many replicas."""
    return _Joined(replicas, metrics)


# Replicas that take turns.


class _Turn(threading.Thread):
    """A replica of this process. One runs at a time, until it comes to what all do together or its end."""

    def __init__(self, context: ReplicaContext, local: int, f: Callable[[int], Any]) -> None:
        super().__init__(daemon=True)
        self._context, self._local, self._f = context, local, f
        self._go, self._back = threading.Semaphore(0), threading.Semaphore(0)
        self._ends = False
        device = context.strategy.device_of_replica(local)
        self._scope = _weft.internal_ReplicaScope(
            number_of_replica(), context.number, context.num_replicas_in_sync, device
        )
        self.waits: Any = None  # (what, merge, own) of what it has come to
        self.answer: Any = None
        self.result: Any = None
        self.error: BaseException | None = None

    def run(self) -> None:
        self._go.acquire()
        try:
            if self._ends:
                return
            here.strategy, here.replica = self._context.strategy, self._context
            self._context._turn = self  # pyright: ignore[reportPrivateUsage]
            with self._scope, self._context.strategy.scope_of_device(self._local):
                self.result = self._f(self._local)
        except _Ended:
            pass
        except BaseException as error:  # noqa: BLE001 # raised by whoever runs the replicas
            self.error = error
        finally:
            self.waits = None
            self._back.release()

    def wait(self, what: str, merge: Any, own: Any) -> Any:
        """In the replica: comes to what all do together."""
        check_turns(2)
        self.waits = (what, merge, own)
        self._back.release()
        self._go.acquire()
        if self._ends:
            raise _Ended
        here.replica = self._context
        return self.answer

    def go_on(self) -> None:
        """Has it run on."""
        self._go.release()
        self._back.acquire()

    def written(self) -> dict[int, Any]:
        """What it has written, see `written_in`."""
        return written_in(self._scope)

    def end(self) -> None:
        """Ends it where it waits."""
        if self.is_alive():
            self._ends = True
            self._go.release()
        self.join()


def run_replicas(strategy: Any, count: int, first: int, f: Callable[[int], Any], join: _Joined) -> list[Any]:
    """Runs `count` replicas of this process, of which the first has that number, in turns, and gives the
    results."""
    turns = [_Turn(ReplicaContext(strategy, i, first + i), i, f) for i in range(count)]
    try:
        for turn in turns:
            turn.start()
        while True:
            for turn in turns:
                turn.go_on()
                if turn.error is not None:
                    raise turn.error
            asked = [turn.waits for turn in turns]
            names = [None if each is None else each[0] for each in asked]
            if len(set(names)) != 1:
                said = ", ".join(f"replica {first + i} {name or 'its end'}" for i, name in enumerate(names))
                raise _weft.StateError(f"run: replicas have come to different calls: {said}")
            if names[0] is None:
                break
            with _weft.internal_OutsideReplicas():
                answers = asked[0][1]([each[2] for each in asked])
            for turn, answer in zip(turns, answers, strict=True):
                turn.answer = answer
    finally:
        for turn in turns:
            turn.end()
    join.join([turn.written() for turn in turns])
    return [turn.result for turn in turns]

"""`tf.distribute`: strategies over the ranks of a world and over replicas of one process. They name what
`weft.distributed` and `weft.train.fit` do; the sums of replicas, and so all numbers, have the same bits on any
number of ranks."""

from __future__ import annotations

import contextlib
import json
import os
import re
import weakref
from collections.abc import Callable, Generator, Iterator, Sequence
from enum import Enum
from typing import Any, cast

import weft as wf
from weft import _data_loops, _weft, train

from . import _more, _replicas
from ._replicas import DistributedValues, ReplicaContext, here

__all__ = [
    "InputContext",
    "MirroredStrategy",
    "MultiWorkerMirroredStrategy",
    "OneDeviceStrategy",
    "ReduceOp",
    "Strategy",
    "ValueContext",
    "get_replica_context",
    "get_strategy",
    "has_strategy",
    "in_cross_replica_context",
]


class ReduceOp(Enum):
    """How the values of replicas become one."""

    SUM = "SUM"
    MEAN = "MEAN"


class ValueContext:
    """For which replica a value is made."""

    def __init__(self, replica_id_in_sync_group: int = 0, num_replicas_in_sync: int = 1) -> None:
        self.replica_id_in_sync_group = replica_id_in_sync_group
        self.num_replicas_in_sync = num_replicas_in_sync


class InputContext:
    """Of which process a data set is made."""

    def __init__(self, num_input_pipelines: int = 1, input_pipeline_id: int = 0, num_replicas_in_sync: int = 1) -> None:
        self.num_input_pipelines, self.input_pipeline_id = num_input_pipelines, input_pipeline_id
        self.num_replicas_in_sync = num_replicas_in_sync

    def get_per_replica_batch_size(self, global_batch_size: int) -> int:
        """The rows of a replica. Throws ValueError if they are not as many for each."""
        if global_batch_size % self.num_replicas_in_sync:
            raise _weft.ValueError(
                f"get_per_replica_batch_size: global_batch_size is {global_batch_size}, which "
                f"{self.num_replicas_in_sync} replicas do not divide"
            )
        return global_batch_size // self.num_replicas_in_sync


class Strategy:
    """Replicas in step: each computes with its rows of a batch, and all make one update.

        strategy = tf.distribute.MultiWorkerMirroredStrategy()  # mpirun -n 4 python train.py
        with strategy.scope():
            model = tf.keras.Sequential([tf.keras.layers.Dense(10)])
            model.compile("adam", "mse")
        model.fit(batches, epochs=3)
    """

    _group_is_world = False

    def __init__(self, devices: Sequence[str] = ("/cpu:0",)) -> None:
        self._devices = tuple(_listed(type(self).__name__, devices))
        self._metrics: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()
        self._made = 0
        self.joining: Any = None
        """What a run that is going on becomes in the end."""
        self._first, self._local, self._replicas = 0, len(self._devices), len(self._devices)

    # A model that is copied trains by the same strategy.
    def __copy__(self) -> Strategy:
        return self

    def __deepcopy__(self, memo: Any) -> Strategy:
        return self

    @property
    def num_replicas_in_sync(self) -> int:
        """How many replicas make an update together."""
        return self._replicas

    @property
    def devices(self) -> tuple[str, ...]:
        """The devices of the replicas of this process."""
        return self._devices

    def scope_of_device(self, replica: int = 0) -> Any:
        """A context of the device that new tensors of one of this process's replicas go to, and variables of
        the scope, as those of the first."""
        return contextlib.nullcontext()

    def device_of_replica(self, replica: int) -> str | None:
        """Where one of this process's replicas has its tensors, if they are to be anywhere."""
        return None

    def scope_of_first_values(self) -> Any:
        """A context in which ranks give new variables the same first values."""
        return contextlib.nullcontext()

    @contextlib.contextmanager
    def scope(self) -> Generator[Strategy]:
        """A context: models and metrics that are made in it belong to the strategy."""
        if here.replica is not None and here.replica.strategy is not self:
            raise _weft.StateError("scope: the function of strategy.run is in the scope of its strategy already")
        if here.strategy is not None and here.strategy is not self:
            raise _weft.StateError(
                f"scope: this is the scope of a {type(here.strategy).__name__} already: leave it first"
            )
        outer, here.strategy = here.strategy, self
        try:
            with self.scope_of_device(), self.scope_of_first_values():
                yield self
        finally:
            here.strategy = outer

    def note_metric(self, metric: Any) -> None:
        """That a metric was made in the scope: what replicas count is added up."""
        self._metrics[self._made] = metric
        self._made += 1

    # Runs.

    def run(self, fn: Callable[..., Any], args: Any = (), kwargs: Any = None, options: Any = None) -> Any:
        """Calls a function for each replica, with its own part of values of several, and gives what they
        gave: where this process has several replicas, as `DistributedValues`.

        In it optimizers apply the sum of all replicas' gradients, draws are of a stream of each replica's own,
        and behind it metrics of the scope have the sums of what all have counted; other variables that the
        function assigns, as the statistics of BatchNormalization, have the mean of the replicas'.

        Raises:
            StateError: in a function of `run`, and if replicas do not do the same; on the other ranks for what
                one of them raises
        """
        if here.replica is not None:
            raise _weft.StateError("run: this is a replica already: call it outside of the function of strategy.run")
        if not callable(fn):
            raise TypeError(f"run: fn is a {type(fn).__name__}, not a function")
        _replicas.check_turns(self._local)
        given = _replicas.local_values([tuple(args), dict(kwargs or {})], self._local)
        given = [_replicas.placed(each, self.device_of_replica(i)) for i, each in enumerate(given)]
        outer, here.strategy = here.strategy, self
        try:
            if self._replicas == 1:
                with self.scope_of_device():
                    return self._called(ReplicaContext(self, 0, self._first), fn, given[0])
            return self._joined_run(fn, given)
        finally:
            here.strategy = outer

    def _joined_run(self, fn: Callable[..., Any], given: list[Any]) -> Any:
        # In the order in which all ranks have made them.
        metrics = [metric for _, metric in sorted(self._metrics.items())]
        join = self.joining = _replicas.joined(self._replicas, metrics)
        traced = _weft.internal_is_tracing()
        if not traced:
            _weft.internal_forget_error()
        try:
            if self._local > 1:
                results = _replicas.run_replicas(
                    self, self._local, self._first, lambda i: self._in_step(fn, given[i]), join
                )
                return _replicas.regrouped(results)
            scope = _weft.internal_ReplicaScope(_replicas.number_of_replica(), self._first, self._replicas)
            with scope, self.scope_of_device():
                result = self._called(ReplicaContext(self, 0, self._first), fn, given[0])
            join.join([_replicas.written_in(scope)])
            return result
        except BaseException as error:
            if not traced:
                join.take_back()
                self._refuse(error)
            raise
        finally:
            self.joining = None

    def _called(self, context: ReplicaContext, fn: Callable[..., Any], given: Any) -> Any:
        here.replica = context
        try:
            return self._in_step(fn, given)
        finally:
            here.replica = None

    def _in_step(self, fn: Callable[..., Any], given: Any) -> Any:
        context = here.replica
        meeting = context.sum_in_layer if self._local > 1 else None
        with _weft.internal_ReplicasInStep(self._replicas, context.number, meeting):
            return train.converted(fn, *given[0], **given[1])

    def _refuse(self, error: BaseException) -> None:
        """The other ranks, which wait for this one, hear of its error."""
        if self._group_is_world and not _weft.internal_ranks_know_of_error():
            _weft.internal_refuse(f"{type(error).__name__}: {error}")

    def reduce(self, reduce_op: Any, value: Any, axis: Any = None) -> Any:
        """The sum or the mean of what `run` gave, of each tensor of a structure, over the replicas and, if it is
        given, over an axis of each."""
        how = _replicas.reduction_of("reduce", reduce_op)
        leaves: list[Any] = _more.flatten(value)
        if len(leaves) != 1 or leaves[0] is not value:
            return _more.pack_as(value, [self.reduce(reduce_op, leaf, axis) for leaf in leaves])
        if here.replica is not None:
            raise _weft.StateError("reduce: it is called in a replica: write tf.distribute.get_replica_context().all_reduce")
        if not isinstance(value, DistributedValues) and self._local > 1:
            if how == "mean":
                return wf.asarray(value)
            raise _weft.ValueError(
                "reduce: the value is one and the same on all replicas, as a number, a variable or a tensor of outside, "
                "and its sum need not be meant: multiply it by num_replicas_in_sync, or reduce what differs"
            )
        own = self._local_tensors(value)
        if axis is None:
            if self._replicas == 1:
                return own[0]
            return self._reduced([[each] for each in own], how)[0]
        axes: list[int] = list(cast("list[int]", axis)) if isinstance(axis, list | tuple) else [int(axis)]
        sums = [wf.sum(each, axes) for each in own]
        if how == "sum":
            return self._reduced([[each] for each in sums], how)[0]
        kind = "float32" if sums[0].dtype.is_integer else sums[0].dtype
        counts = [_count(each, axes, kind) for each in own]
        total, count = self._reduced([[wf.cast(s, kind), n] for s, n in zip(sums, counts, strict=True)], "sum")
        return total / count

    def gather(self, value: Any, axis: int) -> Any:
        """What `run` gave, the tensors of the replicas one behind the other along an axis."""
        own = self._local_tensors(value)
        if any(each.ndim == 0 for each in own):
            raise _weft.ShapeError("gather: the value is a scalar, so there is no axis to gather along: write reduce")
        mine = own[0] if len(own) == 1 else wf.concatenate(own, axis)
        if not self._group_is_world or self._replicas == 1:
            return mine
        if _weft.internal_is_tracing():
            return wf.distributed.all_gather(mine, axis)
        # Those of a last, smaller batch are not as many on all ranks.
        counts: list[int] = wf.distributed.all_gather(wf.tensor([mine.shape[axis]], "int64")).tolist()
        most = max(counts)
        if min(counts) == most:
            return wf.distributed.all_gather(mine, axis)
        axis = axis % mine.ndim
        paddings = [(0, most - mine.shape[axis] if i == axis else 0) for i in range(mine.ndim)]
        parts = wf.split(wf.distributed.all_gather(wf.pad(mine, paddings), axis), self._replicas, axis)
        return wf.concatenate([wf.split(part, [count], axis)[0] for part, count in zip(parts, counts, strict=True)], axis)

    def _local_tensors(self, value: Any) -> list[Any]:
        """What each replica of this process has, where the first one does."""
        own = [wf.asarray(each) for each in _replicas.local_values(value, self._local)]
        return _replicas.placed(own, self.device_of_replica(0))

    def _reduced(self, lists: list[list[Any]], how: str) -> list[Any]:
        if self._replicas == 1:
            return lists[0]
        return _replicas.exchanged(lists, self._replicas, how, "reduce")

    def experimental_local_results(self, value: Any) -> tuple[Any, ...]:
        """The values of the replicas of this process."""
        return value.values if isinstance(value, DistributedValues) else (value,)

    # Data.

    def experimental_distribute_dataset(self, dataset: Any, options: Any = None) -> Any:
        """A data set of global batches whose elements are the rows of the replicas of this process. All ranks
        go over the same batches."""
        if _replicas.whole_of(dataset) is not dataset:
            raise TypeError("experimental_distribute_dataset: the data set is cut for the replicas already: give the whole one")
        if not isinstance(dataset, wf.data.Dataset):
            raise TypeError(
                f"experimental_distribute_dataset: dataset is a {type(dataset).__name__}, not a tf.data.Dataset"
            )
        whole = cast("wf.data.Dataset[Any]", dataset)
        if self._replicas == 1:
            return whole
        if self._local > 1:
            return _replicas.note_parts(_Distributed(whole, self._local, self._parts_of), whole)
        first = self._first

        def own(*batch: Any) -> Any:
            structure = batch[0] if len(batch) == 1 else batch
            return self._rows_of(structure, first)

        parts = whole.map(own)
        _data_loops.note_together(parts)
        return _replicas.note_parts(parts, whole)

    def _rows_of(self, structure: Any, replica: int) -> Any:
        def rows(leaf: Any) -> Any:
            return self._rows(leaf, replica)

        return _more.map_structure(rows, [structure])

    def _rows(self, leaf: Any, replica: int) -> Any:
        x = wf.asarray(leaf)
        if x.ndim == 0:
            raise _weft.ShapeError(
                "experimental_distribute_dataset: an element has a scalar, of which replicas cannot have rows: "
                "write dataset.batch(global_batch_size) before"
            )
        shape: tuple[Any, ...] = x.shape
        rows: Any = shape[0] if shape[0] is not None else wf.size(x, 0)
        return x[rows * replica // self._replicas : rows * (replica + 1) // self._replicas]

    def _parts_of(self, batch: Any) -> list[Any]:
        return [self._rows_of(batch, self._first + i) for i in range(self._local)]

    def distribute_datasets_from_function(self, dataset_fn: Callable[[InputContext], Any], options: Any = None) -> Any:
        """The data set of this process that a function of `InputContext` makes, of batches of a replica."""
        pipelines = self._replicas // self._local
        dataset = dataset_fn(InputContext(pipelines, self._first // self._local, self._replicas))
        return dataset if self._local == 1 else _Distributed(dataset, self._local, None)

    def experimental_distribute_values_from_function(self, value_fn: Callable[[ValueContext], Any]) -> Any:
        """A value for each replica of this process, which a function of `ValueContext` gives."""
        return _replicas.regrouped(
            [value_fn(ValueContext(self._first + i, self._replicas)) for i in range(self._local)]
        )

    def parallel(self) -> Any:
        """What `train.fit` is told."""
        if self._replicas == 1:
            return None
        devices = [self.device_of_replica(i) for i in range(self._local)]
        return train.Parallel(self._replicas, devices=[device for device in devices if device is not None])


def _count(x: Any, axes: list[int], kind: Any) -> Any:
    count: Any = wf.constant(1.0, kind)
    for axis in axes:
        count = count * wf.cast(wf.size(x, axis), kind)
    return count


class _Distributed:
    """A data set whose elements have the parts of several replicas."""

    def __init__(self, dataset: Any, local: int, parts: Callable[[Any], list[Any]] | None) -> None:
        self._dataset, self._local, self._parts = dataset, local, parts

    def __iter__(self) -> Iterator[Any]:
        _replicas.check_turns(self._local)
        return self._elements()

    def _elements(self) -> Iterator[Any]:
        batches = iter(self._dataset)
        for batch in batches:
            if self._parts is not None:
                yield _replicas.regrouped(self._parts(batch))
                continue
            of: list[Any] = [batch]
            for more in batches:
                of.append(more)
                if len(of) == self._local:
                    break
            if len(of) < self._local:
                return
            yield _replicas.regrouped(of)

    def __len__(self) -> int:
        return len(self._dataset) // (1 if self._parts is not None else self._local)

    @property
    def element_spec(self) -> Any:
        """The types of an element before it is cut."""
        return self._dataset.element_spec


class MirroredStrategy(Strategy):
    """Replicas of one process: as many as devices are named, by default one for each GPU, and without one a
    single one. Variables of its scope are on the first device, and others read copies of them. `fit` has the
    devices compute at once. The functions that `run` calls take turns, as in TensorFlow, and what they ask of
    GPUs goes on meanwhile.

    Raises:
        ValueError: for no device, one that is named twice, or one that is not there
        StateError: in a world of several processes
    """

    def __init__(self, devices: Any = None, cross_device_ops: Any = None) -> None:
        if devices is None:
            named = [f"/gpu:{i}" for i in range(len(_more.list_devices("GPU")))] or ["/cpu:0"]
        else:
            named = [_device_of("MirroredStrategy", name) for name in _listed("MirroredStrategy", devices)]
        if not named:
            raise _weft.ValueError("MirroredStrategy: devices is empty: name one at least")
        for name in named:
            if named.count(name) > 1:
                raise _weft.ValueError(f"MirroredStrategy: devices has {name!r} twice")
        super().__init__(named)
        size = wf.distributed.init().size
        if size > 1:
            raise _weft.StateError(
                f"MirroredStrategy: its replicas are those of one process, and there are {size}: write "
                "tf.distribute.MultiWorkerMirroredStrategy()"
            )

    def scope_of_device(self, replica: int = 0) -> Any:
        """A context of the device of a replica; of none where all are CPUs."""
        device = self.device_of_replica(replica)
        return contextlib.nullcontext() if device is None else _more.device(device)

    def device_of_replica(self, replica: int) -> str | None:
        """Where one of the replicas has its tensors; None where all are CPUs."""
        if not any("gpu" in device for device in self._devices):
            return None
        return self._devices[replica][1:] if "gpu" in self._devices[replica] else "cpu:0"


class MultiWorkerMirroredStrategy(Strategy):
    """A replica on each process that `mpirun -n 4` (or `srun`, or `python -m weft.launch -n 4`) started.

    Raises:
        StateError: if `TF_CONFIG` names several workers, and there is one process alone
    """

    _group_is_world = True

    def __init__(self, cluster_resolver: Any = None, communication_options: Any = None) -> None:
        if cluster_resolver is not None:
            raise _weft.ValueError(
                "MultiWorkerMirroredStrategy: there are no cluster resolvers: a launcher says who takes part, "
                "mpirun -n 4 python train.py for example"
            )
        world = wf.distributed.init()
        workers = _workers_of_environment()
        if world.size == 1 and workers > 1:
            raise _weft.StateError(
                f"MultiWorkerMirroredStrategy: TF_CONFIG names {workers} workers, but nothing has connected them: "
                "start all by mpirun, srun or python -m weft.launch"
            )
        super().__init__()
        self._first, self._replicas = world.rank, world.size
        if not _weft.internal_is_tracing():
            # Traced functions read it, and may be what runs first.
            _replicas.number_of_replica().assign(self._first)

    def scope_of_first_values(self) -> Any:
        """A context in which new variables have the first values of rank 0, as TensorFlow's."""
        return _weft.internal_FirstValuesOfRankZero()


def _workers_of_environment() -> int:
    try:
        cluster = json.loads(os.environ.get("TF_CONFIG") or "{}").get("cluster", {})
        return sum(len(cluster.get(kind, ())) for kind in ("chief", "worker"))
    except (ValueError, AttributeError, TypeError):
        return 0


class OneDeviceStrategy(Strategy):
    """One replica on a device.

    Raises:
        ValueError: for one that is not there
    """

    def __init__(self, device: str) -> None:
        super().__init__([_device_of("OneDeviceStrategy", device)])

    def scope_of_device(self, replica: int = 0) -> Any:
        """A context of the device."""
        return _more.device(self._devices[replica])


def _listed(what: str, devices: Any) -> Sequence[Any]:
    """The devices of a list, or the one that is named."""
    if isinstance(devices, str):
        return [devices]
    if not isinstance(devices, Sequence):
        raise TypeError(f"{what}: devices must be a list of names like '/gpu:0', not a {type(devices).__name__}")
    return cast("Sequence[Any]", devices)


def _device_of(what: str, name: Any) -> str:
    """"/gpu:1" of any spelling. Throws ValueError for what is not there; of CPUs there are any number."""
    found = re.search(r"(cpu|gpu)(?::(\d+))?$", str(name).lower())
    if not isinstance(name, str) or found is None:
        raise _weft.ValueError(f"{what}: {name!r} is no device: '/cpu:0' or '/gpu:0' is wanted")
    kind, number = found[1], int(found[2] or 0)
    there = len(_more.list_devices("GPU"))
    if kind == "gpu" and number >= there:
        raise _weft.ValueError(f"{what}: there is no {name!r}: this machine has {there} GPUs")
    return f"/{kind}:{number}"


_default = Strategy()
_default_context = ReplicaContext(_default)


def get_strategy() -> Any:
    """The strategy of the scope, or one of this process alone."""
    if here.replica is not None:
        return here.replica.strategy
    return _default if here.strategy is None else here.strategy


def has_strategy() -> bool:
    """Whether this is the scope of a strategy, or a replica of one."""
    return get_strategy() is not _default


def in_cross_replica_context() -> bool:
    """Whether this is the scope of a strategy, and no replica."""
    return here.replica is None and here.strategy is not None


def get_replica_context() -> Any:
    """The replica that is running; None in the scope of a strategy."""
    if here.replica is not None:
        return here.replica
    return None if here.strategy is not None else _default_context


def compute_average_loss(per_example_loss: Any, sample_weight: Any, global_batch_size: Any) -> Any:
    """The sum of the losses of samples over how many a global batch has: what replicas have is added up to
    the mean."""
    loss = wf.asarray(per_example_loss)
    if sample_weight is not None:
        loss = loss * wf.cast(sample_weight, loss.dtype)
    if global_batch_size is None:
        global_batch_size = wf.size(loss, 0) * get_strategy().num_replicas_in_sync
    return wf.sum(loss) / wf.cast(global_batch_size, loss.dtype)


def scale_regularization_loss(regularization_loss: Any) -> Any:
    """The sum of losses that each replica has, over the number of replicas."""
    return wf.sum(wf.asarray(regularization_loss)) / get_strategy().num_replicas_in_sync


// The class of data sets: its stages, with functions of Python in them, and its position.
#include "Stages.h"
#include "Define.h"
#include "Staging.h"
#include "Text.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <weft/random.h>

namespace weft::python {

namespace {

using data::detail::Pipeline;

constexpr std::source_location kNowhere;
constexpr const char *kSame = "Dataset[_T]", *kOther = "Dataset[Any]", *kFunction = "OfElement[_T]";

/// A stage behind a data set, of its class, that may call a function of Python.
nb::object behind(nb::handle self, Pipeline pipeline, bool bare, const nb::object &keeper = {}) {
  BoundDataset next(std::move(pipeline), bare, dataset_in(self).held);
  if (keeper.is_valid()) next.held.push_back(keeper);
  return dataset_of(std::move(next), self.type());
}
/// One whose elements are of the same types.
template <class Stage>
nb::object same(nb::handle self, const Stage &stage, const nb::object &keeper = {}) {
  const BoundDataset &dataset = dataset_in(self);
  return behind(self, stage(dataset.pipeline), dataset.bare, keeper);
}

/// The stage that a function of Pipeline gives of these arguments.
template <auto function, class... Args>
nb::object stage(nb::handle self, Args... args) {
  return same(self, [&](const Pipeline &of) {
    if constexpr (std::is_invocable_v<decltype(function), const Pipeline &, Args...>)
      return std::invoke(function, of, args...);
    else return std::invoke(function, of, args..., kNowhere);
  });
}

//===----------------------------------------------------------------------===//
// Functions of stages
//===----------------------------------------------------------------------===//

/// Whether it has a parameter named `generator`.
bool takes_generator(nb::handle function) {
  try {
    const nb::object signature = nb::module_::import_("inspect").attr("signature")(function);
    return nb::cast<bool>(signature.attr("parameters").attr("__contains__")("generator"));
  } catch (nb::python_error &error) {
    if (!error.matches(PyExc_TypeError) && !error.matches(PyExc_ValueError)) throw;
    return false;
  }
}

/// What `use` gives of `function(element)`, where a stage asks for it.
template <class Use>
auto called(const char *stage, const CallablePointer &slot, const Use &use) {
  return [stage, slot, use](const Item &item) {
    return in_function(stage, slot, [&] { return use(call_with_item(function_in(*slot), item)); });
  };
}

nb::object map(nb::handle self, nb::callable f, const data::MapOptions &options) {
  const nb::object keeper = keeper_of(f);
  const CallablePointer slot = slot_of(keeper);
  const bool seeded = takes_generator(f);
  const auto function = [slot, seeded, reader = std::make_shared<ItemReader>("map", slot)](
                            const Item &item, std::uint64_t seed) {
    return in_function("map", slot, [&] {
      nb::dict keywords;
      if (seeded) keywords["generator"] = nb::cast(random::Generator(seed));
      const nb::object made = call_with_item(function_in(*slot), item, keywords);
      if (made.is_none())
        raise_type_error("map: the function returned None: it must return the new element");
      return reader->read(made.ptr());
    });
  };
  return behind(self, dataset_in(self).pipeline.map(function, seeded, options, kNowhere), false,
                keeper);
}

nb::object filter(nb::handle self, nb::callable predicate) {
  const nb::object keeper = keeper_of(predicate);
  const auto function = called("filter", slot_of(keeper), [](const nb::object &kept) {
    const int truth = PyObject_IsTrue(kept.ptr());
    if (truth < 0) throw nb::python_error();
    return truth != 0;
  });
  return same(self, [&](const Pipeline &of) { return of.filter(function); }, keeper);
}

nb::object bucket(nb::handle self, nb::callable length, const data::BucketOptions &options) {
  const nb::object keeper = keeper_of(length);
  const auto function = called("bucket", slot_of(keeper), [](const nb::object &of) {
    const nb::object number = checked(PyNumber_Long(of.ptr()));
    return to_integer(number.ptr(), {"bucket", "what the length function returns"});
  });
  return same(
      self, [&](const Pipeline &of) { return of.bucket(function, options, kNowhere); }, keeper);
}

/// `open(element)` gives a data set of Python, which is kept as long as its part of the loop.
nb::object interleave(nb::handle self, nb::callable open, const data::InterleaveOptions &options) {
  const nb::object keeper = keeper_of(open);
  const CallablePointer slot = slot_of(keeper);
  const auto function = called("interleave", slot, [slot](const nb::object &opened) {
    nb::object dataset = as_dataset(opened, {"interleave", "what the function returns"});
    const Pipeline pipeline = dataset_in(dataset).pipeline;
    return pipeline.keeping(keep_in(slot, std::move(dataset)));
  });
  return behind(self, dataset_in(self).pipeline.interleave(function, options, kNowhere), false,
                keeper);
}

/// start, start + 1, ... for as long as anybody asks; in a loop ValueError for one behind int64.
BoundDataset numbers_from(std::int64_t start) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  // Nobody comes to the end of so many.
  if (start < most / 2) return BoundDataset(Pipeline::range(start, most, 1, kNowhere), true);
  return BoundDataset(
      Pipeline::rows("range(" + std::to_string(start) + ", " + std::to_string(most) + ", 1)", most,
                     [start](std::int64_t index) {
                       if (index > most - start)
                         throw ValueError("enumerate: the number of element " +
                                          std::to_string(index) + " is " + std::to_string(start) +
                                          " + " + std::to_string(index) +
                                          ", which int64 does not hold");
                       return Item{{tensor(start + index)}, nullptr};
                     }),
      true);
}

//===----------------------------------------------------------------------===//
// The class
//===----------------------------------------------------------------------===//

/// The types of an element: TensorSpecs in its structure.
nb::object element_spec(nb::handle self) {
  const data::detail::ElementTypes &types = dataset_in(self).types_of_elements();
  const nb::object spec = nb::module_::import_("weft").attr("TensorSpec");
  std::vector<nb::object> specs;
  for (const TensorType &type : types.tensors)
    specs.emplace_back(spec(tuple_of(type.shape), wrap(type.dtype)));
  return filled(types.form.get(), specs);
}

nb::object stats(nb::handle self) {
  const data::DatasetStats stats = dataset_in(self).pipeline.stats();
  const nb::object type = nb::module_::import_("weft.data").attr("DatasetStats");
  return type(stats.elements, stats.bytes, stats.seconds, stats.waited_seconds);
}

std::string repr(nb::handle self) {
  const auto size = nb::inst_ready(self) ? dataset_in(self).pipeline.size() : std::nullopt;
  return "<weft.data." + text_of(nb::object(self.type().attr("__name__"))) + ", " +
         (size ? std::to_string(*size) : "unknown size") + ">";
}

using DatasetClass = ClassOf<BoundDataset, Visitable>;

void define_functions_of_elements(DatasetClass &type) {
  type.def<map>(
          "map", Arg("f").as(kFunction), keyword_only, Returns{kOther},
          R"(`f(element)` of each element; the parts of a plain tuple are arguments of their own.

A function with a parameter named `generator` is handed a `wf.random.Generator` of that
element alone, the same whatever the number of workers.

    >>> [int(x) for x in wf.data.range(3).map(lambda x: x * 10)]
    [0, 10, 20]

Args:
    f: gives the new element
    workers: threads that call it, each for an element of its own; what they make is handed
        out in order. With 0 it is called where its result is wanted
    seed: of the generators; by default the seed that the data set has drawn

Raises:
    ValueError: for a number of workers below 0 or above 1024
)")
      .def<filter>("filter", Arg("predicate").as(kFunction), Returns{kSame},
                   R"(The elements of which `predicate(element)`, a bool or a bool scalar, is true.

    >>> [int(x) for x in wf.data.range(6).filter(lambda x: x % 2 == 0)]
    [0, 2, 4]
)")
      .def<bucket>(
          "bucket", Arg("length").as(kFunction), Arg("boundaries").as("Sequence[int]"),
          Arg("batch_sizes").as("int | Sequence[int]"), Positional{3}, Returns{kSame},
          R"(Batches of elements of similar `length(element)`, padded to the largest of the batch.

    >>> words = wf.data.from_iterable([[1, 2, 3], [4], [5], [6, 7, 8, 9]])
    >>> [x.tolist() for x in words.bucket(len, [2], 2)]
    [[[4], [5]], [[1, 2, 3, 0], [6, 7, 8, 9]]]

Args:
    boundaries: lengths that part the buckets, ascending: [10, 20] makes buckets of lengths
        below 10, of 10 to 19, and from 20 on
    batch_sizes: one more than there are boundaries, or a single one

Raises:
    ValueError: for boundaries that do not ascend, or another number of sizes
)")
      .def<interleave>(
          "interleave", Arg("open").as(kFunction), keyword_only, Returns{kOther},
          R"(The elements of the data sets `open(element)`, of which `cycle` are open and take turns,
of `block` elements each.

    >>> [int(x) for x in wf.data.range(2).interleave(lambda x: [x, x + 10], cycle=2)]
    [0, 1, 10, 11]

Raises:
    ValueError: for a cycle or block below 1, or a cycle above 2^20
)");
}

void define_batches_and_orders(DatasetClass &type) {
  type.def<stage<&Pipeline::batch, std::int64_t, data::BatchOptions>>(
          "batch(size)", Positional{2}, Returns{kSame},
          R"(`size` elements at a time, stacked along a new first axis; fewer at the end of an epoch.

    >>> [x.tolist() for x in wf.data.range(5).batch(2)]
    [[0, 1], [2, 3], [4]]

Args:
    drop_remainder: drops the last elements if they are too few for a batch
    padding: fills tensors whose sizes differ up with it to the largest size of each axis

Raises:
    ValueError: for a size below 1; in a loop ShapeError, DTypeError or ValueError for
        elements that do not fit together
)")
      .def<stage<&Pipeline::shuffle, data::ShuffleOptions>>(
          "shuffle", Positional{2}, Returns{kSame},
          R"(A random order: of the `buffer` elements that come next one is handed out, and replaced
by the one behind them; 0 is all of them. Shuffle before `repeat` and `batch`.

    >>> sorted(int(x) for x in wf.data.range(4).shuffle(seed=1))
    [0, 1, 2, 3]

Args:
    seed: by default drawn once from the process's generator; checkpoints keep it
    reshuffle: whether every epoch has an order of its own

Raises:
    ValueError: for a negative buffer, or one of 0 where there is no end
)")
      .def<stage<&Pipeline::repeat, std::optional<std::int64_t>>>(
          "repeat", Arg("count") = nb::none(), Returns{kSame},
          R"(Several epochs as one; without end if no count is given.

    >>> [int(x) for x in wf.data.range(2).repeat(2)]
    [0, 1, 0, 1]
)")
      .def<stage<&Pipeline::take, std::int64_t>>("take(count)", Returns{kSame},
                                                 R"(The first `count` elements.

    >>> [int(x) for x in wf.data.range(5).take(2)]
    [0, 1]
)")
      .def<stage<&Pipeline::skip, std::int64_t>>("skip(count)", Returns{kSame},
                                                 R"(All but the first `count` elements.

    >>> [int(x) for x in wf.data.range(5).skip(3)]
    [3, 4]
)")
      .def<stage<&Pipeline::shard, std::int64_t, std::int64_t>>(
          "shard(count, index)", Returns{kSame},
          R"(Every `count`-th element, from number `index` on: what one of several processes works on.
A shuffle before it needs the same seed in all of them.

    >>> [int(x) for x in wf.data.range(5).shard(2, 1)]
    [1, 3]

Raises:
    ValueError: unless 0 <= index < count
)")
      .def(
          "split(fraction)",
          [](nb::handle self, double fraction) {
            const BoundDataset &dataset = dataset_in(self);
            auto [first, second] = dataset.pipeline.split(fraction, kNowhere);
            return nb::make_tuple(behind(self, std::move(first), dataset.bare),
                                  behind(self, std::move(second), dataset.bare));
          },
          Returns{"tuple[Dataset[_T], Dataset[_T]]"},
          R"(The first part of the elements, and the rest: `train, test = d.split(0.8)`. What is
before this stage has the order of its first epoch for ever.

    >>> train, test = wf.data.range(10).split(0.8)
    >>> len(train), len(test)
    (8, 2)

Raises:
    ValueError: for a fraction outside of [0, 1], an unknown size, and a shuffle before it
        that has no seed
)");
}

void define_other_stages(DatasetClass &type) {
  type.def(
          "enumerate",
          [](nb::handle self, std::int64_t start) {
            return zip(nb::borrow<nb::args>(nb::make_tuple(dataset_of(numbers_from(start)), self)));
          },
          Arg("start") = 0, Returns{"Dataset[tuple[Tensor, _T]]"},
          R"(Each element with its number, an int64 scalar.

    >>> [(int(i), int(x)) for i, x in wf.data.range(7, 9).enumerate()]
    [(0, 7), (1, 8)]

Raises:
    ValueError: in a loop, for a number that int64 does not hold
)")
      .def(
          "concatenate(*others)",
          [](nb::handle self, const nb::args &others) {
            return concatenate(
                nb::borrow<nb::args>(nb::object(nb::make_tuple(self) + nb::object(others))));
          },
          Returns{kOther},
          R"(The elements of this data set and then those of others.

    >>> [int(x) for x in wf.data.range(2).concatenate(wf.data.range(5, 7))]
    [0, 1, 5, 6]
)")
      .def<stage<&Pipeline::cache>>(
          "cache", Returns{kSame},
          R"(Keeps elements in memory once they are made. What is before this stage has the order of
its first epoch for ever.

    >>> [int(x) for x in wf.data.range(3).cache()]
    [0, 1, 2]
)")
      .def<stage<&Pipeline::prefetch, std::int64_t>>(
          "prefetch", Arg("count") = 2, Returns{kSame},
          R"(A thread makes up to `count` elements ahead while the loop is at work on others.

    >>> [int(x) for x in wf.data.range(3).prefetch(2)]
    [0, 1, 2]
)")
      .def<stage<&Pipeline::with_open_sizes>>(
          "with_open_sizes", Returns{kSame},
          R"(The same elements, whose sizes may change from one to the next: a loop in a traced function
leaves all of them open, where it else takes those of the first element.

    >>> rows = wf.data.from_iterable([[1.0], [2.0, 3.0]])
    >>> @wf.function
    ... def total():
    ...     sum = 0.0
    ...     for row in rows.with_open_sizes():
    ...         sum += wf.sum(row)
    ...     return sum
    >>> float(total())
    6.0
)");
}

void define_loops(DatasetClass &type) {
  type.def(
          "__iter__",
          [](nb::handle self) {
            const BoundDataset &dataset = dataset_in(self);
            auto pass = without_lock([&] { return dataset.pipeline.start(); });
            return new DataIterator(std::move(pass), dataset.held);
          },
          Returns{"Iterator[_T]"})
      .def("__len__",
           [](nb::handle self) {
             if (const auto size = dataset_in(self).pipeline.size()) return *size;
             raise_type_error("how many elements this data set has is not known before they are "
                              "made, or there is no end: its size is None");
           })
      .def("__bool__", [](nb::handle) { return true; })
      .def<repr>("__repr__")
      .def("__copy__",
           [](nb::handle self) {
             const nb::object copy = dataset_of(BoundDataset(dataset_in(self)), self.type());
             if (nb::hasattr(self, "__dict__"))
               copy.attr("__dict__").attr("update")(self.attr("__dict__"));
             return copy;
           })
      .def_prop_ro(
          "size", [](nb::handle self) { return dataset_in(self).pipeline.size(); },
          R"(How many elements an epoch has; None if that is not known, or there is no end.

    >>> wf.data.range(5).batch(2).size
    3
    >>> wf.data.range(5).repeat().size is None
    True
)")
      .def_prop_ro(
          "element_spec", &element_spec, Returns{"Any"},
          R"(A `TensorSpec` for each tensor, in the structure of an element. The first element is made
for it; sizes that may change from one to the next are None.

    >>> wf.data.from_tensors(np.zeros((5, 3), np.float32)).batch(2).element_spec
    TensorSpec(shape=(None, 3), dtype=weft.float32, name=None)

Raises:
    ValueError: if there is no element
)")
      .def_prop_ro("stats", &stats, Returns{"DatasetStats"}, "Counters of all loops so far.")
      .def(
          "state", [](nb::handle self) { return dataset_in(self).pipeline.state().saved_state(); },
          R"(The position, as a text: the number of the epoch, and how many of its elements have been
handed out.

    >>> numbers = wf.data.range(4)
    >>> loop = iter(numbers)
    >>> int(next(loop)), int(next(loop))
    (0, 1)
    >>> state = numbers.state()
    >>> other = wf.data.range(4)
    >>> other.restore_state(state)
    >>> [int(x) for x in other]
    [2, 3]
)")
      .def(
          "restore_state(state)",
          [](nb::handle self, const std::string &text) {
            auto &state = dataset_in(self).pipeline.state();
            state.check_state(text);
            state.restore_state(text);
          },
          R"(Has the next loop go on where that position was.

Raises:
    ValueError: if it is the position of another data set, or none
)");
}

} // namespace

void define_dataset(nb::module_ &module, nb::module_ &data) {
  ClassOf<DataIterator>(module, "internal_DataIterator", nb::is_final(),
                        nb::type_slots(held_slots<DataIterator>))
      .def("__iter__", [](nb::object self) { return self; })
      .def<&DataIterator::next>("__next__");
  DatasetClass type(data, "Dataset", nb::type_slots(held_slots<BoundDataset>),
                    R"(A sequence of elements, as the functions of `weft.data` make it.

Every stage is a new data set. A loop that starts after a state was restored goes on behind the
element that was the last before it was saved; every other loop starts a new epoch.

    >>> squares = wf.data.range(6).map(lambda x: x * x).batch(4)
    >>> for batch in squares:
    ...     print(batch)
    [0 1 4 9]
    [16 25]
    >>> len(squares), squares.element_spec
    (2, TensorSpec(shape=(None,), dtype=weft.int64, name=None))
)");
  publish(data, type);
  type.attr("__class_getitem__") = checked(
      PyClassMethod_New(nb::object(nb::module_::import_("types").attr("GenericAlias")).ptr()));
  type.def("__init__", [](BoundDataset *, const nb::args &, const nb::kwargs &) {
    raise_type_error("a data set is made by the functions of weft.data: from_tensors(images, "
                     "labels), from_iterable(anything), range(10)");
  });
  define_functions_of_elements(type);
  define_batches_and_orders(type);
  define_other_stages(type);
  define_loops(type);
}

} // namespace weft::python

// Data sets: sources in memory, what joins data sets, and iterators.
#include "Data.h"
#include "Define.h"
#include "Stages.h"
#include "Staging.h"
#include "Text.h"

#include <mutex>

#include <nanobind/stl/optional.h>

namespace weft::python {

using data::detail::Pass;
using data::detail::Pipeline;

const data::detail::ElementTypes &BoundDataset::types_of_elements() {
  if (!types) {
    data::detail::ElementTypes found = without_lock([&] { return pipeline.types(); });
    if (!types) types = std::move(found);
  }
  return *types;
}

BoundDataset &dataset_in(nb::handle object) {
  if (!nb::inst_ready(object))
    throw StateError("this " + std::string(Py_TYPE(object.ptr())->tp_name) +
                     " was never made: data sets come from the functions of weft.data");
  return *nb::inst_ptr<BoundDataset>(object);
}

nb::object dataset_of(BoundDataset dataset, nb::handle type) {
  nb::object object = nb::inst_alloc(type.is_valid() ? type : nb::type<BoundDataset>());
  new (nb::inst_ptr<BoundDataset>(object)) BoundDataset(std::move(dataset));
  nb::inst_mark_ready(object);
  return object;
}

nb::object keeper_of(nb::object function) {
  return nb::cast(new Callable(std::move(function)), nb::rv_policy::take_ownership);
}

namespace {

constexpr std::source_location kNowhere;
constexpr const char *kSet = "Dataset[Any]";

bool is_dataset(nb::handle object) { return nb::isinstance<BoundDataset>(object); }

//===----------------------------------------------------------------------===//
// Iterables
//===----------------------------------------------------------------------===//

/// Reads elements; a list may stand for a tuple, as in batches of loaders of others.
class ElementReader {
public:
  ElementReader(const char *stage, const CallablePointer &slot, bool lists_are_tuples = false)
      : reader_(std::make_shared<ItemReader>(stage, slot)), lists_are_tuples_(lists_are_tuples) {}
  Item operator()(const nb::object &element) const {
    return reader_->read(lists_are_tuples_ && PyList_CheckExact(element.ptr()) != 0
                             ? checked(PyList_AsTuple(element.ptr())).ptr()
                             : element.ptr());
  }

private:
  std::shared_ptr<ItemReader> reader_;
  bool lists_are_tuples_;
};

/// What `next(iterator)` gives until it is over, for iterators that `begin(for_types)` gives.
template <class Begin>
Pipeline iterated(const CallablePointer &slot, const ElementReader &read, Begin begin) {
  constexpr const char *kStage = "from_generator";
  return Pipeline::generator(
      std::function<data::detail::Generator(bool)>([slot, read, begin](bool for_types) {
        return in_function(kStage, slot, [&]() -> data::detail::Generator {
          nb::object iterator = begin(for_types);
          return [slot, read, kept = keep_in(slot, std::move(iterator))] {
            return in_function(kStage, slot, [&]() -> std::optional<Item> {
              const nb::object element = nb::steal(PyIter_Next(object_in(*kept).ptr()));
              if (element.is_valid()) return read(element);
              if (PyErr_Occurred() != nullptr) throw nb::python_error();
              return std::nullopt;
            });
          };
        });
      }));
}

/// An iterator, which there is one pass over. Its first element may be looked at before.
class Once {
public:
  Once(const CallablePointer &slot, std::string type)
      : slot_(slot), first_(keep_in(slot, nb::list())), type_(std::move(type)) {}
  nb::object operator()(bool for_types) const {
    if (*begun_)
      throw StateError("from_iterable: this " + type_ +
                       " can be gone through once, and was: hand over what makes one, such as the "
                       "generator function itself, or a list");
    const nb::object first = object_in(*first_), iterator = function_in(*slot_);
    const nb::module_ tools = nb::module_::import_("itertools");
    if (for_types && nb::len(first) == 0) first.attr("extend")(tools.attr("islice")(iterator, 1));
    *begun_ = !for_types;
    return for_types ? first.attr("__iter__")() : tools.attr("chain")(first, iterator);
  }

private:
  CallablePointer slot_;
  KeptPointer first_;
  std::string type_;
  std::shared_ptr<bool> begun_ = std::make_shared<bool>(false);
};

nb::object from_sequence(const nb::object &rows, const std::string &type, bool lists_are_tuples) {
  const nb::object keeper = keeper_of(rows);
  const CallablePointer slot = slot_of(keeper);
  const auto size = static_cast<std::int64_t>(nb::len(rows));
  const ElementReader read("from_iterable", slot, lists_are_tuples);
  return dataset_of(
      BoundDataset(Pipeline::rows(type + " of " + std::to_string(size), size,
                                  [slot, read](std::int64_t index) {
                                    return in_function("from_iterable", slot, [&] {
                                      return read(nb::object(function_in(*slot)[nb::int_(index)]));
                                    });
                                  }),
                   false, {keeper}));
}

nb::object from_iterable(const nb::object &iterable, const Place &place,
                         bool lists_are_tuples = false) {
  if (is_dataset(iterable)) return iterable;
  const std::string type = Py_TYPE(iterable.ptr())->tp_name;
  const nb::handle of = iterable.type();
  const std::string name = text_of(nb::object(of.attr("__name__")));
  if (nb::isinstance<nb::str>(iterable) || nb::isinstance<nb::bytes>(iterable) ||
      nb::isinstance<nb::dict>(iterable))
    raise_type_error("a " + name +
                     " is no data set: hand over a list, or for the rows of named tensors "
                     "from_tensors({...})");
  if (is_tensor(iterable.ptr()) || is_variable(iterable.ptr()) || nb::hasattr(of, "__array__"))
    return rows_of_tensors(iterable);
  const bool bare =
      !nb::hasattr(of, "__iter__") && nb::hasattr(of, "__getitem__") && nb::hasattr(of, "__len__");
  const nb::object sequences = nb::module_::import_("collections.abc").attr("Sequence");
  if (bare || nb::isinstance(iterable, sequences))
    return from_sequence(PyList_CheckExact(iterable.ptr()) != 0 ? nb::object(nb::tuple(iterable))
                                                                : iterable,
                         name, lists_are_tuples);
  const nb::object iterator = nb::steal(PyObject_GetIter(iterable.ptr()));
  if (!iterator.is_valid()) {
    if (PyErr_ExceptionMatches(PyExc_TypeError) == 0 || nb::hasattr(of, "__iter__"))
      throw nb::python_error();
    PyErr_Clear();
    raise_type_error(place.text() + " is " + shown_value(iterable) +
                     ": a data set, or what can be iterated is wanted");
  }
  const nb::object keeper = keeper_of(iterable);
  const CallablePointer slot = slot_of(keeper);
  const ElementReader read("from_generator", slot, lists_are_tuples);
  Pipeline pipeline = iterator.is(iterable)
                          ? iterated(slot, read, Once(slot, name))
                          : iterated(slot, read, [slot](bool) {
                              return checked(PyObject_GetIter(function_in(*slot).ptr()));
                            });
  return dataset_of(BoundDataset(std::move(pipeline), false, {keeper}));
}

nb::object from_generator(const nb::object &f, const nb::args &args) {
  if (PyCallable_Check(f.ptr()) == 0)
    raise_type_error("from_generator: a function is wanted, not a " +
                     text_of(nb::object(f.type().attr("__name__"))) +
                     ": from_iterable takes what is iterable by itself");
  const nb::object keeper = keeper_of(f);
  const CallablePointer slot = slot_of(keeper);
  Pipeline pipeline = iterated(slot, ElementReader("from_generator", slot),
                               [slot, given = keep_in(slot, nb::object(args))](bool) {
                                 const nb::object made = checked(PyObject_CallObject(
                                     function_in(*slot).ptr(), object_in(*given).ptr()));
                                 return checked(PyObject_GetIter(made.ptr()));
                               });
  return dataset_of(BoundDataset(std::move(pipeline), false, {keeper}));
}

nb::object from_tensors(const nb::args &tensors) {
  if (tensors.size() == 0) throw ValueError("from_tensors: there is no tensor to take rows of");
  return rows_of_tensors(tensors.size() == 1 ? nb::object(tensors[0]) : nb::object(tensors));
}

/// A single element.
nb::object from_element(nb::handle element) {
  const nb::object keeper = keeper_of(nb::none());
  const Item item = ItemReader("from_element", slot_of(keeper)).read(element.ptr());
  return dataset_of(BoundDataset(
      Pipeline::rows("an element", 1, [item](std::int64_t) { return item; }), false, {keeper}));
}

nb::object range(const nb::args &bounds) {
  if (bounds.size() == 0 || bounds.size() > 3)
    raise_type_error("range takes from 1 to 3 integers, not " + std::to_string(bounds.size()));
  std::vector<std::int64_t> given;
  for (const nb::handle bound : bounds)
    given.push_back(to_integer(bound.ptr(), {"range", "a bound"}));
  if (given.size() == 1) given.insert(given.begin(), 0);
  if (given.size() == 2) given.push_back(1);
  return dataset_of(BoundDataset(Pipeline::range(given[0], given[1], given[2], kNowhere), true));
}

//===----------------------------------------------------------------------===//
// Data sets side by side and behind each other
//===----------------------------------------------------------------------===//

/// What data sets are together.
struct Joined {
  Joined(const char *function, const nb::args &datasets) {
    if (datasets.size() == 0)
      raise_type_error(std::string(function) + " takes one or more data sets");
    for (std::size_t i = 0; i < datasets.size(); ++i) {
      const std::string name = "datasets[" + std::to_string(i) + "]";
      add(as_dataset(datasets[i], {function, name.c_str()}));
    }
  }
  void add(nb::handle object) {
    const BoundDataset &dataset = dataset_in(object);
    pipelines.push_back(dataset.pipeline);
    bare = bare && dataset.bare;
    held.insert(held.end(), dataset.held.begin(), dataset.held.end());
  }

  std::vector<Pipeline> pipelines;
  bool bare = true; ///< whether all are
  std::vector<nb::object> held;
};

} // namespace

nb::object zip(const nb::args &datasets) {
  Joined joined("zip", datasets);
  data::detail::JoinFunction join;
  // Of tensors alone the tuple is a null form, and batches are those of the inputs.
  if (!joined.bare || joined.pipelines.size() < 2) {
    joined.held.insert(joined.held.begin(), keeper_of(nb::none()));
    const CallablePointer slot = slot_of(joined.held[0]);
    join = [slot, read = ElementReader("zip", slot)](const std::vector<Item> &items) {
      return in_function("zip", slot, [&] {
        nb::list parts;
        for (const Item &item : items) parts.append(object_of(item));
        return read(nb::tuple(parts));
      });
    };
  }
  return dataset_of(BoundDataset(Pipeline::zip(std::move(joined.pipelines), std::move(join)), false,
                                 std::move(joined.held)));
}

nb::object concatenate(const nb::args &datasets) {
  Joined joined("concatenate", datasets);
  return dataset_of(BoundDataset(Pipeline::concatenate(std::move(joined.pipelines)), joined.bare,
                                 std::move(joined.held)));
}

nb::object rows_of_tensors(nb::handle structure) {
  const nb::object keeper = keeper_of(nb::none());
  ItemReader reader("from_tensors", slot_of(keeper));
  Item item = reader.read(structure.ptr(), Sharing::if_possible);
  const bool bare = item.form == nullptr && item.tensors.size() == 1;
  return dataset_of(BoundDataset(
      Pipeline::tensors(std::move(item.tensors), std::move(item.form), kNowhere), bare, {keeper}));
}

nb::object as_dataset(nb::handle data, const Place &place) {
  return from_iterable(nb::borrow(data), place);
}

//===----------------------------------------------------------------------===//
// Iterators
//===----------------------------------------------------------------------===//

namespace {

class JoinedPass final : public Pass {
public:
  explicit JoinedPass(std::vector<std::shared_ptr<Pass>> passes) : passes_(std::move(passes)) {}
  bool next(Item &item) override {
    Item whole;
    for (const auto &pass : passes_) {
      Item part;
      if (!pass->next(part)) return false;
      for (Tensor &tensor : part.tensors) whole.tensors.push_back(std::move(tensor));
    }
    item = std::move(whole);
    return true;
  }

private:
  std::vector<std::shared_ptr<Pass>> passes_;
};

} // namespace

nb::object DataIterator::next() {
  Item item;
  bool more = false;
  try {
    more = without_lock([&] {
      const std::lock_guard lock(mutex);
      if (pass == nullptr) return false;
      if (pass->next(item)) return true;
      pass.reset();
      return false;
    });
  } catch (...) {
    set_error();
    nb::python_error error;
    show_users_lines(error);
    throw nb::python_error();
  }
  if (!more) {
    PyErr_SetNone(PyExc_StopIteration);
    throw nb::python_error();
  }
  return object_of(item);
}

DataIterator::~DataIterator() {
  held.clear(); // before threads go on that would call what the collector is taking apart
  without_lock([&] { pass.reset(); }); // its threads may want the lock before they end
}

std::shared_ptr<Pass> start_all(std::span<const Pipeline> pipelines) {
  if (pipelines.size() == 1) return pipelines[0].start();
  std::vector<std::shared_ptr<Pass>> passes;
  for (const Pipeline &each : pipelines) passes.push_back(each.start());
  return std::make_shared<JoinedPass>(std::move(passes));
}

void define_data(nb::module_ &module) {
  nb::module_ data = family("data");
  define_dataset(module, data);
  define<from_tensors>(
      data, "from_tensors(*tensors)", Returns{kSet},
      R"(The rows of tensors or arrays, along their first axes, which have one size: of one as they
are, of several as a tuple, of a tuple, dict or dataclass in its structure. Arrays that are as a
tensor's are not copied: leave them as they are while the data set is used.

    >>> xs, ys = np.zeros((6, 2), np.float32), np.arange(6)
    >>> [x.shape for x, y in wf.data.from_tensors(xs, ys).batch(4)]
    [(4, 2), (2, 2)]

Raises:
    ShapeError: if the sizes differ, or a tensor has no axis
    StateError: for a tensor of a traced function
)");
  define<rows_of_tensors>(data, "from_tensor_slices", Arg("tensors").none(), Returns{kSet},
                          R"(As `from_tensors` of one structure.

    >>> [int(x) for x in wf.data.from_tensor_slices([1, 2, 3])]
    [1, 2, 3]
)");
  define<from_element>(data, "from_element", Arg("element").none(), Returns{kSet},
                       R"(A single element.

    >>> list(wf.data.from_element(wf.tensor(7)))
    [tensor(7, shape=(), dtype=int32)]
)");
  define<range>(
      data, "range", Arg("*bounds").as("int"), Returns{"Dataset[Tensor]"},
      R"(start, start + step, ... before stop, as int64 scalars: `range(stop)`, `range(start, stop)`,
`range(start, stop, step)`.

    >>> [int(x) for x in wf.data.range(2, 8, 2)]
    [2, 4, 6]

Raises:
    ValueError: if the step is 0
)");
  define<from_generator>(
      data, "from_generator", Arg("f").none().as("Callable[..., Iterable[Any]]"), Arg("*args"),
      Returns{kSet},
      R"(What `f(*args)` yields, called anew for each epoch. A loop that resumes goes through the
elements that it passes over.

    >>> def pairs():
    ...     yield 1.0, 2
    ...     yield 3.0, 4
    >>> [float(x) for x, n in wf.data.from_generator(pairs)]
    [1.0, 3.0]
)");
  define(
      data, "from_iterable",
      [](nb::object iterable) { return from_iterable(iterable, {"from_iterable", "iterable"}); },
      Arg("iterable").none(), Returns{kSet},
      R"(The elements of any iterable. Of a tensor or array they are its rows. A sequence, and what
has `__len__` and `__getitem__` alone, is asked for the elements that a loop comes to, in any
order; others are gone through anew in each epoch. An iterator can be gone through once.

    >>> [x.tolist() for x in wf.data.from_iterable([[1, 2], [3, 4]])]
    [[1, 2], [3, 4]]

Raises:
    TypeError: for what is not iterable, text and dicts
    StateError: in the second loop over an iterator
)");
  define(
      data, "as_dataset", [](nb::handle of) { return as_dataset(of, {"as_dataset", "data"}); },
      Arg("data").none(), Returns{kSet},
      R"(A data set as it is, and any other iterable as `from_iterable` makes one of it.

    >>> wf.data.as_dataset([1.0, 2.0])
    <weft.data.Dataset, 2>
)");
  define<zip>(data, "zip(*datasets)", Returns{kSet},
              R"(Elements side by side, as a tuple; as many as the shortest has.

    >>> [(int(x), int(y)) for x, y in wf.data.zip(wf.data.range(3), [4, 5])]
    [(0, 4), (1, 5)]
)");
  define<concatenate>(data, "concatenate(*datasets)", Returns{kSet},
                      R"(The elements of one after those of the other.

    >>> [int(x) for x in wf.data.concatenate(wf.data.range(2), [5, 6])]
    [0, 1, 5, 6]
)");
  // Batches of a loader that are lists, [x, y], are tuples.
  define(
      module, "internal_batches_of",
      [](nb::object of) { return from_iterable(of, {"fit", "data"}, /*lists_are_tuples=*/true); },
      Arg("data").none());
  // A data set as an object of a subclass.
  define(module, "internal_as(type, dataset)", [](nb::handle type, nb::handle dataset) {
    return dataset_of(BoundDataset(dataset_in(dataset)), type);
  });
}

} // namespace weft::python

// Data sets: the stages, with functions of Python in them, and iterators.
#include "Data.h"
#include "Define.h"
#include "Text.h"

#include <mutex>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>
#include <weft/random.h>

namespace weft::python {

using data::detail::Pass;
using data::detail::Pipeline;

const data::detail::ElementTypes &BoundPipeline::types_of_elements() {
  if (!types) {
    data::detail::ElementTypes found = without_lock([&] { return pipeline.types(); });
    if (!types) types = std::move(found);
  }
  return *types;
}

namespace {

constexpr std::source_location kNowhere;

/// What `body` gives, with the lock of Python; errors of Python leave it as KeptError. `body` calls
/// a user's function: a StopIteration out of it is a RuntimeError, as it is in a generator (PEP
/// 479), for a loop would take it for the end of the data.
template <class Body>
auto in_function(const char *stage, const CallablePointer &slot, const Body &body) {
  const Entered entered;
  try {
    try {
      return body();
    } catch (nb::python_error &error) {
      if (!error.matches(PyExc_StopIteration)) throw;
      nb::raise_from(error, PyExc_RuntimeError, "%s: the function raised StopIteration", stage);
    }
  } catch (const nb::python_error &error) {
    throw KeptError(slot, error);
  }
}

/// The reader of what a stage's function gives, used with the lock of Python.
std::shared_ptr<ItemReader> reader_for(const char *stage, const CallablePointer &slot) {
  return std::make_shared<ItemReader>(stage, slot);
}

//===----------------------------------------------------------------------===//
// Functions of stages
//===----------------------------------------------------------------------===//

data::detail::MapFunction map_function(nb::handle callable, bool seeded) {
  const CallablePointer slot = slot_of(callable);
  return [slot, seeded, reader = reader_for("map", slot)](const Item &item, std::uint64_t seed) {
    return in_function("map", slot, [&] {
      const nb::object function = function_in(*slot);
      nb::dict keywords;
      if (seeded) keywords["generator"] = nb::cast(random::Generator(seed));
      const nb::object made = call_with_item(function, item, keywords);
      if (made.is_none())
        raise_type_error("map: the function returned None: it must return the new element");
      return reader->read(made.ptr());
    });
  };
}

data::detail::Predicate predicate_of(nb::handle callable) {
  return [slot = slot_of(callable)](const Item &item) {
    return in_function("filter", slot, [&] {
      const nb::object kept = call_with_item(function_in(*slot), item);
      const int truth = PyObject_IsTrue(kept.ptr());
      if (truth < 0) throw nb::python_error();
      return truth != 0;
    });
  };
}

data::detail::LengthFunction length_of(nb::handle callable) {
  return [slot = slot_of(callable)](const Item &item) {
    return in_function("bucket", slot, [&] {
      const nb::object length = call_with_item(function_in(*slot), item);
      const nb::object number = checked(PyNumber_Long(length.ptr()));
      return to_integer(number.ptr(), {"bucket", "what the length function returns"});
    });
  };
}

/// What `next(iterator)` gives until it is over.
data::detail::Generator generator_of(nb::object iterator, const CallablePointer &slot) {
  return [slot, kept = keep_in(slot, std::move(iterator)),
          reader = reader_for("from_generator", slot)] {
    return in_function("from_generator", slot, [&]() -> std::optional<Item> {
      const nb::object element = nb::steal(PyIter_Next(object_in(*kept).ptr()));
      if (element.is_valid()) return reader->read(element.ptr());
      if (PyErr_Occurred() != nullptr) throw nb::python_error();
      return std::nullopt;
    });
  };
}

/// `begin(for_types)` gives an iterator.
BoundPipeline from_iterators(nb::handle begin) {
  return {Pipeline::generator(
      std::function<data::detail::Generator(bool)>([slot = slot_of(begin)](bool for_types) {
        return in_function("from_generator", slot,
                           [&] { return generator_of(function_in(*slot)(for_types), slot); });
      }))};
}

/// `row(i)` gives an element.
BoundPipeline from_rows(const std::string &description, std::int64_t size, nb::handle row) {
  const CallablePointer slot = slot_of(row);
  return {Pipeline::rows(description, size,
                         [slot, reader = reader_for("from_iterable", slot)](std::int64_t index) {
                           return in_function("from_iterable", slot, [&] {
                             const nb::object element = function_in(*slot)(index);
                             return reader->read(element.ptr());
                           });
                         })};
}

BoundPipeline from_tensors(nb::handle structure, nb::handle keeper) {
  ItemReader reader("from_tensors", slot_of(keeper));
  Item item = reader.read(structure.ptr(), Sharing::if_possible);
  const bool bare = item.form == nullptr && item.tensors.size() == 1;
  return {Pipeline::tensors(std::move(item.tensors), std::move(item.form), kNowhere), bare};
}

/// start, start + 1, ... for as long as anybody asks; in a loop ValueError for one behind int64.
BoundPipeline numbers_from(std::int64_t start) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  // Nobody comes to the end of so many.
  if (start < most / 2) return {Pipeline::range(start, most, 1, kNowhere), true};
  return {Pipeline::rows(
              "range(" + std::to_string(start) + ", " + std::to_string(most) + ", 1)", most,
              [start](std::int64_t index) {
                if (index > most - start)
                  throw ValueError("enumerate: the number of element " + std::to_string(index) +
                                   " is " + std::to_string(start) + " + " + std::to_string(index) +
                                   ", which int64 does not hold");
                return Item{{tensor(start + index)}, nullptr};
              }),
          true};
}

/// A single element.
BoundPipeline from_element(nb::handle structure, nb::handle keeper) {
  const Item item = ItemReader("from_element", slot_of(keeper)).read(structure.ptr());
  return {Pipeline::rows("an element", 1, [item](std::int64_t) { return item; })};
}

std::vector<Pipeline> pipelines_of(const nb::sequence &list) {
  std::vector<Pipeline> pipelines;
  for (const nb::handle each : list) pipelines.push_back(nb::cast<BoundPipeline &>(each).pipeline);
  return pipelines;
}

/// The elements side by side, as a tuple.
BoundPipeline zip(const nb::sequence &inputs, nb::handle keeper) {
  data::detail::JoinFunction join;
  bool bare = true;
  for (const nb::handle each : inputs) bare = bare && nb::cast<BoundPipeline &>(each).bare;
  // Of tensors alone the tuple is a null form, and batches are those of the inputs.
  if (!bare || nb::len(inputs) < 2)
    join = [slot = slot_of(keeper),
            reader = reader_for("zip", slot_of(keeper))](const std::vector<Item> &items) {
      return in_function("zip", slot, [&] {
        nb::list parts;
        for (const Item &item : items) parts.append(object_of(item));
        return reader->read(nb::tuple(parts).ptr());
      });
    };
  return {Pipeline::zip(pipelines_of(inputs), std::move(join))};
}

BoundPipeline concatenate(const nb::sequence &inputs) {
  bool bare = true;
  for (const nb::handle each : inputs) bare = bare && nb::cast<BoundPipeline &>(each).bare;
  return {Pipeline::concatenate(pipelines_of(inputs)), bare};
}

/// `open(element)` gives a data set of Python, which is kept as long as its part of the loop.
BoundPipeline interleave(const BoundPipeline &self, nb::handle open, std::int64_t cycle,
                         std::int64_t block) {
  const auto opened = [slot = slot_of(open)](const Item &item) {
    return in_function("interleave", slot, [&] {
      const nb::object dataset = call_with_item(function_in(*slot), item);
      const nb::object pipeline = dataset.attr("_pipeline");
      return nb::cast<BoundPipeline &>(pipeline).pipeline.keeping(keep_in(slot, dataset));
    });
  };
  return {self.pipeline.interleave(opened, {.cycle = cycle, .block = block}, kNowhere)};
}

//===----------------------------------------------------------------------===//
// Iterators
//===----------------------------------------------------------------------===//

/// A pass that Python goes through. Threads of Python that share it take turns.
struct DataIterator {
  using Initialized = void; // see Initialized.h
  explicit DataIterator(std::shared_ptr<Pass> started) : pass(std::move(started)) {}
  ~DataIterator() {
    without_lock([&] { pass.reset(); }); // its threads may want the lock before they end
  }
  DataIterator(const DataIterator &) = delete;
  DataIterator &operator=(const DataIterator &) = delete;

  nb::object next() {
    Item item;
    const bool more = without_lock([&] {
      const std::lock_guard turn(mutex);
      if (pass == nullptr) return false;
      if (pass->next(item)) return true;
      pass.reset();
      return false;
    });
    if (!more) {
      PyErr_SetNone(PyExc_StopIteration);
      throw nb::python_error();
    }
    return object_of(item);
  }

  std::mutex mutex;
  std::shared_ptr<Pass> pass;
};

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

nb::tuple stats_of(const BoundPipeline &self) {
  const data::DatasetStats stats = self.pipeline.stats();
  return nb::make_tuple(stats.elements, stats.bytes, stats.seconds, stats.waited_seconds);
}

/// An object of Python that stands for a form.
struct BoundForm {
  using Initialized = void; // see Initialized.h
  FormPointer form;
};

nb::tuple element_types(BoundPipeline &self) {
  const data::detail::ElementTypes &types = self.types_of_elements();
  nb::list specs;
  for (const TensorType &type : types.tensors) {
    nb::list sizes;
    for (const std::int64_t size : type.shape)
      sizes.append(size == unknown ? nb::object(nb::none()) : nb::object(nb::int_(size)));
    specs.append(nb::make_tuple(wrap(type.dtype), nb::tuple(sizes)));
  }
  return nb::make_tuple(BoundForm{types.form}, specs);
}

void define_stages(ClassOf<BoundPipeline, Visitable> &type) {
  type.def("map(f, seeded, workers, seed)",
           [](const BoundPipeline &self, nb::handle f, bool seeded, std::int64_t workers,
              std::optional<std::uint64_t> seed) {
             const int threads = static_cast<int>(workers);
             if (threads != workers)
               throw ValueError("map: the option workers is " + std::to_string(workers) +
                                ", which is no number of threads");
             return BoundPipeline{self.pipeline.map(map_function(f, seeded), seeded,
                                                    {.workers = threads, .seed = seed}, kNowhere)};
           })
      .def("filter(predicate)",
           [](const BoundPipeline &self, nb::handle predicate) {
             return BoundPipeline{self.pipeline.filter(predicate_of(predicate)), self.bare};
           })
      .def("batch(size, drop, padding)",
           [](const BoundPipeline &self, std::int64_t size, bool drop,
              std::optional<double> padding) {
             return BoundPipeline{
                 self.pipeline.batch(size, {.drop_remainder = drop, .padding = padding}, kNowhere),
                 self.bare};
           })
      .def("bucket(length, boundaries, sizes, padding, drop)",
           [](const BoundPipeline &self, nb::handle length, std::vector<std::int64_t> boundaries,
              std::vector<std::int64_t> sizes, double padding, bool drop) {
             return BoundPipeline{self.pipeline.bucket(length_of(length),
                                                       {.boundaries = std::move(boundaries),
                                                        .batch_sizes = std::move(sizes),
                                                        .padding = padding,
                                                        .drop_remainder = drop},
                                                       kNowhere),
                                  self.bare};
           })
      .def("shuffle(buffer, seed, reshuffle)",
           [](const BoundPipeline &self, std::int64_t buffer, std::optional<std::uint64_t> seed,
              bool reshuffle) {
             return BoundPipeline{
                 self.pipeline.shuffle({.buffer = buffer, .seed = seed, .reshuffle = reshuffle},
                                       kNowhere),
                 self.bare};
           })
      .def("repeat(count)",
           [](const BoundPipeline &self, std::optional<std::int64_t> count) {
             return BoundPipeline{self.pipeline.repeat(count, kNowhere), self.bare};
           })
      .def("take(count)",
           [](const BoundPipeline &self, std::int64_t count) {
             return BoundPipeline{self.pipeline.take(count, kNowhere), self.bare};
           })
      .def("skip(count)",
           [](const BoundPipeline &self, std::int64_t count) {
             return BoundPipeline{self.pipeline.skip(count, kNowhere), self.bare};
           })
      .def("shard(count, index)",
           [](const BoundPipeline &self, std::int64_t count, std::int64_t index) {
             return BoundPipeline{self.pipeline.shard(count, index, kNowhere), self.bare};
           })
      .def("split(fraction)",
           [](const BoundPipeline &self, double fraction) {
             auto [first, second] = self.pipeline.split(fraction, kNowhere);
             return std::pair(BoundPipeline{std::move(first), self.bare},
                              BoundPipeline{std::move(second), self.bare});
           })
      .def<interleave>("interleave(open, cycle, block)")
      .def(
          "cache",
          [](const BoundPipeline &self) { return BoundPipeline{self.pipeline.cache(), self.bare}; })
      .def("with_open_sizes",
           [](const BoundPipeline &self) {
             return BoundPipeline{self.pipeline.with_open_sizes(), self.bare};
           })
      .def("prefetch(count)", [](const BoundPipeline &self, std::int64_t count) {
        return BoundPipeline{self.pipeline.prefetch(count, kNowhere), self.bare};
      });
}

} // namespace

std::shared_ptr<Pass> start_all(std::span<const Pipeline> pipelines) {
  if (pipelines.size() == 1) return pipelines[0].start();
  std::vector<std::shared_ptr<Pass>> passes;
  for (const Pipeline &each : pipelines) passes.push_back(each.start());
  return std::make_shared<JoinedPass>(std::move(passes));
}

void define_data(nb::module_ &module) {
  ClassOf<BoundForm>(module, "internal_Form")
      .def("fill(leaves)", [](const BoundForm &self, const nb::sequence &leaves) {
        std::vector<nb::object> list;
        for (const nb::handle leaf : leaves) list.push_back(nb::borrow(leaf));
        return filled(self.form.get(), list);
      });
  ClassOf<DataIterator>(module, "internal_DataIterator", nb::is_final())
      .def("__iter__", [](nb::object self) { return self; })
      .def<&DataIterator::next>("__next__");
  auto type = ClassOf<BoundPipeline, Visitable>(module, "internal_Pipeline", nb::is_final());
  define_stages(type);
  type.def("size", [](const BoundPipeline &self) { return self.pipeline.size(); })
      .def<stats_of>("stats")
      .def<element_types>("types")
      .def("start",
           [](const BoundPipeline &self) {
             auto pass = without_lock([&] { return self.pipeline.start(); });
             return new DataIterator(std::move(pass));
           })
      .def("saved_state",
           [](const BoundPipeline &self) { return self.pipeline.state().saved_state(); })
      .def("restore_state(text)", [](const BoundPipeline &self, const std::string &text) {
        self.pipeline.state().check_state(text);
        self.pipeline.state().restore_state(text);
      });
  define<from_tensors>(module, "internal_from_tensors(tensors, keeper)");
  define<from_element>(module, "internal_from_element(element, keeper)");
  define<from_iterators>(module, "internal_from_iterators(begin)");
  define<from_rows>(module, "internal_from_rows(description, size, row)");
  define<zip>(module, "internal_zip(inputs, keeper)");
  define<concatenate>(module, "internal_concatenate(inputs)");
  define<numbers_from>(module, "internal_numbers_from(start)");
  define(module, "internal_data_range(start, stop, step)",
         [](std::int64_t start, std::int64_t stop, std::int64_t step) {
           return BoundPipeline{Pipeline::range(start, stop, step, kNowhere), true};
         });
}

} // namespace weft::python

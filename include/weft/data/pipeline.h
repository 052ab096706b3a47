// The part of data sets that does not depend on the C++ type of their elements.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <source_location>
#include <string>
#include <utility>
#include <vector>

#include <weft/detail/parts.h>
#include <weft/options.h>

namespace weft::data {

/// Options of `map`.
struct MapOptions {
  /// Threads that call the function, each on an element of its own; what they make, up to eight
  /// elements for each, is handed out in order. With 0 no thread is started: the function is called
  /// where its result is wanted first, never twice at a time.
  int workers = 0;
  /// Of a function that takes a generator. By default the seed that the data set has drawn.
  std::optional<std::uint64_t> seed = std::nullopt;
};
WEFT_OPTIONS(MapOptions, workers, seed)

/// Options of `shuffle`.
struct ShuffleOptions {
  /// How many elements are looked ahead; 0 is all of them, so that all orders are equally likely.
  std::int64_t buffer = 0;
  /// By default a seed is drawn from the process's generator at the first use, once for all stages
  /// of a data set; it is part of what checkpoints save.
  std::optional<std::uint64_t> seed = std::nullopt;
  /// Whether every epoch has an order of its own.
  bool reshuffle = true;
};
WEFT_OPTIONS(ShuffleOptions, buffer, seed, reshuffle)

/// Options of `batch`.
struct BatchOptions {
  /// Drops the last elements of an epoch if they are too few for a batch.
  bool drop_remainder = false;
  /// If given, tensors whose sizes differ are filled up with it to the largest size of each axis.
  std::optional<double> padding = std::nullopt;
};
WEFT_OPTIONS(BatchOptions, drop_remainder, padding)

/// Options of `bucket`.
struct BucketOptions {
  /// Lengths that part the buckets, ascending: {10, 20} makes buckets of lengths below 10, of 10 to
  /// 19, and from 20 on.
  std::vector<std::int64_t> boundaries = {};
  /// The sizes of the buckets' batches: one more than there are boundaries, or a single one.
  std::vector<std::int64_t> batch_sizes = {};
  double padding = 0;
  bool drop_remainder = false;
};
WEFT_OPTIONS(BucketOptions, boundaries, batch_sizes, padding, drop_remainder)

/// Options of `interleave`.
struct InterleaveOptions {
  std::int64_t cycle = 4; ///< data sets that are open at the same time
  std::int64_t block = 1; ///< elements taken from one before the next one follows
};
WEFT_OPTIONS(InterleaveOptions, cycle, block)

/// What a data set has handed out since it was created, over all epochs.
struct DatasetStats {
  std::int64_t elements = 0;
  std::int64_t bytes = 0;    ///< of their tensors
  double seconds = 0;        ///< since the first element was asked for, until the last one was had
  double waited_seconds = 0; ///< of these, those in which the loop waited for elements

  double elements_per_second() const { return seconds > 0 ? double(elements) / seconds : 0; }
};

} // namespace weft::data

namespace weft::data::detail {

using weft::detail::SignatureKey;

/// What an element is besides its tensors, where that differs from one to the next.
struct Form {
  explicit Form(const SignatureKey &words) : key(words) {}
  virtual ~Form() = default;
  SignatureKey key;
};

/// An element taken apart.
struct Item {
  std::vector<Tensor> tensors;
  std::shared_ptr<const Form> form; ///< null where the element's type says all
};

using MapFunction = std::function<Item(Item, std::uint64_t seed)>;
using Predicate = std::function<bool(Item)>;
using LengthFunction = std::function<std::int64_t(Item)>;
using Generator = std::function<std::optional<Item>()>;
using RowFunction = std::function<Item(std::int64_t)>;
using JoinFunction = std::function<Item(std::vector<Item>)>;

/// What the exceptions of another language's functions are besides: a stage that one passes says
/// where it was, as the messages of weft's own errors do.
class ForeignError {
public:
  ForeignError() = default;
  ForeignError(const ForeignError &) = default;
  ForeignError &operator=(const ForeignError &) = default;
  virtual ~ForeignError();
  /// "map: element 5 (digits.idx3, record 5)".
  virtual void add_note(const std::string &note) noexcept = 0;
};

class Stage;
class Progress;

/// One pass over a data set, which its range-for holds.
class Pass {
public:
  virtual ~Pass() = default;
  /// False at the end.
  virtual bool next(Item &item) = 0;
};

/// The types of the elements, as a traced loop has them.
struct ElementTypes {
  std::vector<TensorType> tensors;
  std::shared_ptr<const Form> form;
};

/// A handle of stages one behind the other, and of where a loop over them is.
class Pipeline {
public:
  Pipeline(); ///< of no elements
  explicit Pipeline(std::shared_ptr<const Stage> stage);

  static Pipeline rows(std::string description, std::int64_t size, RowFunction row);
  static Pipeline tensors(std::vector<Tensor> tensors, std::shared_ptr<const Form> form,
                          const std::source_location &where);
  static Pipeline range(std::int64_t start, std::int64_t stop, std::int64_t step,
                        const std::source_location &where);
  /// `start` is called at the start of each epoch.
  static Pipeline generator(std::function<Generator()> start);
  /// The same; it is told whether only the first element is wanted, for its type.
  static Pipeline generator(std::function<Generator(bool for_types)> start);
  static Pipeline zip(const std::vector<Pipeline> &inputs, JoinFunction join);
  static Pipeline concatenate(const std::vector<Pipeline> &inputs);

  Pipeline map(MapFunction f, bool seeded, const MapOptions &options,
               const std::source_location &where) const;
  Pipeline filter(Predicate predicate) const;
  Pipeline batch(std::int64_t size, const BatchOptions &options,
                 const std::source_location &where) const;
  Pipeline bucket(LengthFunction length, const BucketOptions &options,
                  const std::source_location &where) const;
  Pipeline shuffle(const ShuffleOptions &options, const std::source_location &where) const;
  Pipeline repeat(std::optional<std::int64_t> count, const std::source_location &where) const;
  Pipeline take(std::int64_t count, const std::source_location &where) const;
  Pipeline skip(std::int64_t count, const std::source_location &where) const;
  Pipeline shard(std::int64_t count, std::int64_t index, const std::source_location &where) const;
  std::pair<Pipeline, Pipeline> split(double fraction, const std::source_location &where) const;
  Pipeline interleave(std::function<Pipeline(Item)> open, const InterleaveOptions &options,
                      const std::source_location &where) const;
  Pipeline cache() const;
  Pipeline with_open_sizes() const;
  /// The same stages, which keep `what` as long as they live; its position is its own.
  Pipeline keeping(std::shared_ptr<const void> what) const;
  Pipeline prefetch(std::int64_t count, const std::source_location &where) const;

  std::optional<std::int64_t> size() const;
  std::shared_ptr<Pass> start() const;
  ElementTypes types() const;
  DatasetStats stats() const;
  Stateful &state() const;

private:
  std::shared_ptr<const Stage> stage_;
  std::shared_ptr<Progress> progress_;
};

//===----------------------------------------------------------------------===//
// Elements and items
//===----------------------------------------------------------------------===//

/// Whether all values of a type have the same structure, so that tensors are all there is to one.
template <class T>
constexpr bool is_fixed() {
  using weft::detail::Form;
  constexpr Form form = weft::detail::form_of<T>();
  if constexpr (form == Form::tensor) return true;
  else if constexpr (form == Form::tuple || form == Form::record)
    return weft::detail::of_parts<T, false>([]<class Part>() { return is_fixed<Part>(); });
  else return false;
}

template <class T>
struct FormOf final : Form {
  explicit FormOf(const weft::detail::Parts<T> &whole)
      : Form(whole.key()), parts(whole.without_tensors()) {}
  weft::detail::Parts<T> parts;
};

template <class T>
Item item_of(T element) {
  if constexpr (std::is_same_v<T, Tensor>) {
    return {{std::move(element)}, nullptr};
  } else if constexpr (is_fixed<T>()) {
    weft::detail::StructureReader reader;
    visit_structure(element, reader);
    return {std::move(reader.tensors), nullptr};
  } else {
    weft::detail::Parts<T> parts(std::move(element));
    auto form = std::make_shared<const FormOf<T>>(parts);
    return {std::move(parts.tensors()), std::move(form)};
  }
}

template <class T>
T element_of(Item item) {
  if constexpr (std::is_same_v<T, Tensor>) {
    return std::move(item.tensors[0]);
  } else if constexpr (is_fixed<T>()) {
    T element{};
    weft::detail::TensorReplacer replacer{.tensors = item.tensors};
    visit_structure(element, replacer);
    return element;
  } else {
    return static_cast<const FormOf<T> &>(*item.form).parts.with(item.tensors);
  }
}

} // namespace weft::data::detail

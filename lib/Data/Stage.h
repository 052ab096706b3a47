// What data sets consist of: stages, the cursors that go through them, elements not computed yet,
// sources that hold rows of arrays, and where the loops over a data set are.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "Support/Callback.h"
#include <weft/data/pipeline.h>
#include <weft/dtype.h>

namespace weft::data::detail {

class Lazy;

/// Makes elements, from any thread. Sources have one for all of their rows; other stages make one
/// for each element.
class Maker {
public:
  virtual ~Maker() = default;
  virtual Item make(std::int64_t index) const = 0;
  /// Several elements stacked along a new first axis, straight into one buffer; nothing if that is
  /// not quicker than making each.
  virtual std::optional<Item> gather(std::span<const std::int64_t>) const { return std::nullopt; }
  /// Where an element is from, for messages: "digits.idx3, record 5"; empty if not known.
  virtual std::string origin(std::int64_t) const { return {}; }
  /// What the element is side by side of, if a batch of it is that of batches of these.
  virtual const std::vector<Lazy> *columns() const { return nullptr; }
};

/// An element that is not computed yet: passing over one costs next to nothing.
class Lazy {
public:
  Lazy() = default;
  Lazy(std::shared_ptr<const Maker> maker, std::int64_t index)
      : maker_(std::move(maker)), index_(index) {}
  /// One that is computed.
  explicit Lazy(Item item, std::string origin = {});

  Item make() const { return maker_->make(index_); }
  std::string origin() const { return maker_->origin(index_); }
  const std::shared_ptr<const Maker> &maker() const { return maker_; }
  std::int64_t index() const { return index_; }

private:
  std::shared_ptr<const Maker> maker_;
  std::int64_t index_ = 0;
};

/// Goes through the elements of one epoch, in order. It belongs to one thread at a time.
class Cursor {
public:
  virtual ~Cursor() = default;
  /// False at the end, and from then on.
  virtual bool next(Lazy &element) = 0;
  /// Passes over up to `count` elements; returns over how many.
  virtual std::int64_t skip(std::int64_t count) {
    Lazy passed;
    for (std::int64_t i = 0; i < count; ++i)
      if (!next(passed)) return i;
    return count;
  }
};

/// A word of which every bit depends on all bits of both.
std::uint64_t mixed(std::uint64_t a, std::uint64_t b);

/// What decides the order of an epoch besides the stages.
struct Epoch {
  std::uint64_t number = 0;
  std::uint64_t seed = 0; ///< of stages without one of their own
  bool for_types = false; ///< only the first element is wanted, for its type: start no threads
  /// For input number `i` of a stage: stages draw from streams of their own.
  Epoch of_input(std::uint64_t i = 0) const { return {number, mixed(seed, i + 1), for_types}; }
};

/// Which sizes of an element's tensors may change from one element to the next.
enum class Varying : std::uint8_t { none, first_axis, all };

inline constexpr std::int64_t kEndless = std::numeric_limits<std::int64_t>::max();

/// A stage with its inputs; nothing in it changes.
class Stage {
public:
  explicit Stage(std::vector<std::shared_ptr<const Stage>> inputs = {})
      : inputs_(std::move(inputs)) {}
  virtual ~Stage() = default;
  virtual std::unique_ptr<Cursor> start(const Epoch &epoch) const = 0;
  /// What it does to the order, in words that tell different ones apart; empty if nothing.
  virtual std::string describe() const = 0;
  /// Elements of an epoch: kEndless if there is no end, nothing if that is not known.
  virtual std::optional<std::int64_t> size() const { return input().size(); }
  virtual Varying varying() const;
  /// Whether its order depends on the seed of the epoch.
  virtual bool wants_seed() const { return false; }

  const Stage &input(std::size_t i = 0) const { return *inputs_[i]; }
  std::span<const std::shared_ptr<const Stage>> inputs() const { return inputs_; }

protected:
  std::unique_ptr<Cursor> start_input(const Epoch &epoch) const {
    return input().start(epoch.of_input());
  }

private:
  std::vector<std::shared_ptr<const Stage>> inputs_;
};
using StagePointer = std::shared_ptr<const Stage>;

/// A stage whose elements are rows of one maker.
class RowStage : public Stage {
public:
  RowStage(std::string description, std::int64_t size, std::shared_ptr<const Maker> rows,
           Varying varying = Varying::none)
      : description_(std::move(description)), size_(size), rows_(std::move(rows)),
        varying_(varying) {}
  std::unique_ptr<Cursor> start(const Epoch &epoch) const override;
  std::string describe() const override { return description_; }
  std::optional<std::int64_t> size() const override { return size_; }
  Varying varying() const override { return varying_; }

private:
  std::string description_;
  std::int64_t size_;
  std::shared_ptr<const Maker> rows_;
  Varying varying_;
};

/// The lines that say what a pipeline is, from the source on.
std::vector<std::string> describe_all(const Stage &stage);
/// Whether a stage in it wants the seed of the epoch.
bool any_wants_seed(const Stage &stage);

/// Calls what a user's function is called in, so that an error says the stage and the element.
template <class F>
decltype(auto) called_for(const char *stage, std::int64_t ordinal, const Lazy &element, F &&call);
[[noreturn]] void rethrow_for(const Error &error, const char *stage, std::int64_t ordinal,
                              const Lazy &element);
void note_for(ForeignError &error, const char *stage, std::int64_t ordinal, const Lazy &element);

template <class F>
decltype(auto) called_for(const char *stage, std::int64_t ordinal, const Lazy &element, F &&call) {
  const Callback inside("a function of a data set");
  try {
    return call();
  } catch (const Error &error) {
    rethrow_for(error, stage, ordinal, element);
  } catch (ForeignError &error) {
    note_for(error, stage, ordinal, element);
    throw;
  }
}

/// Elements stacked along a new first axis; if `padding` is given, filled up with it where sizes
/// differ. Throws ShapeError, DTypeError or ValueError.
Item stacked(std::span<const Item> items, const std::optional<double> &padding);
/// Elements that are not computed yet, computed and stacked by the quickest way there is.
Item gathered(std::span<const Lazy> elements, const std::optional<double> &padding);

/// Throws ValueError for a number below `least` or above `most`.
void check_count(const char *what, std::int64_t count, std::int64_t least,
                 std::int64_t most = std::numeric_limits<std::int64_t>::max());

StagePointer make_filter(StagePointer input, Predicate predicate);
StagePointer make_map(StagePointer input, MapFunction f, bool seeded,
                      std::optional<std::uint64_t> seed, bool parallel);
/// `workers` threads make up to `count` elements ahead.
StagePointer make_ahead(StagePointer input, int workers, std::int64_t count);
StagePointer make_batch(StagePointer input, std::int64_t size, const BatchOptions &options);
StagePointer make_bucket(StagePointer input, LengthFunction length, const BucketOptions &options);
StagePointer make_shuffle(StagePointer input, const ShuffleOptions &options);
StagePointer make_cache(StagePointer input);
/// Any size may change from one element to the next.
StagePointer make_open(StagePointer input);
/// The order of the first epoch for ever.
StagePointer make_frozen(StagePointer input);
StagePointer make_slice(StagePointer input, std::int64_t first, std::int64_t count);
StagePointer make_shard(StagePointer input, std::int64_t count, std::int64_t index);
StagePointer make_repeat(StagePointer input, std::optional<std::int64_t> count);
StagePointer make_concatenation(std::vector<StagePointer> inputs);
StagePointer make_zip(std::vector<StagePointer> inputs, JoinFunction join);
StagePointer make_generator(std::function<Generator(bool for_types)> start);
StagePointer make_range(std::int64_t start, std::int64_t stop, std::int64_t step);
StagePointer make_interleave(StagePointer input, std::function<StagePointer(Item)> open,
                             const InterleaveOptions &options);

/// An array whose rows, the slices along its first axis, are parts of elements.
struct Column {
  std::shared_ptr<const void> owner; ///< of what data is of
  const std::byte *data = nullptr;   ///< row-major
  DType stored_dtype = DType::f32;   ///< of its elements
  std::int64_t rows = 0;
  Shape row; ///< of one
  /// What they become: floating elements are multiplied by `scale`.
  DType dtype = DType::f32;
  double scale = 1;
};

/// Columns that are the tensors. Throws ShapeError if one has no axis, StateError for one that is
/// undefined or of a trace.
std::vector<Column> columns_of(std::span<const Tensor> tensors);

/// The rows of the columns side by side. Throws ShapeError, beginning with `function`, unless all
/// have as many. `file` is what they are from, for messages and states.
StagePointer make_arrays(std::string function, std::string file, std::vector<Column> columns,
                         std::shared_ptr<const Form> form = nullptr);

/// The position of a data set, which all of its handles have in common. From any thread.
class Progress final : public Stateful {
public:
  explicit Progress(StagePointer stage) : stage_(std::move(stage)) {}

  std::string saved_state() const override;
  void check_state(std::string_view text) const override;
  void restore_state(std::string_view text) override;

  /// Where a loop starts that starts now.
  struct Start {
    std::uint64_t loop = 0; ///< its number
    Epoch epoch;
    std::int64_t position = 0;
  };
  Start start_loop();
  /// The epoch that a loop would start with; starts none.
  Epoch next_epoch() const;
  /// The loop of that number was handed an element, for which it has waited.
  void count(std::uint64_t loop, std::int64_t bytes, std::chrono::steady_clock::time_point asked,
             std::chrono::steady_clock::time_point had);
  /// It came to the end.
  void end(std::uint64_t loop);
  DatasetStats stats() const;

private:
  struct State {
    std::uint64_t epoch = 0;
    std::int64_t position = 0;
    std::optional<std::uint64_t> seed; ///< if a stage wants one and it was drawn
    bool restored = false;             ///< and no loop has started since
    bool begun = false;                ///< a loop has started this epoch
  };
  State parse(std::string_view text) const;
  std::uint64_t seed() const;

  StagePointer stage_;
  mutable std::mutex mutex_;
  mutable State state_;
  std::uint64_t loops_ = 0;
  std::int64_t elements_ = 0, bytes_ = 0;
  std::chrono::steady_clock::duration waited_{0};
  std::optional<std::chrono::steady_clock::time_point> first_asked_, last_had_;
};

} // namespace weft::data::detail

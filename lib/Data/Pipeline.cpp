// Handles of data sets: stages put behind one another, and loops over them.
#include <cmath>

#include "Data/Stage.h"
#include "Ops/Interpreter.h"
#include "Runtime/OnDevice.h"
#include "Support/CallSite.h"
#include "Support/Fault.h"
#include "Support/Messages.h"
#include "Support/Profile.h"
#include <weft/detail/binding.h>

namespace weft::data::detail {

namespace {

/// Threads of one map, as of the library's own.
constexpr std::int64_t kMostWorkers = 1024;
/// Data sets that one interleave holds open.
constexpr std::int64_t kMostOpen = 1 << 20;

class FunctionRows final : public Maker {
public:
  explicit FunctionRows(RowFunction row) : row_(std::move(row)) {}
  Item make(std::int64_t index) const override { return row_(index); }
  std::string origin(std::int64_t index) const override {
    return "record " + std::to_string(index);
  }

private:
  RowFunction row_;
};

class PassOf final : public Pass {
public:
  PassOf(StagePointer stage, std::shared_ptr<Progress> progress)
      : stage_(std::move(stage)), progress_(std::move(progress)), start_(progress_->start_loop()),
        cursor_(stage_->start(start_.epoch)) {}

  bool next(Item &item) override {
    // What stages compute is no part of what the loop's thread records.
    const Interpreter::Scope nobody(nullptr);
    const profile::Scope scope(profile::Kind::data, "next element");
    const auto asked = std::chrono::steady_clock::now();
    if (start_.position != 0) resume();
    Lazy element;
    if (!cursor_->next(element)) {
      progress_->end(start_.loop);
      return false;
    }
    item = element.make();
    std::int64_t bytes = 0;
    for (Tensor &tensor : item.tensors) {
      bytes += tensor.size() * static_cast<std::int64_t>(item_size(tensor.dtype()));
      // Who computes with the element decides where.
      if (weft::detail::on_cpu(tensor)) tensor = weft::detail::uncommitted(std::move(tensor));
    }
    progress_->count(start_.loop, bytes, asked, std::chrono::steady_clock::now());
    return true;
  }

private:
  void resume() {
    const std::int64_t wanted = std::exchange(start_.position, 0), passed = cursor_->skip(wanted);
    if (passed < wanted)
      raise(ErrorKind::state, "the state that was restored is behind element " +
                                  std::to_string(wanted) + " of an epoch, and there are only " +
                                  std::to_string(passed) + ": the data are others than they were");
  }

  StagePointer stage_;
  std::shared_ptr<Progress> progress_;
  Progress::Start start_;
  std::unique_ptr<Cursor> cursor_; // goes first: it refers to stages
};

std::vector<StagePointer> stages_of(const std::vector<Pipeline> &pipelines,
                                    StagePointer (*stage_of)(const Pipeline &)) {
  std::vector<StagePointer> stages;
  for (const Pipeline &each : pipelines) stages.push_back(stage_of(each));
  return stages;
}

StagePointer no_elements() {
  static const StagePointer *const none =
      new StagePointer(std::make_shared<RowStage>("no elements", 0, nullptr));
  return *none;
}

} // namespace

Pipeline::Pipeline() : Pipeline(no_elements()) {}
Pipeline::Pipeline(StagePointer stage)
    : stage_(std::move(stage)), progress_(std::make_shared<Progress>(stage_)) {}

Pipeline Pipeline::rows(std::string description, std::int64_t size, RowFunction row) {
  return Pipeline(std::make_shared<RowStage>(
      std::move(description), size, std::make_shared<FunctionRows>(std::move(row)), Varying::none));
}

Pipeline Pipeline::tensors(std::vector<Tensor> tensors, std::shared_ptr<const Form> form,
                           const std::source_location &where) {
  const CompositeCall site("from_tensors", where);
  return Pipeline(make_arrays("from_tensors", "", columns_of(tensors), std::move(form)));
}

Pipeline Pipeline::range(std::int64_t start, std::int64_t stop, std::int64_t step,
                         const std::source_location &where) {
  const CompositeCall site("data::range", where);
  if (step == 0) raise(ErrorKind::value, "the step is 0");
  return Pipeline(make_range(start, stop, step));
}

Pipeline Pipeline::generator(std::function<Generator()> start) {
  return Pipeline(make_generator([start = std::move(start)](bool) { return start(); }));
}
Pipeline Pipeline::generator(std::function<Generator(bool)> start) {
  return Pipeline(make_generator(std::move(start)));
}
Pipeline Pipeline::zip(const std::vector<Pipeline> &inputs, JoinFunction join) {
  return Pipeline(
      make_zip(stages_of(inputs, [](const Pipeline &p) { return p.stage_; }), std::move(join)));
}
Pipeline Pipeline::concatenate(const std::vector<Pipeline> &inputs) {
  return Pipeline(
      make_concatenation(stages_of(inputs, [](const Pipeline &p) { return p.stage_; })));
}

Pipeline Pipeline::map(MapFunction f, bool seeded, const MapOptions &options,
                       const std::source_location &where) const {
  const CompositeCall site("map", where);
  check_count("the option workers", options.workers, 0, kMostWorkers);
  StagePointer mapped = make_map(stage_, std::move(f), seeded, options.seed, options.workers > 0);
  if (options.workers == 0) return Pipeline(std::move(mapped));
  return Pipeline(
      make_ahead(std::move(mapped), options.workers, 8 * std::int64_t{options.workers}));
}
Pipeline Pipeline::filter(Predicate predicate) const {
  return Pipeline(make_filter(stage_, std::move(predicate)));
}
Pipeline Pipeline::batch(std::int64_t size, const BatchOptions &options,
                         const std::source_location &where) const {
  const CompositeCall site("batch", where);
  check_count("the size", size, 1);
  return Pipeline(make_batch(stage_, size, options));
}
Pipeline Pipeline::bucket(LengthFunction length, const BucketOptions &options,
                          const std::source_location &where) const {
  const CompositeCall site("bucket", where);
  const std::size_t buckets = options.boundaries.size() + 1;
  for (std::size_t i = 1; i < options.boundaries.size(); ++i)
    if (options.boundaries[i] <= options.boundaries[i - 1])
      raise(ErrorKind::value, "the boundaries must ascend, but " +
                                  std::to_string(options.boundaries[i]) + " stands behind " +
                                  std::to_string(options.boundaries[i - 1]));
  if (options.batch_sizes.size() != 1 && options.batch_sizes.size() != buckets)
    raise(ErrorKind::value, "there are " + std::to_string(buckets) + " buckets and " +
                                std::to_string(options.batch_sizes.size()) +
                                " batch sizes; give one for each, or a single one");
  for (const std::int64_t size : options.batch_sizes) check_count("a batch size", size, 1);
  return Pipeline(make_bucket(stage_, std::move(length), options));
}
Pipeline Pipeline::shuffle(const ShuffleOptions &options, const std::source_location &where) const {
  const CompositeCall site("shuffle", where);
  check_count("the buffer", options.buffer, 0);
  if (options.buffer == 0 && size() == std::nullopt && stage_->size() == kEndless)
    raise(ErrorKind::value,
          "a data set without end has no order of all of its elements: give the option buffer, "
          "or shuffle before repeat");
  return Pipeline(make_shuffle(stage_, options));
}
Pipeline Pipeline::repeat(std::optional<std::int64_t> count,
                          const std::source_location &where) const {
  const CompositeCall site("repeat", where);
  if (count) check_count("the count", *count, 0);
  return Pipeline(make_repeat(stage_, count));
}
Pipeline Pipeline::take(std::int64_t count, const std::source_location &where) const {
  const CompositeCall site("take", where);
  check_count("the count", count, 0);
  return Pipeline(make_slice(stage_, 0, count));
}
Pipeline Pipeline::skip(std::int64_t count, const std::source_location &where) const {
  const CompositeCall site("skip", where);
  check_count("the count", count, 0);
  return Pipeline(make_slice(stage_, count, kEndless));
}
Pipeline Pipeline::shard(std::int64_t count, std::int64_t index,
                         const std::source_location &where) const {
  const CompositeCall site("shard", where);
  check_count("the count", count, 1);
  if (index < 0 || index >= count)
    raise(ErrorKind::value, "the index is " + std::to_string(index) + " but must be from 0 to " +
                                std::to_string(count - 1));
  return Pipeline(make_shard(stage_, count, index));
}
std::pair<Pipeline, Pipeline> Pipeline::split(double fraction,
                                              const std::source_location &where) const {
  const CompositeCall site("split", where);
  if (!(fraction >= 0 && fraction <= 1))
    raise(ErrorKind::value,
          "the fraction is " + number_text(fraction) + " but must be from 0 to 1");
  const auto whole = size();
  if (!whole)
    raise(ErrorKind::value,
          "how many elements there are is not known before they are computed: use "
          "take and skip with a number of them");
  if (any_wants_seed(*stage_))
    raise(ErrorKind::value, "what is before split draws a seed of its own, so that the two parts "
                            "would not be of one order: give that stage a seed");
  const double part = std::round(fraction * double(*whole));
  // As a double it may be more than there are, and more than there is room for.
  const std::int64_t first = part < double(*whole) ? static_cast<std::int64_t>(part) : *whole;
  const StagePointer frozen = make_frozen(stage_);
  return {Pipeline(make_slice(frozen, 0, first)), Pipeline(make_slice(frozen, first, kEndless))};
}
Pipeline Pipeline::interleave(std::function<Pipeline(Item)> open, const InterleaveOptions &options,
                              const std::source_location &where) const {
  const CompositeCall site("interleave", where);
  check_count("the option cycle", options.cycle, 1, kMostOpen);
  check_count("the option block", options.block, 1);
  return Pipeline(make_interleave(
      stage_, [open = std::move(open)](Item item) { return open(std::move(item)).stage_; },
      options));
}
Pipeline Pipeline::cache() const { return Pipeline(make_cache(stage_)); }
Pipeline Pipeline::with_open_sizes() const { return Pipeline(make_open(stage_)); }
Pipeline Pipeline::keeping(std::shared_ptr<const void> what) const {
  const Stage *stage = stage_.get();
  return Pipeline(StagePointer(
      stage, [kept = stage_, what = std::move(what)](const Stage *) mutable { kept.reset(); }));
}
Pipeline Pipeline::prefetch(std::int64_t count, const std::source_location &where) const {
  const CompositeCall site("prefetch", where);
  check_count("the count", count, 1);
  return Pipeline(make_ahead(stage_, 1, count));
}

std::optional<std::int64_t> Pipeline::size() const {
  const auto size = stage_->size();
  return size == kEndless ? std::nullopt : size;
}

std::shared_ptr<Pass> Pipeline::start() const {
  return std::make_shared<PassOf>(stage_, progress_);
}

ElementTypes Pipeline::types() const {
  const Interpreter::Scope nobody(nullptr);
  const std::unique_ptr<Cursor> cursor = stage_->start(progress_->next_epoch());
  Lazy first;
  if (!cursor->next(first))
    raise(ErrorKind::value, "the data set has no elements, so that their types are not known");
  const Item item = first.make();
  ElementTypes types{{}, item.form};
  const Varying varying = stage_->varying();
  for (const Tensor &tensor : item.tensors) {
    TensorType type = tensor.type();
    for (std::size_t axis = 0; axis < type.shape.size(); ++axis)
      if (varying == Varying::all || (varying == Varying::first_axis && axis == 0))
        type.shape[axis] = unknown;
    types.tensors.push_back(std::move(type));
  }
  return types;
}

DatasetStats Pipeline::stats() const { return progress_->stats(); }
Stateful &Pipeline::state() const { return *progress_; }

} // namespace weft::data::detail

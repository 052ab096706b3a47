// Where loops over data sets are: the position of a data set as JSON, what loops were handed, and
// the passes that traced loops are in, held for them by number.
#include "Data/Stage.h"

#include <map>
#include <mutex>

#include <nlohmann/json.hpp>

#include "Ops/Interpreter.h"
#include "Runtime/NewTensor.h"
#include "Support/Fault.h"
#include "Support/Messages.h"
#include <weft/data/for_each.h>
#include <weft/random.h>

namespace weft::data::detail {

namespace {

constexpr int kVersion = 1;

[[noreturn]] void refuse(const std::string &what) {
  raise(ErrorKind::value, "the state of a data set: " + what);
}

/// Says where two pipelines part.
void check_same(const std::vector<std::string> &saved, const std::vector<std::string> &here) {
  for (std::size_t i = 0; i < std::max(saved.size(), here.size()); ++i) {
    if (i < saved.size() && i < here.size() && saved[i] == here[i]) continue;
    const auto name = [&](const std::vector<std::string> &lines) {
      return i < lines.size() ? "'" + shown(lines[i], 200) + "'" : std::string("nothing");
    };
    refuse("it is of another pipeline: stage " + std::to_string(i) + " is " + name(saved) +
           " in the state and " + name(here) + " here");
  }
}

std::uint64_t drawn_seed() {
  const Interpreter::Scope nobody(nullptr);
  return static_cast<std::uint64_t>(random::process_generator()
                                        .randint(Shape(), 0, std::int64_t{1} << 53, DType::i64)
                                        .item<std::int64_t>());
}

} // namespace

std::uint64_t Progress::seed() const {
  if (!state_.seed) state_.seed = any_wants_seed(*stage_) ? drawn_seed() : 0;
  return *state_.seed;
}

std::string Progress::saved_state() const {
  const std::lock_guard lock(mutex_);
  nlohmann::json json;
  json["version"] = kVersion;
  json["pipeline"] = describe_all(*stage_);
  json["epoch"] = state_.epoch;
  json["position"] = state_.position;
  json["seed"] = seed();
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Progress::State Progress::parse(std::string_view text) const {
  // What is nested deeper is no state; it is passed over, as each level would take memory.
  const nlohmann::json json = nlohmann::json::parse(
      text.begin(), text.end(),
      [](int depth, nlohmann::json::parse_event_t, const nlohmann::json &) { return depth <= 2; },
      /*allow_exceptions=*/false);
  if (!json.is_object()) refuse("it is no JSON object");
  const auto whole = [&](const char *key) {
    const auto found = json.find(key);
    if (found == json.end() || !found->is_number_unsigned())
      refuse(std::string("'") + key + "' is not there or no whole number");
    return found->get<std::uint64_t>();
  };
  if (whole("version") != kVersion)
    refuse("it is of version " + std::to_string(whole("version")) + ", and this Weft reads " +
           std::to_string(kVersion));
  const auto lines = json.find("pipeline");
  if (lines == json.end() || !lines->is_array()) refuse("'pipeline' is not there or no list");
  std::vector<std::string> saved;
  for (const auto &line : *lines) {
    if (!line.is_string()) refuse("'pipeline' is no list of texts");
    saved.push_back(line.get<std::string>());
  }
  // Names of files may have bytes that are no UTF-8: compare as they are saved.
  check_same(saved, nlohmann::json::parse(
                        nlohmann::json(describe_all(*stage_))
                            .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace))
                        .get<std::vector<std::string>>());
  State state;
  state.epoch = whole("epoch");
  const std::uint64_t position = whole("position");
  const auto most = static_cast<std::uint64_t>(stage_->size().value_or(kEndless));
  if (position > most)
    refuse("it is behind element " + std::to_string(position) + " of an epoch, and there are " +
           std::to_string(most));
  state.position = static_cast<std::int64_t>(position);
  state.seed = whole("seed");
  state.restored = true;
  return state;
}

void Progress::check_state(std::string_view text) const { static_cast<void>(parse(text)); }

void Progress::restore_state(std::string_view text) {
  const State fresh = parse(text);
  const std::lock_guard lock(mutex_);
  state_ = fresh;
  ++loops_; // those that are under way change nothing any more
}

Progress::Start Progress::start_loop() {
  const std::lock_guard lock(mutex_);
  if (!state_.restored && state_.begun) {
    ++state_.epoch;
    state_.position = 0;
  }
  state_.restored = false;
  state_.begun = true;
  return {++loops_, {state_.epoch, seed(), false}, state_.position};
}

Epoch Progress::next_epoch() const {
  const std::lock_guard lock(mutex_);
  return {state_.epoch, seed(), true};
}

void Progress::count(std::uint64_t loop, std::int64_t bytes,
                     std::chrono::steady_clock::time_point asked,
                     std::chrono::steady_clock::time_point had) {
  const std::lock_guard lock(mutex_);
  if (loop == loops_ && state_.position < kEndless) ++state_.position;
  ++elements_;
  bytes_ += bytes;
  waited_ += had - asked;
  if (!first_asked_) first_asked_ = asked;
  last_had_ = had;
}

void Progress::end(std::uint64_t loop) {
  const std::lock_guard lock(mutex_);
  if (loop != loops_) return;
  ++state_.epoch;
  state_.position = 0;
  state_.begun = false;
}

DatasetStats Progress::stats() const {
  const std::lock_guard lock(mutex_);
  DatasetStats stats;
  stats.elements = elements_;
  stats.bytes = bytes_;
  stats.waited_seconds = std::chrono::duration<double>(waited_).count();
  if (first_asked_)
    stats.seconds = std::chrono::duration<double>(*last_had_ - *first_asked_).count();
  return stats;
}

namespace {

/// A function that fails leaves its loop open. More of these than calls at a time are left ones.
constexpr std::size_t kMostOpen = 64;

} // namespace

struct LoopPasses::Impl {
  struct Loop {
    std::shared_ptr<Pass> pass;
    Item element;
  };
  std::shared_ptr<Loop> find(const Tensor &number) {
    const std::lock_guard lock(mutex);
    const auto found = loops.find(number.item<std::int64_t>());
    if (found == loops.end())
      raise(ErrorKind::state, "for_each: the loop is over, or " + std::to_string(kMostOpen) +
                                  " others have started since");
    return found->second;
  }

  std::function<std::shared_ptr<Pass>()> begin;
  std::mutex mutex;
  std::int64_t started = 0;
  std::map<std::int64_t, std::shared_ptr<Loop>> loops; ///< by number, so the oldest first
};

LoopPasses::LoopPasses(Pipeline pipeline)
    : LoopPasses([pipeline = std::move(pipeline)] { return pipeline.start(); }) {}
LoopPasses::LoopPasses(std::function<std::shared_ptr<Pass>()> begin)
    : impl_(new Impl{std::move(begin), {}, 0, {}}) {}
LoopPasses::~LoopPasses() = default;

Tensor LoopPasses::start() {
  auto loop = std::make_shared<Impl::Loop>(Impl::Loop{impl_->begin(), {}});
  const std::lock_guard lock(impl_->mutex);
  impl_->loops.emplace(++impl_->started, std::move(loop));
  if (impl_->loops.size() > kMostOpen) impl_->loops.erase(impl_->loops.begin());
  return weft::detail::new_scalar<std::int64_t>(impl_->started);
}

Tensor LoopPasses::advance(const Tensor &number) {
  const std::shared_ptr<Impl::Loop> loop = impl_->find(number);
  const bool more = loop->pass->next(loop->element);
  if (!more) {
    const std::lock_guard lock(impl_->mutex);
    impl_->loops.erase(number.item<std::int64_t>());
  }
  return weft::detail::new_scalar<bool>(more);
}

Item LoopPasses::take(const Tensor &number, std::span<const TensorType> types) {
  Item element = std::move(impl_->find(number)->element);
  for (std::size_t i = 0; i < std::min(types.size(), element.tensors.size()); ++i) {
    const TensorType given = element.tensors[i].type(), &first = types[i];
    bool fits = given.shape.size() == first.shape.size();
    for (std::size_t axis = 0; fits && axis < given.shape.size(); ++axis)
      fits = first.shape[axis] == unknown || given.shape[axis] == first.shape[axis];
    if (fits) continue;
    const bool open = given.shape.size() == first.shape.size();
    raise(ErrorKind::shape,
          "an element of the data set is " + to_string(given) + ", but the loop was traced for " +
              to_string(first) + ", the type of the first one: " +
              (open ? "loop over dataset.with_open_sizes(), which leaves the sizes open, or pad to "
                      "equal sizes"
                    : "elements of several ranks are for loops outside of traced functions"));
  }
  return element;
}

void LoopPasses::stop(const Tensor &number) {
  std::shared_ptr<Impl::Loop> stopped; // goes without the lock: its threads may work for a while
  const std::lock_guard lock(impl_->mutex);
  const auto found = impl_->loops.find(number.item<std::int64_t>());
  if (found == impl_->loops.end()) return;
  stopped = std::move(found->second);
  impl_->loops.erase(found);
}

bool is_tracing() {
  const Interpreter *interpreter = Interpreter::current();
  return interpreter != nullptr && interpreter->traces();
}

} // namespace weft::data::detail

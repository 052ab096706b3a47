// Steps of replicas.
#include "Train/Replicas.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <thread>

#include "Checkpoint/Checkpoint.h"
#include "Distributed/Tree.h"
#include "NN/Optimizers/State.h"
#include "Ops/Draws.h"
#include "Runtime/OnDevice.h"
#include "Support/Cpu.h"
#include "Support/Messages.h"
#include "Train/ReadyGradients.h"
#include "Train/ReplicaTurns.h"
#include <weft/detail/binding.h>
#include <weft/detail/distributed_place.h>
#include <weft/detail/synchronized.h>
#include <weft/error.h>
#include <weft/ops.h>

namespace weft::train::detail {

namespace {

constexpr std::string_view kMetrics = "metrics.";

std::string counted(std::int64_t count, const char *word, const char *ending = "s") {
  return std::to_string(count) + " " + word + (count == 1 ? "" : ending);
}

} // namespace

//===----------------------------------------------------------------------===//
// Beginning
//===----------------------------------------------------------------------===//

Replicas::Replicas(FitParts &parts, const FitSettings &settings)
    : parts_(parts), settings_(settings), caller_{"fit", settings.where} {
  if (!asked()) return;
  const Parallel &parallel = settings.parallel;
  // Where ranks have different ones, all hear of it first.
  group_ = parallel.group;
  rank_ = group_.rank();
  ranks_ = group_.size();
  count_ = parallel.replicas.value_or(0);
}

void Replicas::refuse() noexcept {
  if (!asked() || ranks_ == 1) return;
  const bool known = exchanging_ || distributed::detail::ranks_know_of_error();
  if (known && background_ == nullptr) return;
  std::optional<distributed::detail::Place> place;
  std::string words = "an exception of unknown type";
  try {
    throw;
  } catch (const Error &error) {
    words = error.message();
    if (error.location().known()) {
      place.emplace(to_string(error.location()));
    }
  } catch (const std::exception &error) {
    words = error.what();
    // NOLINTNEXTLINE(bugprone-empty-catch)
  } catch (...) {
  }
  if (parts_.error != nullptr) {
    auto [own, from] = parts_.error();
    if (!own.empty()) words = std::move(own);
    if (!from.empty()) place.emplace(std::move(from));
  }
  if (!known) distributed::detail::refuse("fit", group_, words);
  // All ranks do, whichever exchange told them. Behind the meeting: nobody waits for the background
  // before that.
  if (background_ != nullptr) background_->refuse(words);
}

void Replicas::begin() {
  if (!asked()) return check_shards();
  const Parallel &parallel = settings_.parallel;
  // What is cut below is never whole, unless a rank has it already.
  std::shared_ptr<void> held = hold_state();
  const auto parts = collect_parts("fit", parts_.checkpoint);
  if (ranks_ > 1) {
    std::vector<std::string> lines = {
        parallel.replicas ? "replicas = " + std::to_string(*parallel.replicas)
                          : "replicas by default",
        "bucket_mib = " + number_text(parallel.bucket_mib),
        parallel.overlap ? *parallel.overlap ? "overlap" : "no overlap" : "overlap by default",
        parallel.shard_state == ShardState::none        ? "no shard_state"
        : parallel.shard_state == ShardState::optimizer ? "shard_state = optimizer"
        : parallel.shard_state == ShardState::gradients ? "shard_state = gradients"
                                                        : "shard_state = weights",
        "epochs = " + std::to_string(settings_.epochs),
        settings_.checkpoints ? "checkpoints" : "no checkpoints",
        counted(static_cast<std::int64_t>(settings_.callbacks.size()), "callback"),
        counted(static_cast<std::int64_t>(parallel.devices.size()), "device"),
        parts_.size ? counted(*parts_.size, "batch", "es") + " in an epoch"
                    : "batches of no known number",
        parts_.validate ? "a validation" : "no validation",
        "a CPU of x86-64-v" + std::to_string(static_cast<int>(host_cpu_level()))};
    std::vector<Variable> values;
    for (const auto &part : parts.variables) {
      const Variable &variable = part.variable;
      const bool has_value = variable.initialized();
      const VariablePiece *const piece = variable.state()->piece();
      lines.push_back("'" + part.paths.front() + "' of " +
                      (piece != nullptr
                           ? to_string(TensorType{variable.dtype(), piece->whole}) + ", cut"
                       : has_value ? to_string(variable.state()->type())
                                   : std::string(name_of(variable.dtype())) + " without a value"));
      if (has_value && piece == nullptr) values.push_back(variable);
    }
    // What layers, metrics and the optimizer were constructed with.
    weft::detail::PartCollector constants;
    constants.constants = &lines;
    for (const CheckpointPart &part : parts_.checkpoint) part.collect(constants);
    together([&] {
      compare_lines(caller_, group_, lines);
      for (const Variable &variable : values)
        variable.assign(distributed::broadcast(variable.value(), 0, group_, settings_.where));
    });
  }
  // Data sets draw their seeds now, whether these are compared or not.
  std::vector<std::string> states;
  for (const auto &part : parts.states)
    states.push_back("'" + part.path + "' at " + part.state->saved_state());
  if (ranks_ > 1) together([&] { compare_lines(caller_, group_, states); });
  if (parallel.replicas && *parallel.replicas < 0)
    throw ValueError("fit: replicas is " + std::to_string(*parallel.replicas) +
                     ", but must be at least 1");
  if (!(parallel.bucket_mib > 0 && std::isfinite(parallel.bucket_mib)))
    throw ValueError("fit: bucket_mib is " + number_text(parallel.bucket_mib) +
                     ", but must be positive");
  for (const Device device : parallel.devices) check_device(device);
  check_shards();
  shard(std::move(held));
}

void Replicas::settle(std::optional<std::int64_t> restored) {
  if (!asked()) {
    if (count_ == 1) return;
    throw ValueError("fit: the run in '" + shown(settings_.checkpoints->folder) + "' has " +
                     counted(count_, "replica") +
                     ", and this call is not parallel: ask for them, or begin another run in "
                     "another folder");
  }
  const std::optional<std::int64_t> wanted = settings_.parallel.replicas;
  if (ranks_ > 1)
    together([&] {
      compare_lines(caller_, group_,
                    {restored ? "restored a checkpoint of step " + std::to_string(*restored) +
                                    " and " + counted(count_, "replica")
                              : "found no checkpoint in " +
                                    (settings_.checkpoints ? settings_.checkpoints->folder : "")});
    });
  const auto devices = static_cast<std::int64_t>(settings_.parallel.devices.size());
  if (!restored) count_ = wanted.value_or(ranks_ * std::max(devices, std::int64_t{1}));
  else if (wanted && *wanted != count_)
    throw ValueError("fit: replicas is " + std::to_string(*wanted) + ", and the run in '" +
                     shown(settings_.checkpoints->folder) + "' has " + std::to_string(count_) +
                     ": leave it out, or begin another run in another folder");
  if (count_ < ranks_)
    throw ValueError("fit: there are " + counted(ranks_, "rank") + " and " +
                     counted(count_, "replica") + ", which they share: start at most " +
                     counted(count_, "rank") +
                     (restored ? "" : ", or ask for " + counted(ranks_, "replica") + " or more"));
  if (count_ < ranks_ * devices)
    throw ValueError("fit: each of " + counted(ranks_, "rank") + " has " +
                     counted(devices, "device") + ", and the run " + counted(count_, "replica") +
                     ": name fewer devices, or let there be more replicas");
  find_metrics();
  settle_home();
  if (any() && ranks_ > 1 && settings_.parallel.overlap.value_or(on_several_hosts(group_)))
    background_ =
        std::make_unique<distributed::BackgroundReduction>(caller_, group_, count_, bucket_bytes());
}

void Replicas::find_metrics() {
  if (!any()) return;
  const auto parts = collect_parts("fit", parts_.checkpoint);
  for (const auto &part : parts.variables) {
    const std::string &path = part.paths.front();
    if (!path.starts_with(kMetrics)) continue;
    metrics_.push_back({part.variable.state(), {}});
    metric_names_.push_back(path.substr(kMetrics.size()));
  }
  for (const std::string &name : settings_.metrics)
    if (std::ranges::none_of(metric_names_, [&](const std::string &path) {
          return path == name || path.starts_with(name + ".");
        }))
      throw ValueError("fit: the metric '" + name +
                       "' has no variables, so replicas cannot add up what they count");
}

void Replicas::check_metrics() const {
  for (std::size_t i = 0; i < metrics_.size(); ++i) {
    const VariableState &variable = *metrics_[i].variable;
    if (!variable.initialized()) continue;
    const Tensor differs = variable.load() != zeros_like(variable.load());
    if (sum(cast(differs, DType::i64)).item<std::int64_t>() != 0)
      throw ValueError("fit: the metric's variable '" + metric_names_[i] +
                       "' is not 0 after a reset: what replicas count is added up, so it must "
                       "begin at 0");
  }
}

//===----------------------------------------------------------------------===//
// One replica
//===----------------------------------------------------------------------===//

/// Where a generator begins that goes on with a stream of the replica's own.
Tensor Replicas::first_draw(const Written &generator, std::int64_t replica) const {
  const DeviceScope beside(generator.before.device());
  return cast(random::detail::key_with(generator.before, tensor({replica})), DType::i64);
}

std::optional<Device> Replicas::device_of(std::int64_t replica) const {
  const std::vector<Device> &devices = settings_.parallel.devices;
  if (devices.empty()) return std::nullopt;
  const auto [first, last] = distributed::share_of(count_, rank_, ranks_);
  return devices[static_cast<std::size_t>(replica - first) % devices.size()];
}

void Replicas::settle_home() {
  if (settings_.parallel.devices.empty()) return;
  const std::vector<nn::NamedVariable> variables = parts_.replicas.all_variables();
  const bool any = std::ranges::any_of(
      variables, [](const nn::NamedVariable &entry) { return entry.variable.initialized(); });
  home_ = any ? train::detail::device_of(variables) : settings_.parallel.devices.front();
  for (const nn::NamedVariable &entry : variables)
    if (entry.variable.initialized() && entry.variable.ranks() == 1)
      static_cast<void>(entry.variable.state()->load_on(*home_));
}

/// Adds what was written for the first time to what is known; whether a generator is among it,
/// which has drawn what all replicas would draw.
bool Replicas::take_note_of(const ReplicaVariables &variables) {
  bool again = false;
  for (const auto &[variable, own] : variables.entries()) {
    const auto has = [&](const std::vector<Written> &list) {
      return std::ranges::find(list, variable, &Written::variable) != list.end();
    };
    // What the step itself made is gone with it.
    if (has(metrics_) || has(generators_) || has(others_) || variable.use_count() == 1) continue;
    if (!variable->of_generator()) {
      others_.push_back({variable, variable->load()});
      continue;
    }
    // First values are drawn once, by all ranks the same, and what they took stays taken.
    const bool stays =
        variables.initialized_any() && variable == random::detail::process_state().state();
    generators_.push_back({variable, stays ? own->load() : variable->load()});
    again = true;
  }
  return again;
}

/// Metrics count from 0, generators go on with a stream of the replica's own, and all else is as it
/// was before the step.
template <class Compute>
Replicas::Computed Replicas::compute_one(const Part &part, const Compute &compute) {
  const std::optional<Device> device = device_of(part.replica);
  Computed computed{.sums = {}, .variables = std::make_unique<ReplicaVariables>(device, home_)};
  for (const Written &metric : metrics_)
    if (metric.variable->initialized())
      computed.variables->give(*metric.variable, zeros_like(metric.variable->load()));
  for (const Written &generator : generators_)
    computed.variables->give(*generator.variable, first_draw(generator, part.replica));
  const ReplicaVariables::Scope alone(computed.variables.get());
  std::optional<DeviceScope> there;
  if (device) there.emplace(*device);
  Rows rows = part.rows;
  if (device)
    for (Tensor &tensor : rows) tensor = weft::detail::moved(tensor, *device);
  computed.sums = compute(rows, scalar_of(part.weight));
  return computed;
}

Replicas::Leaf Replicas::leaf_of(const Part &part, Computed computed) const {
  const auto own = [&](const Written &written) {
    return computed.variables->find(*written.variable);
  };
  Leaf leaf{.sums = std::move(computed.sums), .others = {}, .metrics = {}, .draws = {}};
  leaf.weight = part.weight;
  for (const Written &other : others_)
    leaf.others.push_back(own(other) != nullptr ? own(other)->load() : other.variable->load());
  for (const Written &metric : metrics_)
    leaf.metrics.push_back(own(metric) != nullptr           ? own(metric)->load()
                           : metric.variable->initialized() ? zeros_like(metric.variable->load())
                                                            : Tensor());
  for (const Written &generator : generators_)
    leaf.draws.push_back(weft::detail::on_host(own(generator)->load()) -
                         weft::detail::on_host(first_draw(generator, part.replica)));
  return leaf;
}

/// Where code of the user's runs, which may be in the first run of batches of these shapes, one
/// replica runs behind the other.
bool Replicas::may_run_at_once(const std::string &kind, const Rows &batch) {
  std::string key = kind;
  for (const Tensor &tensor : batch) key += " " + to_string(tensor.type());
  const bool is_known = !seen_.insert(std::move(key)).second;
  return is_known && settings_.parallel.devices.size() > 1 && parts_.replicas.compiled &&
         background_ == nullptr && !shards_weights() && !meets_;
}

template <class Compute>
std::optional<std::vector<Replicas::Leaf>> Replicas::run_at_once(const std::vector<Part> &parts,
                                                                 const Compute &compute) {
  std::vector<Computed> computed(parts.size());
  std::vector<std::exception_ptr> errors(parts.size());
  const std::size_t devices = settings_.parallel.devices.size();
  const auto run_device = [&](std::size_t device) {
    const weft::detail::ReplicasInStep in_step(count_, group_);
    for (std::size_t i = device; i < parts.size(); i += devices) try {
        computed[i] = compute_one(parts[i], compute);
      } catch (...) { // thrown again below
        errors[i] = std::current_exception();
        return;
      }
  };
  {
    std::vector<std::jthread> threads;
    for (std::size_t device = 1; device < std::min(devices, parts.size()); ++device)
      threads.emplace_back(run_device, device);
    run_device(0);
  }
  for (const std::exception_ptr &error : errors)
    if (error != nullptr) std::rethrow_exception(error);
  bool again = false;
  for (const Computed &one : computed) again |= take_note_of(*one.variables);
  if (again) return std::nullopt;
  std::vector<Leaf> leaves;
  for (std::size_t i = 0; i < parts.size(); ++i)
    leaves.push_back(leaf_of(parts[i], std::move(computed[i])));
  return leaves;
}

//===----------------------------------------------------------------------===//
// All of them
//===----------------------------------------------------------------------===//

std::int64_t Replicas::rows_of(const Rows &tensors) const {
  std::optional<std::int64_t> rows;
  for (const Tensor &tensor : tensors) {
    if (tensor.rank() == 0)
      throw ShapeError("fit: a tensor of a batch is " + to_string(tensor.type()) +
                       ": replicas share the rows of batches, and it has none");
    if (rows && *rows != tensor.size(0))
      throw ShapeError("fit: tensors of a batch have " + counted(*rows, "row") + " and " +
                       counted(tensor.size(0), "row") + ", which replicas cannot share");
    rows = tensor.size(0);
  }
  if (rows.value_or(0) == 0) throw ShapeError("fit: a batch has no rows, which replicas share");
  return *rows;
}

Replicas::Part Replicas::part_of(const Rows &batch, std::int64_t rows, std::int64_t replica) const {
  auto [begin, end] = distributed::share_of(rows, static_cast<int>(std::min(replica, count_ - 1)),
                                            static_cast<int>(count_));
  Part part{.replica = replica,
            .rows = {},
            .weight = static_cast<double>(end - begin) / static_cast<double>(rows)};
  // One without rows counts nothing; it runs as the others do, so that all know what it would
  // have written.
  if (begin == end) {
    begin = std::min(begin, rows - 1);
    end = begin + 1;
  }
  for (const Tensor &tensor : batch) part.rows.push_back(tensor[{slice(begin, end)}]);
  return part;
}

template <class Compute>
Replicas::Rows Replicas::run(const Rows &batch, const std::string &kind, const std::string &what,
                             const Compute &compute) {
  const std::int64_t rows = rows_of(batch);
  for (Written &metric : metrics_)
    metric.before = metric.variable->initialized() ? metric.variable->load() : Tensor();
  for (Written &generator : generators_) generator.before = generator.variable->load();
  others_.clear();
  const auto [first, last] = distributed::share_of(count_, rank_, ranks_);
  std::vector<Part> parts;
  for (std::int64_t replica = first; replica < last; ++replica)
    parts.push_back(part_of(batch, rows, replica));
  distributed::detail::forget_error();
  repeats_ = false;
  handed_over_.clear();
  const std::string told = what + " of " + counted(rows, "row");
  find_parts();
  if (may_run_at_once(kind, batch))
    if (auto leaves = run_at_once(parts, compute)) return reduce(std::move(*leaves), told);
  std::vector<Computed> computed(parts.size());
  ReplicaTurns *meeting = nullptr;
  ReplicaTurns turns(
      parts.size(), first,
      [&](std::size_t i) {
        const weft::detail::ReplicasInStep in_step(count_, group_, parts[i].replica, meeting);
        computed[i] = compute_one(parts[i], compute);
      },
      [&](const std::string &where, const std::vector<Tensor> &own) {
        return sum_of(own, where + " in " + told);
      },
      parts_.replicas.idle);
  // Ranks with fewer replicas gather weights in one more, which nobody would meet.
  if (!shards_weights()) meeting = &turns;
  std::vector<Leaf> leaves;
  const Part *of_last = nullptr;
  std::optional<ReadyGradients> ready;
  if (background_ != nullptr) {
    background_->begin(told, part_of_);
    // The first gradients of a model without values come before it is known who has which part.
    const bool may_begin = part_of_ || !shards_gradients();
    ready.emplace(bucket_bytes(), [&, may_begin](std::size_t number, const Tensor &gradient) {
      // Where replicas meet, those of other threads have gradients as well.
      if (of_last != nullptr && may_begin && !handed(number) && !turns.met())
        hand_over(number, gradient, leaves, of_last->weight);
    });
  }
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i + 1 == parts.size()) of_last = &parts[i];
    turns.compute(i);
    if (turns.met()) break;
    while (take_note_of(*computed[i].variables)) {
      repeats_ = true;
      turns.compute(i);
    }
    leaves.push_back(leaf_of(parts[i], std::move(computed[i])));
  }
  of_last = nullptr;
  if (turns.met()) {
    meets_ = true;
    const auto any_again = [&] {
      bool again = false;
      for (const Computed &one : computed) again |= take_note_of(*one.variables);
      repeats_ |= again;
      return again;
    };
    while (any_again()) turns.compute(0);
    for (std::size_t i = 0; i < parts.size(); ++i)
      leaves.push_back(leaf_of(parts[i], std::move(computed[i])));
  }
  // Those who gather weights meet in each replica: ranks with fewer of them compute one for that
  // alone.
  if (shards_weights() && last - first < (count_ + ranks_ - 1) / ranks_) {
    const weft::detail::ReplicasInStep in_step(count_, group_);
    static_cast<void>(compute_one(part_of(batch, rows, last), compute));
  }
  ready.reset();
  return reduce(std::move(leaves), told);
}

Tensor Replicas::step(std::int64_t number, std::int64_t in_epoch) {
  const std::optional<Rows> batch = parts_.replicas.next();
  if (!batch) return {};
  const std::int64_t rows = rows_of(*batch);
  if (in_epoch == 0) short_batch_ = false;
  const bool is_short = rows < count_;
  if (short_batch_ || (is_short && parts_.size && in_epoch + 1 < *parts_.size))
    throw ValueError("fit: a batch has fewer rows than the " + counted(count_, "replica") +
                     (is_short ? ", " + std::to_string(rows) : std::string()) +
                     ": only the last of an epoch may; let batches have " + counted(count_, "row") +
                     " or more");
  short_batch_ = is_short;
  Rows all = run(*batch, "step", "step " + std::to_string(number),
                 [&](const Rows &own, const Tensor &weight) {
                   return parts_.replicas.gradients(own, weight);
                 });
  const Tensor loss = all.front();
  all.erase(all.begin());
  if (!settings_.parallel.devices.empty()) {
    const std::vector<nn::NamedVariable> variables = parts_.replicas.variables();
    for (std::size_t i = 0; i < all.size(); ++i)
      if (all[i].defined())
        all[i] = weft::detail::moved(all[i], variables[i].variable.state()->device());
  }
  std::optional<optimizers::detail::PartsOfGradients> parts;
  if (part_of_) parts.emplace(*settings_.optimizer->internals());
  parts_.replicas.update(all);
  return loss;
}

bool Replicas::validate(std::int64_t epoch) {
  parts_.replicas.start_tests();
  bool any = false;
  for (std::int64_t i = 0; const std::optional<Rows> batch = parts_.replicas.next_test(); ++i) {
    run(*batch, "test", "test " + std::to_string(i) + " of epoch " + std::to_string(epoch),
        [&](const Rows &own, const Tensor &) {
          parts_.replicas.test(own);
          return Rows();
        });
    any = true;
  }
  return any;
}

void Replicas::meet(const std::string &what, std::initializer_list<bool *> flags) {
  if (!asked() || ranks_ == 1) return;
  together([&] {
    std::string own;
    for (const bool *const flag : flags) own += static_cast<char>(*flag);
    for (const std::string &of_rank : exchange_bytes(caller_, group_, what, own))
      for (std::size_t i = 0; bool *const flag : flags) *flag = of_rank[i++] != 0 || *flag;
  });
}

std::vector<std::string> Replicas::tell(const std::string &what, const std::string &text) {
  std::vector<std::string> texts;
  together([&] { texts = exchange_texts(caller_, group_, what, text); });
  return texts;
}

} // namespace weft::train::detail

// The state of an optimizer: its options, checked, and what is kept for each variable, made when it
// has a value.
#include "NN/Optimizers/State.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <set>

#include "Distributed/Execute.h"
#include "NN/Names.h"
#include "Ops/Interpreter.h"
#include "Runtime/OnDevice.h"
#include "Runtime/Variable.h"
#include "Support/Messages.h"
#include <weft/dtype_info.h>
#include <weft/ops.h>

namespace weft::optimizers {

namespace detail {

std::vector<Variable> Entry::all() const {
  std::vector<Variable> variables = {weight.variable};
  variables.insert(variables.end(), slots.begin(), slots.end());
  if (average) variables.push_back(*average);
  if (accumulated) variables.push_back(*accumulated);
  return variables;
}

namespace {

/// The first value of a variable of the state, as `first()` computes it now, also inside a trace.
template <class First>
void begin(const Variable &variable, const Shape &shape, const First &first) {
  if (variable.initialized()) return;
  variable.state()->initialize(shape, [&](const auto &...) {
    const Interpreter::Scope eager(nullptr);
    return first();
  });
}

/// To the device of a weight, which a function that runs on one may have moved there.
void follow(const Variable &variable, const VariableState &weight) {
  if (!weight.elsewhere() && !variable.state()->elsewhere()) return;
  static_cast<void>(variable.state()->load_on(weight.device()));
}

Variable counter(const std::string &name) {
  const Interpreter::Scope eager(nullptr);
  const DeviceScope host{Device()}; // each update looks at it
  return Variable(full({}, 0, DType::i64), name, /*trainable=*/false);
}

} // namespace

bool Entry::prepare(const Rule &rule) const {
  if (!weight.variable.initialized()) return false;
  const Shape shape = piece ? Shape{piece->size()} : weight.variable.shape();
  const auto number = [&](double value) {
    return [&, value] { return full(shape, value, weight.variable.dtype()); };
  };
  for (std::size_t i = 0; i < slots.size(); ++i) begin(slots[i], shape, number(rule.initial(i)));
  // Until there is an update, the average of the weights is what they are.
  if (average && !average->initialized()) {
    // Read before the average is locked: who holds several variables locks them by their addresses.
    const Interpreter::Scope eager(nullptr);
    Tensor value = piece ? own_part_of(*this) : weight.variable.value() + 0;
    begin(*average, shape, [&] { return value; });
  }
  if (accumulated) begin(*accumulated, shape, number(0));
  const VariableState &state = *weight.variable.state();
  for (const Variable &slot : slots) follow(slot, state);
  if (average) follow(*average, state);
  if (accumulated) follow(*accumulated, state);
  return true;
}

/// Puts `exchange(variable)` in the place of each variable that is kept.
template <class Exchange>
void Entry::exchange_kept(const Exchange &exchange) {
  const auto one = [&](Variable &variable) {
    const std::shared_ptr<VariableState> before = variable.state();
    variable = exchange(*before);
    before->retire("the state of its optimizer was cut over ranks, or joined, after the function "
                   "that uses it was compiled: compile it anew");
  };
  for (Variable &slot : slots) one(slot);
  if (average) one(*average);
  if (accumulated) one(*accumulated);
}

namespace {

Variable like(const VariableState &state) {
  return Variable(
      std::make_shared<VariableState>(state.dtype(), nullptr, state.name(), /*trainable=*/false));
}

} // namespace

void Entry::cut(const Piece &own, const Shards &over, const Rule &rule) {
  const Shape whole = weight.variable.shape();
  exchange_kept([&](VariableState &before) {
    const Variable part = like(before);
    part.state()->is_piece({.whole = whole, .begin = own.begin, .ranks = over.ranks});
    // One that was restored before it had a shape.
    if (before.waits()) before.initialize(whole, [](const auto &...) { return Tensor(); });
    if (before.initialized())
      begin(part, Shape{own.size()}, [&] { return part_of(before.load(), own); });
    return part;
  });
  piece = own;
  prepare(rule);
  if (!over.weights) return;
  cuts_over = distributed::number_of(over.group.state());
  if (own_cut() == nullptr) cut_weight(weight.variable, own, over);
}

std::shared_ptr<const VariableCut> Entry::own_cut() const {
  const auto cut = weight.variable.state()->cut();
  return cut != nullptr && cuts_over == cut->group ? cut : nullptr;
}

void Entry::join(const std::vector<Tensor> &values) {
  auto value = values.begin();
  if (own_cut() != nullptr) weight.variable.state()->join(*value++);
  exchange_kept([&](VariableState &before) {
    const Variable whole = like(before);
    begin(whole, weight.variable.shape(), [&] { return *value++; });
    follow(whole, *weight.variable.state());
    return whole;
  });
  piece.reset();
  cuts_over.reset();
}

OptimizerState::OptimizerState(const char *kind, std::string name, Listing listing,
                               LearningRate rate, CommonOptions common,
                               std::shared_ptr<const Rule> rule, OptionTexts options)
    : kind(kind), name(std::move(name)), listing(std::move(listing)), rate(std::move(rate)),
      common(std::move(common)), rule(std::move(rule)), options(std::move(options)),
      step(counter(this->name + ".step")) {
  if (this->common.accumulate > 1) micro = counter(this->name + ".accumulated");
}

OptimizerState::OptimizerState(const std::shared_ptr<OptimizerState> &other)
    : kind(other->kind), name(other->name), listing(other->listing), rate(other->rate),
      common(other->common), rule(other->rule), options(other->options), step(other->step),
      micro(other->micro), warned(other->warned.load()), origin(other), over(other->shards()) {
  for (const std::shared_ptr<Entry> &entry : other->all()) {
    entries.push_back(std::make_shared<Entry>(*entry));
    original_weights.push_back(entry->weight.variable);
  }
}

std::shared_ptr<Entry> OptimizerState::made(nn::NamedVariable weight) const {
  auto entry = std::make_shared<Entry>(std::move(weight));
  const Variable &variable = entry->weight.variable;
  const auto contains = [&](const std::string &part) {
    return entry->weight.path.find(part) != std::string::npos ||
           variable.name().find(part) != std::string::npos;
  };
  entry->decays = common.weight_decay != 0 &&
                  std::none_of(common.no_decay.begin(), common.no_decay.end(), contains);
  const auto state = [&](const std::string &slot) {
    return Variable(std::make_shared<VariableState>(variable.dtype(), nullptr,
                                                    variable.name() + "." + name + "_" + slot,
                                                    /*trainable=*/false));
  };
  for (const char *slot : rule->slots()) entry->slots.push_back(state(slot));
  if (common.average) entry->average = state("average");
  if (common.accumulate > 1) entry->accumulated = state("accumulated");
  return entry;
}

void OptimizerState::refresh(std::vector<nn::NamedVariable> listed) {
  if (complete) return;
  Entries next;
  complete = true;
  for (nn::NamedVariable &variable : listed) {
    const auto known = std::find_if(entries.begin(), entries.end(), [&](const auto &entry) {
      return entry->weight.variable == variable.variable;
    });
    next.push_back(known != entries.end() ? *known : made(std::move(variable)));
    complete = is_ready(*next.back()) && complete;
  }
  if (over != nullptr && over->cut && next != entries) {
    complete = true;
    throw StateError(std::string(kind) + ": its model has come to hold other variables, and its "
                                         "state is cut over ranks: call gather_state() first");
  }
  entries = std::move(next);
  if (complete && over != nullptr && !over->cut) cut_all();
  complete = complete && !holds;
}

bool OptimizerState::is_ready(const Entry &entry) const {
  const bool later = holds || (over != nullptr && !entry.piece);
  return later ? entry.weight.variable.initialized() : entry.prepare(*rule);
}

void OptimizerState::cut_all() {
  std::vector<Cut::Sized> sizes;
  for (const auto &entry : entries) {
    const Variable &weight = entry->weight.variable;
    const auto cut = weight.state()->cut();
    // Those who cut weights over the same ranks have the same parts of them.
    if (cut != nullptr && !(over->weights && cut->ranks == over->ranks &&
                            cut->group == distributed::number_of(over->group.state())))
      throw StateError(std::string(kind) + ": shard_state: " +
                       said_of_cut("the variable '" + weight.name() + "'", cut->ranks) +
                       (over->weights ? " of another group" : "") + ": call gather_state() first");
    sizes.push_back(
        {cut != nullptr ? cut->part->piece()->elements_of_whole() : weight.state()->load().size(),
         item_size(weight.dtype())});
  }
  auto next = std::make_shared<Shards>(*over);
  next->cut.emplace(std::move(sizes), over->ranks, over->weights);
  for (std::size_t i = 0; i < entries.size(); ++i)
    entries[i]->cut(next->cut->piece(i, over->rank), *next, *rule);
  over = std::move(next);
}

std::shared_ptr<const Shards> OptimizerState::shards() const {
  const std::lock_guard lock(mutex);
  return over;
}

void OptimizerState::shard(Shards by) {
  {
    const std::lock_guard lock(mutex);
    if (over != nullptr) {
      const bool same_group = over->group.state() == by.group.state() && over->ranks == by.ranks;
      if (same_group && over->weights == by.weights) return;
      throw StateError(std::string(kind) + ": shard_state: the state is cut over " +
                       std::to_string(over->ranks) + " ranks" +
                       (!same_group     ? " of another group"
                        : over->weights ? ", with the weights"
                                        : ", without the weights") +
                       ": call gather_state() first");
    }
    over = std::make_shared<const Shards>(std::move(by));
    complete = false;
  }
  try {
    static_cast<void>(all());
  } catch (...) {
    const std::lock_guard lock(mutex);
    over = nullptr;
    throw;
  }
}

void OptimizerState::unshard(const std::vector<std::vector<Tensor>> &values) {
  const std::lock_guard lock(mutex);
  over = nullptr;
  for (std::size_t i = 0; i < values.size(); ++i) entries[i]->join(values[i]);
}

bool OptimizerState::has_values() const {
  const std::lock_guard lock(mutex);
  return std::ranges::any_of(entries, [](const auto &entry) {
    const std::vector<Variable> kept = entry->all();
    return std::any_of(kept.begin() + 1, kept.end(), [](const Variable &variable) {
      return variable.initialized() || variable.state()->waits();
    });
  });
}

void OptimizerState::hold(bool now) {
  const std::lock_guard lock(mutex);
  holds = now;
  // Those that have values all the same keep them.
  complete = complete && !now;
}

std::optional<Entries> OptimizerState::complete_entries() {
  const std::lock_guard lock(mutex);
  if (complete) return entries;
  return std::nullopt;
}

bool OptimizerState::relist() {
  if (origin != nullptr) return false;
  std::vector<nn::NamedVariable> listed = listing();
  const std::lock_guard lock(mutex);
  const Entries before = entries;
  complete = false;
  refresh(std::move(listed));
  return entries != before;
}

Entries OptimizerState::all() {
  if (origin == nullptr) {
    if (std::optional<Entries> known = complete_entries()) return *std::move(known);
    // Without the lock: models of other languages take locks of theirs.
    std::vector<nn::NamedVariable> listed = listing();
    const std::lock_guard lock(mutex);
    refresh(std::move(listed));
    return entries;
  }
  // Those that came later are the original's.
  Entries all = origin->all();
  for (std::shared_ptr<Entry> &entry : all) {
    const auto known =
        std::find(original_weights.begin(), original_weights.end(), entry->weight.variable);
    if (known != original_weights.end())
      entry = entries[static_cast<std::size_t>(known - original_weights.begin())];
  }
  return all;
}

bool OptimizerState::has_the_variables_of(OptimizerState &other) const {
  const auto same = [](const Variable *a, const Variable *b) {
    return a == nullptr || b == nullptr ? a == b : *a == *b;
  };
  if (step != other.step || micro != other.micro || !same(rate.variable(), other.rate.variable()))
    return false;
  const Entries originals = other.all();
  return std::equal(entries.begin(), entries.end(), originals.begin(), originals.end(),
                    [](const auto &a, const auto &b) { return a->all() == b->all(); });
}

Entries OptimizerState::prepared() {
  if (origin == nullptr)
    if (std::optional<Entries> known = complete_entries()) return *std::move(known);
  Entries all = this->all();
  const std::lock_guard lock(mutex);
  std::erase_if(all, [&](const auto &entry) { return !is_ready(*entry); });
  return all;
}

void check_model(const std::string &kind, const std::vector<nn::NamedVariable> &given,
                 const Entries &entries) {
  std::size_t i = 0;
  while (i < given.size() && i < entries.size() && given[i].variable == entries[i]->weight.variable)
    ++i;
  if (i == given.size() && i == entries.size()) return;
  const auto described = [](const nn::NamedVariable &entry) {
    return "'" + entry.variable.name() + "' " +
           to_string(TensorType{entry.variable.dtype(), entry.variable.shape()});
  };
  std::string words = kind + ": the gradients are of another model, with " +
                      std::to_string(given.size()) + " variables where the optimizer has " +
                      std::to_string(entries.size());
  if (i < given.size() && i < entries.size()) {
    const std::string one = described(given[i]), other = described(entries[i]->weight);
    words += ": number " + std::to_string(i) + " is ";
    if (one == other)
      words += one + " in both, but not the same variable: one model is a clone of the other, or "
                     "was made like it";
    else words += one + ", where the optimizer has " + other;
  }
  throw ValueError(words);
}

Listing listing_of(std::vector<Variable> variables) {
  return [variables = std::move(variables)] {
    // Their places in the list stay the same in another process; names may not.
    std::vector<nn::NamedVariable> all;
    for (const Variable &variable : variables)
      all.push_back({std::to_string(all.size()), variable});
    return all;
  };
}

} // namespace detail

void check_option(const char *kind, const char *option, double value, double below) {
  if (value >= 0 && value < below) return;
  throw ValueError(std::string(kind) + ": " + option + " is " + number_text(value) +
                   ", but must be at least 0 and " +
                   (std::isinf(below) ? "finite" : "below " + number_text(below)));
}

std::shared_ptr<detail::OptimizerState> make_state(const char *kind, detail::Listing listing,
                                                   LearningRate rate, std::string name,
                                                   detail::CommonOptions common,
                                                   std::shared_ptr<const Rule> rule,
                                                   detail::OptionTexts options) {
  constexpr double any = std::numeric_limits<double>::infinity();
  if (rate.is_number()) check_option(kind, "learning_rate", rate.number(), any);
  if (const Variable *const variable = rate.variable();
      variable != nullptr && variable->initialized() &&
      (!is_floating(variable->dtype()) || !variable->shape().empty()))
    throw ShapeError(std::string(kind) + ": the learning rate must be a floating scalar, but the " +
                     "variable '" + variable->name() + "' is " +
                     to_string(TensorType{variable->dtype(), variable->shape()}));
  check_option(kind, "weight_decay", common.weight_decay, any);
  int clips = 0;
  for (const auto &[option, value] :
       {std::pair("clip_value", &common.clip_value), std::pair("clip_norm", &common.clip_norm),
        std::pair("clip_global_norm", &common.clip_global_norm)}) {
    if (!*value) continue;
    ++clips;
    check_option(kind, option, **value, any);
    if (**value == 0)
      throw ValueError(std::string(kind) + ": " + option + " is 0, but must be positive");
  }
  if (clips > 1)
    throw ValueError(std::string(kind) +
                     ": at most one of clip_value, clip_norm and clip_global_norm may be given");
  if (common.average) check_option(kind, "average", *common.average, 1);
  if (common.accumulate < 1)
    throw ValueError(std::string(kind) + ": accumulate is " + std::to_string(common.accumulate) +
                     ", but must be at least 1");
  const std::vector<nn::NamedVariable> variables = listing();
  if (variables.empty())
    throw ValueError(std::string(kind) + ": there is no variable to update: none is trainable");
  std::set<const VariableState *> seen;
  for (const nn::NamedVariable &entry : variables) {
    const Variable &variable = entry.variable;
    if (!seen.insert(variable.state().get()).second)
      throw ValueError(std::string(kind) + ": the variable '" + variable.name() +
                       "' is given twice");
    if (!is_floating(variable.dtype()))
      throw DTypeError(std::string(kind) + ": the variable '" + variable.name() +
                       "' must be floating, but is " + std::string(name_of(variable.dtype())));
    if (rate.is_number() && rate.number() > finfo(variable.dtype()).max)
      throw ValueError(std::string(kind) + ": learning_rate is " + number_text(rate.number()) +
                       ", which is too large for " + std::string(name_of(variable.dtype())) +
                       ", the dtype of the variable '" + variable.name() + "'");
  }
  std::string lower = kind;
  for (char &c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (name.empty()) name = own_name_of(lower);
  auto state = std::make_shared<detail::OptimizerState>(kind, std::move(name), std::move(listing),
                                                        std::move(rate), std::move(common),
                                                        std::move(rule), std::move(options));
  return state;
}

} // namespace weft::optimizers

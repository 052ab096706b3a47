// The state of an optimizer: what is kept for each variable, made when it has a value.
#include "NN/Optimizers/State.h"

#include <algorithm>

#include "Ops/Interpreter.h"
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

/// State starts with numbers, also inside a trace.
Variable made(const Shape &shape, DType dtype, double value, const std::string &name) {
  const Interpreter::Scope eager(nullptr);
  return Variable(full(shape, value, dtype), name, /*trainable=*/false);
}

} // namespace

OptimizerState::OptimizerState(const char *kind, std::string name, Listing listing,
                               LearningRate rate, CommonOptions common,
                               std::shared_ptr<const Rule> rule)
    : kind(kind), name(std::move(name)), listing(std::move(listing)), rate(std::move(rate)),
      common(std::move(common)), rule(std::move(rule)),
      step(made({}, DType::i64, 0, this->name + ".step")) {
  if (this->common.accumulate > 1) micro = made({}, DType::i64, 0, this->name + ".accumulated");
}

OptimizerState::OptimizerState(const std::shared_ptr<OptimizerState> &other)
    : kind(other->kind), name(other->name), listing(other->listing), rate(other->rate),
      common(other->common), rule(other->rule), step(other->step), micro(other->micro),
      warned(other->warned.load()), origin(other) {
  for (const std::shared_ptr<Entry> &entry : other->prepared()) {
    entries.push_back(std::make_shared<Entry>(*entry));
    original_weights.push_back(entry->weight.variable);
  }
}

Entries OptimizerState::prepared() {
  if (origin != nullptr) {
    Entries all = origin->prepared();
    for (std::shared_ptr<Entry> &entry : all) {
      const auto known =
          std::find(original_weights.begin(), original_weights.end(), entry->weight.variable);
      if (known != original_weights.end())
        entry = entries[static_cast<std::size_t>(known - original_weights.begin())];
    }
    return all;
  }
  const std::lock_guard lock(mutex);
  if (complete) return entries;
  Entries next;
  complete = true;
  for (nn::NamedVariable &variable : listing()) {
    if (!variable.variable.initialized()) {
      complete = false;
      continue;
    }
    const auto known = std::find_if(entries.begin(), entries.end(), [&](const auto &entry) {
      return entry->weight.variable == variable.variable;
    });
    if (known != entries.end()) {
      next.push_back(*known);
      continue;
    }
    const Variable weight = variable.variable;
    Entry entry(std::move(variable));
    const auto contains = [&](const std::string &part) {
      return entry.weight.path.find(part) != std::string::npos;
    };
    entry.decays = common.weight_decay != 0 &&
                   std::none_of(common.no_decay.begin(), common.no_decay.end(), contains);
    const auto state = [&](const char *slot, double value) {
      return made(weight.shape(), weight.dtype(), value, weight.name() + "." + name + "_" + slot);
    };
    const std::span<const char *const> slots = rule->slots();
    for (std::size_t i = 0; i < slots.size(); ++i)
      entry.slots.push_back(state(slots[i], rule->initial(i)));
    if (common.average) {
      // Until there is an update, the average of the weights is what they are.
      const Interpreter::Scope eager(nullptr);
      entry.average.emplace(weight.value() + 0, weight.name() + "." + name + "_average",
                            /*trainable=*/false);
    }
    if (common.accumulate > 1) entry.accumulated = state("accumulated", 0);
    next.push_back(std::make_shared<Entry>(std::move(entry)));
  }
  entries = std::move(next);
  return entries;
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
    std::vector<nn::NamedVariable> all;
    for (const Variable &variable : variables) all.push_back({variable.name(), variable});
    return all;
  };
}

} // namespace detail

} // namespace weft::optimizers

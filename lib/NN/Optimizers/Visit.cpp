// What structure an optimizer is to who visits it: signatures, checkpoints and copies.
#include "NN/Optimizers/State.h"

namespace weft::optimizers {

using detail::Entry;

namespace {

/// Visits the state of an optimizer, in which variables may be exchanged.
void visit(detail::OptimizerState &state, const detail::Entries &entries,
           StructureVisitor &visitor) {
  const auto variable = [&](std::string_view name, Variable &value) {
    visitor.push(name);
    visitor.variable(value);
    visitor.pop();
  };
  // What it is, the step, the learning rate, the calls since the last update, the weights' state.
  visitor.enter(Node::tuple, 5);
  visitor.enter(Node::sequence, state.options.size() + 1);
  const auto literal = [&](std::string_view name, std::string_view text) {
    visitor.push(name);
    visitor.literal(text);
    visitor.pop();
  };
  literal("kind", state.kind);
  for (const auto &[name, text] : state.options) literal(name, text);
  variable("step", state.step);
  if (auto *rate = state.rate.variable()) variable("learning_rate", *rate);
  else visitor.enter(Node::empty, 0);
  if (state.micro) variable("accumulated", *state.micro);
  else visitor.enter(Node::empty, 0);
  visitor.push("slots");
  visitor.enter(Node::sequence, entries.size());
  for (const std::shared_ptr<Entry> &one : entries) {
    Entry &entry = *one;
    const std::size_t count =
        entry.slots.size() + (entry.average ? 1 : 0) + (entry.accumulated ? 1 : 0);
    visitor.enter(Node::sequence, count + 1);
    const std::span<const char *const> names = state.rule->slots();
    const auto of_weight = [&](std::string_view slot, Variable &value) {
      visitor.push(slot);
      variable(entry.weight.path, value);
      visitor.pop();
    };
    // The weight is the model's; it is here for who exchanges variables.
    of_weight("weight", entry.weight.variable);
    for (std::size_t s = 0; s < entry.slots.size(); ++s) of_weight(names[s], entry.slots[s]);
    if (entry.average) of_weight("average", *entry.average);
    if (entry.accumulated) of_weight("accumulated", *entry.accumulated);
  }
  visitor.pop();
}

} // namespace

void Optimizer::weft_visit(StructureVisitor &visitor) {
  // Other handles of this optimizer keep their variables, if some are exchanged.
  auto own = std::make_shared<detail::OptimizerState>(state_);
  visit(*own, own->entries, visitor);
  if (!own->has_the_variables_of(*state_)) state_ = std::move(own);
}

void Optimizer::weft_visit(StructureVisitor &visitor) const {
  visit(*state_, state_->all(), visitor);
}

} // namespace weft::optimizers

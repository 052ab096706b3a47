// Takes the state of a structure at one moment.
#include "Checkpoint/Snapshot.h"

#include "Ops/Interpreter.h"
#include "Runtime/StridedCopy.h"
#include "Runtime/Variable.h"

namespace weft {

using namespace saved_names;

detail::PartCollector collect_parts(const char *function,
                                    const std::vector<CheckpointPart> &parts) {
  if (const Interpreter *interpreter = Interpreter::current();
      interpreter != nullptr && interpreter->traces())
    throw StateError(std::string(function) +
                     ": inside of a traced function there are no values: save and restore "
                     "outside, or in a host call");
  detail::PartCollector all;
  for (const CheckpointPart &part : parts) part.collect(all);
  return all;
}

std::vector<VariableState *> states_of(const std::vector<Variable> &variables) {
  std::vector<VariableState *> states;
  for (const Variable &variable : variables)
    if (variable.initialized()) states.push_back(variable.state().get());
  return states;
}

namespace {

std::string named(std::string_view kind, const std::string &path) {
  return std::string(kind) + path;
}

} // namespace

Snapshot take_snapshot(const char *function, const Checkpoint &what, const SaveOptions &options) {
  const detail::PartCollector parts = collect_parts(function, what.parts());
  Snapshot snapshot;
  std::map<std::string, std::string> &texts = snapshot.texts;
  texts.emplace(kFormat, kCheckpointFormat);
  const std::chrono::duration<double> now = std::chrono::system_clock::now().time_since_epoch();
  texts.emplace(kTime, detail::text_of_number(now.count()));
  if (options.metric) texts.emplace(kMetric, detail::text_of_number(*options.metric));
  if (options.step) texts.emplace(kStep, detail::text_of_number(*options.step));
  for (const auto &part : parts.numbers) texts.emplace(named(kNumber, part.path), part.text);
  for (const auto &part : parts.states)
    texts.emplace(named(kState, part.path), part.state->saved_state());
  for (const auto &[path, value, target] : parts.tensors)
    if (value.defined()) snapshot.items.push_back(writable_item(function, path, value));
    else texts.emplace(named(kUnset, path), "");

  std::vector<Variable> variables;
  for (const auto &part : parts.variables) variables.push_back(part.variable);
  // Between two updates: compiled calls and optimizers hold all that they change. What they change
  // next gets memory of its own, for these tensors keep theirs.
  const HeldVariables held(states_of(variables));
  for (const auto &[paths, variable] : parts.variables) {
    for (std::size_t i = 1; i < paths.size(); ++i) texts.emplace(named(kAlias, paths[i]), paths[0]);
    if (variable.initialized()) snapshot.items.push_back({paths[0], variable.state()->load()});
    else texts.emplace(named(kUnset, paths[0]), "");
  }
  return snapshot;
}

} // namespace weft

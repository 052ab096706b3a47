// Checkpoints without a manager: save, write, restore and the latest of a folder; and weights
// alone, the variables of a model in a safetensors file, Weft's or another program's.
#include "Checkpoint/Checkpoint.h"

#include <algorithm>

#include "IO/Safetensors.h"
#include "Runtime/Variable.h"
#include "Support/CallSite.h"
#include "Support/Files.h"
#include "Support/Log.h"
#include <weft/checkpoint.h>

namespace weft {

std::string Checkpoint::save(const std::string &folder, std::source_location where) const {
  const CallSite site(where);
  check_path("Checkpoint::save", folder);
  return write_numbered(folder, take_snapshot("Checkpoint::save", *this, {})).path;
}

void Checkpoint::write(const std::string &path, std::source_location where) const {
  const CallSite site(where);
  check_path("Checkpoint::write", path);
  Snapshot snapshot = take_snapshot("Checkpoint::write", *this, {});
  AtomicFile file(path);
  write_safetensors(file, std::move(snapshot.items), std::move(snapshot.texts));
  file.commit();
}

RestoreStatus Checkpoint::restore(const std::optional<std::string> &path,
                                  std::source_location where) const {
  const CallSite site(where);
  auto state = std::make_shared<detail::RestoreState>();
  if (path) {
    check_path("Checkpoint::restore", *path);
    state->file.emplace(*path);
    static_cast<void>(info_of(*state->file, 0));
    state->parts = parts_;
    restore_parts(*state, {.function = "Checkpoint::restore"});
  }
  return RestoreStatus(std::move(state));
}

std::optional<std::string> latest_checkpoint(const std::string &folder,
                                             std::source_location where) {
  const CallSite site(where);
  check_path("latest_checkpoint", folder);
  const std::vector<NumberedFile> files = numbered_files(folder);
  for (auto file = files.rbegin(); file != files.rend(); ++file) {
    try {
      static_cast<void>(info_of(SafetensorsFile(file->path), file->number));
      return file->path;
    } catch (const IOError &error) {
      warn_line("latest_checkpoint: passed over a broken file: " + std::string(error.message()));
    }
  }
  return std::nullopt;
}

WeightNames::WeightNames(std::map<std::string, std::string> names) {
  for (const auto &[path, name] : names) paths_.push_back(path);
  name_ = [names = std::move(names)](const std::string &path) {
    const auto found = names.find(path);
    return found == names.end() ? path : found->second;
  };
}

namespace detail {

void save_weights(const std::string &path, const std::vector<nn::NamedVariable> &variables,
                  const std::source_location &where) {
  const CallSite site(where);
  check_path("save_weights", path);
  std::vector<SafetensorsItem> items;
  std::vector<Variable> all;
  for (const nn::NamedVariable &entry : variables) {
    if (!entry.variable.initialized())
      throw StateError("save_weights: '" + entry.path +
                       "' has no value yet: it gets it when its layer is first called");
    if (const int ranks = entry.variable.ranks(); ranks > 1)
      throw StateError(said_of_cut("save_weights: '" + entry.path + "'", ranks) +
                       std::string(kGatherOnAll));
    all.push_back(entry.variable);
  }
  {
    const HeldVariables held(states_of(all));
    for (const nn::NamedVariable &entry : variables)
      items.push_back({entry.path, entry.variable.state()->load()});
  }
  AtomicFile file(path);
  write_safetensors(file, std::move(items), {});
  file.commit();
}

RestoreStatus load_weights(const std::string &path, std::vector<nn::NamedVariable> variables,
                           const LoadWeightsOptions &options, const std::source_location &where) {
  const CallSite site(where);
  check_path("load_weights", path);
  for (const std::string &named : options.names.paths())
    if (std::none_of(variables.begin(), variables.end(),
                     [&](const nn::NamedVariable &entry) { return entry.path == named; }))
      throw ValueError("load_weights: the map of names has '" + named +
                       "', which is no variable of the model");
  auto state = std::make_shared<RestoreState>();
  state->file.emplace(path);
  state->names = options.names;
  state->loading.widen = options.widen;
  state->variables = std::move(variables);
  for (nn::NamedVariable &entry : state->variables)
    state->parts.emplace_back(entry.path, entry.variable);
  restore_parts(*state, {.function = "load_weights", .strict = options.strict});
  return RestoreStatus(std::move(state));
}

} // namespace detail

} // namespace weft

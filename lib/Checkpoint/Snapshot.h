// The state of a structure at one moment, ready to be written.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "IO/Safetensors.h"
#include <weft/checkpoint.h>

namespace weft {

/// The names of a checkpoint's metadata: the version of the format, when it was saved, what the
/// user said of it, and, in front of paths, what is no tensor.
namespace saved_names {
constexpr std::string_view kFormat = "weft.format";
constexpr std::string_view kTime = "weft.time"; ///< seconds since 1970
constexpr std::string_view kMetric = "weft.metric";
constexpr std::string_view kStep = "weft.step";
constexpr std::string_view kAlias = "weft.alias.";   ///< the path that the variable is saved by
constexpr std::string_view kNumber = "weft.number."; ///< a number, an enum or a text
constexpr std::string_view kState = "weft.state.";   ///< of something Stateful
constexpr std::string_view kUnset = "weft.unset.";   ///< has no value yet
} // namespace saved_names

/// The version that this library writes, and the only one that it reads.
constexpr std::string_view kCheckpointFormat = "1";

struct Snapshot {
  std::vector<SafetensorsItem> items;
  std::map<std::string, std::string> texts;
};

/// Takes the values of all variables while no update goes on. Throws StateError inside of a traced
/// function, naming `function`.
Snapshot take_snapshot(const char *function, const Checkpoint &what, const SaveOptions &options);

/// All parts of a checkpoint by their paths. Throws the same.
detail::PartCollector collect_parts(const char *function, const std::vector<CheckpointPart> &parts);

/// The states of variables that have values, without those that stand for others.
std::vector<VariableState *> states_of(const std::vector<Variable> &variables);

} // namespace weft

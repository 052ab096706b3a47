// Restoring in two steps: first everything is compared, then everything is assigned.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <weft/checkpoint.h>
#include <weft/safetensors.h>

namespace weft {

/// That a file is whole, but not of what it is to be restored into.
class MisfitError : public IOError {
public:
  using IOError::IOError;
};

namespace detail {

/// What a restore has done so far, and what it does it with.
struct RestoreState {
  RestoreState() = default;
  RestoreState(const RestoreState &) = delete;
  RestoreState &operator=(const RestoreState &) = delete;
  /// Warns of what did not match, unless it is quiet.
  ~RestoreState();

  std::optional<SafetensorsFile> file; ///< none where there was no checkpoint
  std::vector<CheckpointPart> parts;
  std::vector<nn::NamedVariable> variables; ///< that parts may refer to
  WeightNames names;                        ///< what paths are called in the file
  SafetensorsOptions loading;

  std::set<std::string> done;       ///< paths here that have their values
  std::set<std::string> used;       ///< names in the file
  std::vector<std::string> missing; ///< paths here that have values, but none in the file
  std::vector<std::string> unused;  ///< names of the file
  std::vector<std::pair<std::string, Variable>> waiting; ///< were without a shape when restored
  bool quiet = false;                                    ///< nobody needs to be warned
};

} // namespace detail

struct RestoreRules {
  /// Names the function in errors.
  const char *function;
  /// Whether what is missing or unused is a MisfitError too.
  bool strict = false;
};

/// Restores what is not done. Throws, before anything is changed, MisfitError, which lists all that
/// does not fit, and IOError for a damaged file.
void restore_parts(detail::RestoreState &state, const RestoreRules &rules);

/// Initializes the variables whose restored values wait for the first call of their layer, with the
/// shapes of these. The layer's call still refuses another shape.
void initialize_waiting(const char *function, const std::vector<CheckpointPart> &parts);

} // namespace weft

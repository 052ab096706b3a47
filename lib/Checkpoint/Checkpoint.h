// Checkpoints from the inside: the state of a structure at one moment, folders of numbered files,
// and restoring in two steps, of which the first compares everything and the second assigns.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "IO/Safetensors.h"
#include <weft/checkpoint.h>
#include <weft/safetensors.h>

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

/// Who takes a part of what several have together: all of them have what is whole, and each has its
/// pieces of the rest.
struct PartOf {
  int number = 0, parts = 1;
};

/// Takes the values of all variables, or one's part of them, while no update goes on. Throws
/// StateError inside of a traced function, and for a piece of a variable where there is one part,
/// naming `function`.
Snapshot take_snapshot(const char *function, const Checkpoint &what, const SaveOptions &options,
                       const PartOf &of = {});

/// All parts of a checkpoint by their paths. Throws the same.
detail::PartCollector collect_parts(const char *function, const std::vector<CheckpointPart> &parts);

/// The states of variables that have values, without those that stand for others.
std::vector<VariableState *> states_of(const std::vector<Variable> &variables);

struct NumberedFile {
  std::int64_t number;
  std::string path;
};

/// The numbered checkpoints of a folder, ascending: files, and the indices of those that are
/// folders; none if there is no such folder. Throws IOError.
std::vector<NumberedFile> numbered_files(const std::string &folder);

/// Writes the file of the next free number, having created the folder, and returns it; maybe beside
/// others who want the processors, see write_safetensors. Throws IOError.
NumberedFile write_numbered(const std::string &folder, Snapshot snapshot,
                            bool beside_others = false);

/// Removes a checkpoint so that no other process finds half of it, with the folder that an index is
/// in. One that is gone already is no fault. Throws IOError.
void remove_numbered(const std::string &path);

/// A checkpoint that several processes write, a part each, under a temporary name: the next number
/// is its name when it is published, with an index, as a whole or not at all. One that is not
/// published vanishes. All members throw IOError.
class FolderOfParts {
public:
  /// Makes it, and the folder that it is to be in.
  explicit FolderOfParts(const std::string &folder);
  ~FolderOfParts();
  FolderOfParts(const FolderOfParts &) = delete;
  FolderOfParts &operator=(const FolderOfParts &) = delete;

  const std::string &path() const { return path_; }
  /// Writes the index of the parts, of whose headers these are the digests, and gives the folder
  /// its number.
  NumberedFile publish(const std::vector<std::string> &digests);

private:
  std::string folder_, path_;
  std::uint32_t generation_; ///< of forks: that of who made it
  int lock_ = -1;            ///< held, so that nobody takes it for what a dead process has left
};

/// Writes a part into the folder, maybe beside others who want the processors; gives the digest of
/// its header. Throws IOError.
std::string write_part(const std::string &folder, Snapshot snapshot, const PartOf &of,
                       bool beside_others = false);

/// Lets the other threads of the program go first, from now on: they train, and wait for each other
/// at every step.
void yield_to_others();

/// What is known of the checkpoints of a folder whose headers are whole, oldest first.
std::vector<CheckpointInfo> whole_ones(const std::string &folder, bool warns);
/// Removes those that are not to be kept.
void remove_others(const std::string &folder, const CheckpointManagerOptions &options);

/// Removes temporary files of writers that are no more, if they have been there for a minute: for
/// an hour where the disk has no locks.
void remove_leftovers(const std::string &folder);

/// What a file says of itself. Throws IOError if it is no checkpoint of a version that is known.
CheckpointInfo info_of(const SafetensorsFile &file, std::int64_t number);

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

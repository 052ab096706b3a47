// Checkpoints: saving and restoring models, optimizers, data sets and whole runs.
#pragma once

#include <chrono>
#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <weft/detail/saved_parts.h>
#include <weft/nn/model.h>

namespace weft {

namespace detail {
struct RestoreState;
struct ManagerState;
} // namespace detail

/// Something that a checkpoint has under a name. It is looked at when the checkpoint is saved or
/// restored, and must live until then.
class CheckpointPart {
public:
  template <class T>
  CheckpointPart(std::string name, T &part)
      : CheckpointPart(std::move(name), part, /*fields=*/false) {}
  /// The one structure of a checkpoint, whose fields have names enough.
  template <class T>
  static CheckpointPart whole(T &structure) {
    return CheckpointPart({}, structure, /*fields=*/true);
  }

  void collect(detail::PartCollector &to) const { collect_(to); }

private:
  template <class T>
  CheckpointPart(std::string name, T &part, bool fields) {
    static_assert(detail::is_structure<T>(), WEFT_STRUCTURE_WANTED("what a checkpoint can have"));
    if constexpr (detail::is_structure<T>())
      collect_ = [name = std::move(name), &part, fields](detail::PartCollector &to) {
        if (!name.empty()) to.push(name);
        detail::collect(part, fields, to);
        if (!name.empty()) to.pop();
      };
  }

  std::function<void(detail::PartCollector &)> collect_;
};

/// What a restore found, and what it could not do. Values of variables that have no shape yet wait
/// in them until they are initialized; what is added to the structure later (a layer of a vector)
/// gets its values when one of the assert_ members is next called. One that goes while something
/// did not match warns in the log, unless an assert_ member or expect_partial was called.
class RestoreStatus {
public:
  RestoreStatus(RestoreStatus &&) noexcept;
  RestoreStatus &operator=(RestoreStatus &&) noexcept;
  ~RestoreStatus();

  /// Throws AssertionError, which lists them, if something in the file was not used, or waits for a
  /// variable to be initialized, or something here is not in the file.
  RestoreStatus &assert_consumed(std::source_location where = WEFT_HERE);
  /// Throws AssertionError if something here that has a value is not in the file.
  RestoreStatus &assert_existing_objects_matched(std::source_location where = WEFT_HERE);
  /// Throws AssertionError if nothing matched.
  RestoreStatus &assert_nontrivial_match(std::source_location where = WEFT_HERE);
  /// Says that not all will match, so that there is nothing to warn of.
  RestoreStatus &expect_partial();

  /// Paths here that have values, but none in the file.
  std::vector<std::string> missing() const;
  /// Paths of the file that nothing here has.
  std::vector<std::string> unused() const;
  /// Paths whose values wait for their variables to be initialized.
  std::vector<std::string> waiting() const;

  /// For the library itself.
  explicit RestoreStatus(std::shared_ptr<detail::RestoreState> state);
  /// The same restore: what one of them restores is done for the other.
  RestoreStatus shared() const;
  /// Gives what is in these parts now, and was not when it was restored, its values. Throws IOError
  /// for what does not fit, before anything is changed.
  void restore_into(std::vector<CheckpointPart> parts);

private:
  std::shared_ptr<detail::RestoreState> state_;
};

/// A structure, or several parts under names, as a file: every variable and tensor by its path
/// ("model.blocks.1.attention.query.kernel"), each once, the state of optimizers
/// ("adam.slots.m.0.kernel"), the state of data sets and generators, and the numbers, enums
/// and strings that are parts by themselves or fields of the one structure (an epoch). Numbers
/// deeper in are what a layer or a metric is constructed with: they stay as the program says. So do
/// tensors and numbers that are const.
///
///   Checkpoint checkpoint(run);                             // a struct with WEFT_FIELDS
///   Checkpoint checkpoint{{"model", model}, {"adam", adam}, {"epoch", epoch}};
///
/// Files are in the safetensors format, with a digest of each tensor and of the header. They appear
/// as a whole or not at all, also when the machine stops.
class Checkpoint {
public:
  template <class T>
    requires(!std::is_same_v<std::remove_const_t<T>, Checkpoint>)
  Checkpoint(T &structure) : parts_{CheckpointPart::whole(structure)} {}
  Checkpoint(std::initializer_list<CheckpointPart> parts) : parts_(parts) {}
  explicit Checkpoint(std::vector<CheckpointPart> parts) : parts_(std::move(parts)) {}

  /// Writes the next numbered file of a folder, which is created if it is not there, and returns
  /// its path: "run1/ckpt-1.safetensors". What is saved is the state at one moment, also while
  /// compiled functions and optimizers update it in other threads. Throws IOError, ValueError if
  /// two parts have one path, and StateError inside of a traced function.
  std::string save(const std::string &folder, std::source_location where = WEFT_HERE) const;
  /// Writes a file of that name.
  void write(const std::string &path, std::source_location where = WEFT_HERE) const;
  /// Gives everything that is here and in the file its value from there; the rest stays as it is.
  /// Throws IOError before anything is changed if the file is not whole or not what its digests
  /// say, or has another dtype, shape or kind for something; that lists all of it. Without a path
  /// nothing is restored, and the status says so if it is asked.
  RestoreStatus restore(const std::optional<std::string> &path,
                        std::source_location where = WEFT_HERE) const;

  /// For the library itself.
  const std::vector<CheckpointPart> &parts() const { return parts_; }

private:
  std::vector<CheckpointPart> parts_;
};

/// The numbered file of the highest number in a folder whose header is whole, or nothing if there
/// is none or no folder. The log warns of those that are broken. Throws IOError if the folder
/// cannot be read.
std::optional<std::string> latest_checkpoint(const std::string &folder,
                                             std::source_location where = WEFT_HERE);

/// What is known of a checkpoint without restoring it.
struct CheckpointInfo {
  std::string path;
  std::int64_t number = 0;
  std::optional<double> metric;               ///< SaveOptions::metric
  std::optional<std::int64_t> step;           ///< SaveOptions::step
  std::chrono::system_clock::time_point time; ///< when it was saved
};

struct CheckpointManagerOptions {
  /// How many of the newest files stay; 0 keeps all.
  std::int64_t keep = 5;
  /// How many of those with the best metric stay besides.
  std::int64_t keep_best = 0;
  /// Whether the largest metric is the best: an accuracy rather than a loss.
  bool largest_is_best = false;
  /// When `save_if_due` saves: after that many steps, or after that time, whatever is given and
  /// comes first.
  std::optional<std::int64_t> every_steps = std::nullopt;
  std::optional<std::chrono::duration<double>> every = std::nullopt;
  /// Whether files are written by another thread while the program goes on.
  bool background = true;
};

struct SaveOptions {
  /// What `keep_best` compares. NaN is worse than any number.
  std::optional<double> metric = std::nullopt;
  std::optional<std::int64_t> step = std::nullopt;
};

struct RestoreOptions {
  /// Lets the file have more than the structure, and the structure more than the file.
  bool partial = false;
  /// Where the status of the restore goes, which warns of nothing.
  std::optional<RestoreStatus> *status = nullptr;
};

/// Numbered checkpoints in a folder: saves them while training goes on, keeps some, and restores
/// the newest that is whole. Several processes may save into one folder; each file has its number.
/// Threads may share one: a save waits for that of another thread. The child of a fork has its
/// folder, but not the save that is going on.
class CheckpointManager {
public:
  /// Makes the folder when it first saves. Removes what writers of before that were killed have
  /// left there. Throws ValueError for options that make no sense.
  explicit CheckpointManager(const std::string &folder,
                             const CheckpointManagerOptions &options = {},
                             std::source_location where = WEFT_HERE);
  /// Waits until what is being saved is there, and warns in the log if it failed.
  ~CheckpointManager();
  CheckpointManager(CheckpointManager &&) noexcept;
  CheckpointManager &operator=(CheckpointManager &&) noexcept;

  /// Saves the state at this moment, then removes the files that are not to be kept. Returns when
  /// the state is taken, which costs nothing but the memory of variables that are updated before
  /// the file is written; waits for the save before, if that goes on. Throws what that threw, and
  /// what `Checkpoint::save` throws.
  void save(const Checkpoint &what, const SaveOptions &options = {},
            std::source_location where = WEFT_HERE);
  /// Saves if `every_steps` or `every` says so; whether it has. Steps count from the last save, or
  /// from the checkpoint that was restored.
  bool save_if_due(const Checkpoint &what, std::int64_t step, SaveOptions options = {},
                   std::source_location where = WEFT_HERE);
  /// Returns when what is being saved is there. Throws what the save threw.
  void wait(std::source_location where = WEFT_HERE);

  /// Restores the newest checkpoint; nothing if there is none. Broken files are passed over, and
  /// the log warns of them. Throws IOError, before anything is changed, which lists what does not
  /// fit, or if there are checkpoints and all of them are broken.
  std::optional<CheckpointInfo> restore_latest(const Checkpoint &what,
                                               const RestoreOptions &options = {},
                                               std::source_location where = WEFT_HERE);
  /// The same for that with the best metric; nothing if none has one.
  std::optional<CheckpointInfo> restore_best(const Checkpoint &what,
                                             const RestoreOptions &options = {},
                                             std::source_location where = WEFT_HERE);

  /// Those that are there and whole, oldest first, when the save that is going on has ended.
  std::vector<CheckpointInfo> checkpoints(std::source_location where = WEFT_HERE);
  const std::string &folder() const;

private:
  std::unique_ptr<detail::ManagerState> state_;
};

/// What a model's weights are called in a file: by a map from their paths, where those that are not
/// in it keep theirs, or by a function of the path.
class WeightNames {
public:
  WeightNames() = default;
  WeightNames(std::initializer_list<std::pair<const std::string, std::string>> names)
      : WeightNames(std::map<std::string, std::string>(names)) {}
  WeightNames(std::map<std::string, std::string> names);
  template <class F>
    requires std::is_invocable_r_v<std::string, F &, const std::string &>
  WeightNames(F name) : name_(std::move(name)) {}

  std::string of(const std::string &path) const { return name_ ? name_(path) : path; }
  /// The paths that a map has, which a model must have.
  const std::vector<std::string> &paths() const { return paths_; }

private:
  std::vector<std::string> paths_;
  std::function<std::string(const std::string &)> name_;
};

struct LoadWeightsOptions {
  WeightNames names = {};
  /// Throws if the file has not just the weights of the model. Otherwise the status says what did
  /// not match.
  bool strict = true;
  /// Reads F16 and BF16 as f32, as SafetensorsOptions has it.
  bool widen = false;
};

namespace detail {
void save_weights(const std::string &path, const std::vector<nn::NamedVariable> &variables,
                  const std::source_location &where);
RestoreStatus load_weights(const std::string &path, std::vector<nn::NamedVariable> variables,
                           const LoadWeightsOptions &options, const std::source_location &where);
} // namespace detail

/// Writes the variables of a model by their paths, as a safetensors file without anything else.
/// Throws StateError if one has no value yet, and IOError.
template <class T>
void save_weights(const std::string &path, const T &model, std::source_location where = WEFT_HERE) {
  static_assert(nn::Model<T>, WEFT_MODEL_WANTED("save_weights"));
  if constexpr (nn::Model<T>) detail::save_weights(path, nn::named_variables(model), where);
}

/// Gives the variables of a model the values of a safetensors file, or of several with an index,
/// also one that another program has written. Weights that are transposed there are for the caller
/// to turn (load_safetensors). Variables without a shape take theirs when they are initialized.
/// Throws IOError, before anything is changed, which lists all that is missing, too much, or of
/// another dtype or shape.
template <class T>
RestoreStatus load_weights(const std::string &path, const T &model,
                           const LoadWeightsOptions &options = {},
                           std::source_location where = WEFT_HERE) {
  static_assert(nn::Model<T>, WEFT_MODEL_WANTED("load_weights"));
  std::vector<nn::NamedVariable> variables;
  if constexpr (nn::Model<T>) variables = nn::named_variables(model);
  return detail::load_weights(path, std::move(variables), options, where);
}

} // namespace weft

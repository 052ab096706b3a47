// Compares a structure with a file, and takes the values from there.

#include "Checkpoint/Checkpoint.h"
#include "IO/Safetensors.h"
#include "Runtime/Variable.h"
#include "Support/CallSite.h"
#include "Support/Log.h"
#include "Support/Messages.h"
#include <weft/ops.h>

namespace weft {

using namespace saved_names;

namespace {

using detail::PartCollector;
using detail::RestoreState;

/// What an error lists: all there is, but for files that have a million names to say nothing.
constexpr std::size_t kMostFaults = 1000;
/// What a warning lists, which only says to ask.
constexpr std::size_t kMostWarned = 10;

/// Up to `most` of them, and how many more there are.
std::string listed(const std::vector<std::string> &all, const char *separator, std::size_t most) {
  std::string text;
  for (std::size_t i = 0; i < std::min(all.size(), most); ++i)
    text += (i == 0 ? "" : separator) + all[i];
  if (all.size() > most) text += separator + ("and " + std::to_string(all.size() - most)) + " more";
  return text;
}

std::vector<std::string> quoted(const std::vector<std::string> &paths) {
  std::vector<std::string> all;
  for (const std::string &path : paths) all.push_back("'" + shown(path) + "'");
  return all;
}

/// A value for a variable: of a part that is longer than what the whole has for it, 0 behind that.
Tensor as_long_as(const Variable &variable, const Tensor &value) {
  if (variable.state()->piece() == nullptr) return value;
  const std::int64_t missing = variable.shape()[0] - value.size();
  if (missing == 0) return value;
  const Tensor parts[] = {value, zeros({missing}, value.dtype())};
  return concatenate(parts, {.axis = 0});
}

/// One restore: what goes where.
class Plan {
public:
  Plan(RestoreState &state, const PartCollector &parts) : state_(state), file_(*state.file) {
    for (const auto &part : parts.variables) compare(part);
    for (const auto &part : parts.tensors) compare(part);
    for (const auto &part : parts.numbers) compare(part);
    for (const auto &part : parts.states) compare(part);
    find_unused();
  }

  void check(const RestoreRules &rules) const {
    std::vector<std::string> faults = misfits_;
    if (rules.strict) {
      for (const std::string &path : missing_) faults.push_back(is_missing(path));
      for (const std::string &name : unused_)
        faults.push_back("'" + shown(name) + "' is in the file, but not here");
    }
    if (faults.empty()) return;
    throw MisfitError(file_.path() + ": does not fit what " + rules.function +
                      " was given: " + listed(faults, "; ", kMostFaults));
  }

  /// All that can fail comes first.
  void apply() {
    std::vector<Tensor> values = load_tensors(file_, wanted_, state_.loading);
    std::vector<Variable> held;
    for (const auto &[variable, value] : variables_) held.push_back(*variable);
    {
      const HeldVariables all(states_of(held));
      for (const auto &[variable, value] : variables_)
        if (variable->initialized()) variable->state()->store(as_long_as(*variable, values[value]));
    }
    for (const auto &[variable, value] : variables_)
      if (!variable->initialized()) variable->state()->keep_first(values[value]);
    for (const auto &[target, value] : tensors_) *target = values[value];
    for (const auto &[part, text] : numbers_) part->take(*text, true);
    for (const auto &[part, text] : states_) part->state->restore_state(*text);
    state_.done.insert(done_.begin(), done_.end());
    state_.used = used_;
    state_.missing = missing_;
    state_.unused = unused_;
    state_.waiting.insert(state_.waiting.end(), waiting_.begin(), waiting_.end());
  }

private:
  const std::string *text_of(std::string_view kind, const std::string &path) {
    const auto found = file_.metadata().find(std::string(kind) + path);
    return found == file_.metadata().end() ? nullptr : &found->second;
  }
  /// The tensor that a path has in the file, maybe by another one.
  const SafetensorsEntry *entry_of(const std::string &path) {
    const std::string name = state_.names.of(path);
    if (const SafetensorsEntry *entry = file_.find(name)) return entry;
    const std::string *const other = text_of(kAlias, name);
    return other == nullptr ? nullptr : file_.find(*other);
  }
  /// Whether the file says that the path had no value.
  bool was_unset(const std::string &path) {
    const std::string *const other = text_of(kAlias, path);
    for (const std::string *one : {&path, other})
      if (one != nullptr && text_of(kUnset, *one) != nullptr) return true;
    return false;
  }
  std::size_t want(const SafetensorsEntry &entry) {
    used_.insert(entry.name);
    wanted_.push_back(entry.name);
    return wanted_.size() - 1;
  }
  /// Of what a variable is a piece of, just that is read.
  std::size_t want(const SafetensorsEntry &entry, const Variable &variable) {
    const VariablePiece *const piece = variable.state()->piece();
    const std::size_t number = want(entry);
    if (piece != nullptr)
      wanted_.back().run = {piece->begin, piece->begin + piece->elements(variable.shape()[0])};
    return number;
  }

  void compare(const PartCollector::VariablePart &part) {
    const auto &[paths, variable] = part;
    const SafetensorsEntry *entry = nullptr;
    for (std::size_t i = 0; i < paths.size() && entry == nullptr; ++i) entry = entry_of(paths[i]);
    if (state_.done.contains(paths[0])) return;
    if (entry == nullptr) {
      // Without a value here either, there is nothing to lose.
      if (variable.initialized()) missing_.push_back(paths[0]);
      return;
    }
    const std::optional<DType> dtype = loaded_dtype(entry->dtype, state_.loading);
    const bool has_shape = variable.initialized();
    const VariablePiece *const piece = variable.state()->piece();
    const Shape shape = piece != nullptr ? piece->whole : has_shape ? variable.shape() : Shape();
    if (dtype != variable.dtype() || (has_shape && entry->shape != shape)) {
      const std::string own = has_shape ? to_string(TensorType{variable.dtype(), shape})
                                        : std::string(name_of(variable.dtype())) + " of any shape";
      misfits_.push_back("'" + paths[0] + "' is " + own + ", but in the file " +
                         (dtype ? to_string(TensorType{*dtype, entry->shape})
                                : shown(entry->dtype) + to_string(entry->shape)));
    }
    // What does not fit is not read.
    variables_.emplace_back(&variable, misfits_.empty() ? want(*entry, variable) : want(*entry));
    if (!has_shape) waiting_.emplace_back(paths[0], variable);
    done_.insert(paths[0]);
  }
  void compare(const PartCollector::TensorPart &part) {
    const SafetensorsEntry *const entry = entry_of(part.path);
    if (state_.done.contains(part.path)) return;
    if (entry == nullptr) {
      if (part.target != nullptr && part.value.defined() && !was_unset(part.path))
        missing_.push_back(part.path);
      return;
    }
    done_.insert(part.path);
    if (part.target == nullptr) used_.insert(entry->name);
    else if (!loaded_dtype(entry->dtype, state_.loading))
      misfits_.push_back("'" + part.path + "' is " + shown(entry->dtype) +
                         " in the file, which Weft lacks");
    else tensors_.emplace_back(part.target, want(*entry));
  }
  void compare(const PartCollector::NumberPart &part) {
    if (state_.done.contains(part.path)) return;
    const std::string *const text = text_of(kNumber, part.path);
    if (text == nullptr) {
      if (part.take != nullptr) missing_.push_back(part.path);
      return;
    }
    done_.insert(part.path);
    used_.insert(part.path);
    if (part.take == nullptr) return;
    if (!part.take(*text, false))
      misfits_.push_back("'" + part.path + "' is " + part.text + ", but in the file '" +
                         shown(*text) + "', which its type cannot hold");
    numbers_.emplace_back(&part, text);
  }
  void compare(const PartCollector::StatePart &part) {
    if (state_.done.contains(part.path)) return;
    const std::string *const text = text_of(kState, part.path);
    if (text == nullptr) return missing_.push_back(part.path);
    done_.insert(part.path);
    used_.insert(part.path);
    try {
      part.state->check_state(*text);
    } catch (const ValueError &error) {
      misfits_.push_back("'" + part.path + "': " + std::string(error.message()));
    }
    states_.emplace_back(&part, text);
  }

  void find_unused() {
    used_.insert(state_.used.begin(), state_.used.end());
    for (const SafetensorsEntry &entry : file_.entries())
      if (!used_.contains(entry.name)) unused_.push_back(entry.name);
    for (const std::string_view kind : {kNumber, kState})
      for (const auto &[name, text] : file_.metadata())
        if (name.starts_with(kind) && !used_.contains(name.substr(kind.size())))
          unused_.push_back(name.substr(kind.size()));
  }
  std::string is_missing(const std::string &path) const {
    const std::string name = state_.names.of(path);
    if (name == path) return "'" + path + "' is not in the file" + near_miss(path);
    return "'" + shown(name) + "', which '" + path + "' is to be there, is not in the file" +
           near_miss(name);
  }
  /// What may have been meant: an unused name with the same last part, if there is just one.
  std::string near_miss(const std::string &path) const {
    const auto last = [](const std::string &name) { return name.substr(name.rfind('.') + 1); };
    const std::string *found = nullptr;
    for (const std::string &name : unused_) {
      if (last(name) != last(path)) continue;
      if (found != nullptr) return {};
      found = &name;
    }
    return found == nullptr ? std::string() : " (is it '" + shown(*found) + "' there?)";
  }

  RestoreState &state_;
  const SafetensorsFile &file_;
  std::vector<WantedTensor> wanted_; ///< of the file, which the numbers below count
  std::vector<std::pair<const Variable *, std::size_t>> variables_;
  std::vector<std::pair<Tensor *, std::size_t>> tensors_;
  std::vector<std::pair<const PartCollector::NumberPart *, const std::string *>> numbers_;
  std::vector<std::pair<const PartCollector::StatePart *, const std::string *>> states_;
  std::vector<std::pair<std::string, Variable>> waiting_;
  std::vector<std::string> misfits_, missing_, unused_;
  std::set<std::string> done_, used_;
};

} // namespace

void restore_parts(RestoreState &state, const RestoreRules &rules) {
  const PartCollector parts = collect_parts(rules.function, state.parts);
  Plan plan(state, parts);
  plan.check(rules);
  plan.apply();
}

void initialize_waiting(const char *function, const std::vector<CheckpointPart> &parts) {
  for (const auto &[paths, variable] : collect_parts(function, parts).variables)
    if (const std::optional<Shape> shape = variable.state()->kept_shape())
      variable.initialize(*shape);
}

detail::RestoreState::~RestoreState() {
  if (quiet || !file) return;
  std::string words;
  if (!missing.empty())
    words += " The file has no " + listed(quoted(missing), ", ", kMostWarned) + ".";
  if (!unused.empty())
    words += " Nothing here is called " + listed(quoted(unused), ", ", kMostWarned) + ".";
  if (words.empty()) return;
  try {
    warn_line(file->path() + ": not all of it was restored." + words +
              " Ask the status for it, or call expect_partial().");
  } catch (...) { // the user's sink, whose faults a destructor cannot hand on
    return;
  }
}

// RestoreStatus.

RestoreStatus::RestoreStatus(std::shared_ptr<RestoreState> state) : state_(std::move(state)) {}
RestoreStatus::RestoreStatus(RestoreStatus &&) noexcept = default;
RestoreStatus &RestoreStatus::operator=(RestoreStatus &&) noexcept = default;
RestoreStatus::~RestoreStatus() = default;

RestoreStatus RestoreStatus::shared() const { return RestoreStatus(state_); }

void RestoreStatus::restore_into(std::vector<CheckpointPart> parts) {
  std::swap(state_->parts, parts);
  // What came later and is not in the file is as it was created.
  std::vector<std::string> missing = state_->missing;
  const auto restored = [&] {
    state_->missing = std::move(missing);
    std::erase_if(state_->missing, [&](const auto &path) { return state_->done.contains(path); });
    std::swap(state_->parts, parts);
  };
  try {
    restore_parts(*state_, {.function = "Checkpoint::restore"});
  } catch (...) {
    restored();
    throw;
  }
  restored();
}

std::vector<std::string> RestoreStatus::missing() const { return state_->missing; }
std::vector<std::string> RestoreStatus::unused() const { return state_->unused; }
std::vector<std::string> RestoreStatus::waiting() const {
  std::vector<std::string> paths;
  for (const auto &[path, variable] : state_->waiting)
    if (variable.state()->waits()) paths.push_back(path);
  return paths;
}

namespace {

/// Restores what has come since; throws AssertionError if there was nothing to restore from.
void bring_up_to_date(RestoreState &state, const char *function) {
  state.quiet = true;
  if (!state.file)
    throw AssertionError(std::string(function) + ": there was no checkpoint to restore");
  restore_parts(state, {.function = function});
}

/// Throws AssertionError if there is something to complain of.
void check_empty(const RestoreState &state, const char *function,
                 const std::vector<std::string> &faults) {
  if (!faults.empty())
    throw AssertionError(std::string(function) + ": " + state.file->path() + ": " +
                         listed(faults, "; ", kMostFaults));
}

} // namespace

RestoreStatus &RestoreStatus::assert_consumed(std::source_location where) {
  const CallSite site(where);
  bring_up_to_date(*state_, "assert_consumed");
  std::vector<std::string> faults;
  for (const std::string &name : state_->unused)
    faults.push_back("'" + shown(name) + "' is in the file, but not here");
  for (const std::string &path : waiting())
    faults.push_back("'" + path + "' has its value, but is not initialized yet");
  for (const std::string &path : state_->missing)
    faults.push_back("'" + path + "' is not in the file");
  check_empty(*state_, "assert_consumed", faults);
  return *this;
}

RestoreStatus &RestoreStatus::assert_existing_objects_matched(std::source_location where) {
  const CallSite site(where);
  bring_up_to_date(*state_, "assert_existing_objects_matched");
  std::vector<std::string> faults;
  for (const std::string &path : state_->missing)
    faults.push_back("'" + path + "' is not in the file");
  check_empty(*state_, "assert_existing_objects_matched", faults);
  return *this;
}

RestoreStatus &RestoreStatus::assert_nontrivial_match(std::source_location where) {
  const CallSite site(where);
  bring_up_to_date(*state_, "assert_nontrivial_match");
  if (state_->done.empty())
    check_empty(*state_, "assert_nontrivial_match", {"nothing in the file is here"});
  return *this;
}

RestoreStatus &RestoreStatus::expect_partial() {
  state_->quiet = true;
  return *this;
}

} // namespace weft

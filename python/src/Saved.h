// What a checkpoint has of Python: structures under names, and their numbers and texts.
#pragma once

#include "Foreign.h"
#include "Parts.h"

#include <deque>
#include <variant>
#include <vector>

#include <weft/checkpoint.h>

namespace weft::python {

/// Structures of Python as the parts of a checkpoint, which refer to it. It lives for one save or
/// restore, and as long as its status.
class SavedParts {
public:
  SavedParts() = default;
  SavedParts(const SavedParts &) = delete;
  SavedParts &operator=(const SavedParts &) = delete;

  /// A structure under a name, or one whose parts have names enough if that is empty. The numbers
  /// and texts that are entries of a dict or fields of a dataclass, or attributes of a Module that
  /// has no name here, are saved and restored as well. Throws TypeError for what is none.
  void add(const std::string &name, nb::handle object);
  std::vector<CheckpointPart> parts() const { return parts_; }
  Checkpoint checkpoint() const { return Checkpoint(parts_); }
  /// Visits the objects of Python, as `tp_traverse` does.
  int traverse(visitproc visit, void *arg) const;
  /// Puts what was restored into the attributes and entries that it was read from.
  void write_back();

private:
  using Value = std::variant<bool, std::int64_t, double, std::string>;
  struct Number {
    nb::object owner, key;
    Value value, before;
  };
  void add_number(const std::string &path, nb::handle owner, nb::handle key, nb::handle value);

  std::deque<PythonParts> structures_;
  std::deque<Number> numbers_;
  std::vector<CheckpointPart> parts_;
};

/// What a restore gave, and whose parts it looks into when it is asked.
struct BoundStatus final : RestoreStatus {
  using Initialized = void; // see Initialized.h
  explicit BoundStatus(RestoreStatus status, nb::object of = {})
      : RestoreStatus(std::move(status)), saved(std::move(of)) {}

  nb::object saved;     ///< SavedParts
  bool cleared = false; ///< by the collector, with these
};

void define_checkpoints(nb::module_ &module);

} // namespace weft::python

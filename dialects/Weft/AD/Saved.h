// What the derivatives of a module store for their reverse parts, noted for the report.
#pragma once

#include <vector>

#include "Weft/IR/Weft.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include <weft/phase.h>

namespace mlir::weft {

/// The notes of one derivative that is being expanded. What an inner op keeps may be kept by an
/// outer loop in turn: then it is one note, and more copies.
class Saved {
public:
  using Form = ::weft::SavedNote::Form;

  explicit Saved(std::string function) : function(std::move(function)) {}

  /// `value` is kept `times` times (-1: unknown) since `reason`, and behind its op `holder` has it,
  /// or null where that is the value itself. If the value holds what an inner op keeps, it is that.
  void keep(Form form, Value value, int64_t times, std::string reason, Value holder);
  /// The value says where others lie, and is no note of its own.
  void hide(Value value) { holders[value]; }
  /// Whether the value is there only to hold others.
  bool isHolder(Value value) const { return holders.contains(value); }
  /// `to` stands for `from`, which is about to be erased.
  void follow(Value from, Value to);

  /// How many notes there are, and back to so many: the reverse that they were for is gone.
  size_t count() const { return notes.size(); }
  void truncate(size_t count);

  std::vector<::weft::SavedNote> take() { return std::move(notes); }

private:
  std::string function;
  std::vector<::weft::SavedNote> notes;
  DenseMap<Value, SmallVector<size_t, 1>> holders; ///< the notes behind each
};

/// "weft.tanh", or "state 1 of scf.while".
std::string nameForReport(Value value);

/// The notes as an attribute that a module can carry, and back.
ArrayAttr attributeOf(ArrayRef<::weft::SavedNote> notes, MLIRContext *context);
std::vector<::weft::SavedNote> savedNotesOf(ArrayAttr attribute);

/// The attribute of a module with the notes on its derivatives.
inline constexpr llvm::StringLiteral savedNotesName = "weft.saved";

} // namespace mlir::weft

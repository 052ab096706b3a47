// Sources that hold all of their elements in memory: rows of arrays.
#pragma once

#include <cstddef>

#include "Data/Stage.h"
#include <weft/dtype.h>

namespace weft::data::detail {

/// How an array's elements lie in memory.
enum class Stored : std::uint8_t { as_dtype, u8, i8, i16 };

/// An array whose rows, the slices along its first axis, are parts of elements.
struct Column {
  std::shared_ptr<const void> owner; ///< of what data is of
  const std::byte *data = nullptr;   ///< row-major
  Stored stored = Stored::as_dtype;
  DType stored_dtype = DType::f32; ///< of Stored::as_dtype
  std::int64_t rows = 0;
  Shape row; ///< of one
  /// What they become: floating elements are multiplied by `scale`.
  DType dtype = DType::f32;
  double scale = 1;
};

/// Columns that are the tensors. Throws ShapeError if one has no axis, StateError for one that is
/// undefined or of a trace.
std::vector<Column> columns_of(std::span<const Tensor> tensors);

/// The rows of the columns side by side. Throws ShapeError, beginning with `function`, unless all
/// have as many. `file` is what they are from, for messages and states.
StagePointer make_arrays(std::string function, std::string file, std::vector<Column> columns,
                         std::shared_ptr<const Form> form = nullptr);

} // namespace weft::data::detail

// Reading data sets from files.
#pragma once

#include <optional>
#include <string>

#include <weft/tensor.h>

namespace weft::data {

struct IdxOptions {
  /// The dtype to convert the elements to; by default integers up to 32 bits become i32, and f32
  /// and f64 stay what they are.
  std::optional<DType> dtype;
};

/// Reads an IDX file, the format of MNIST: `read_idx("digits-images.idx3-ubyte", {.dtype = f32})`
/// has shape (1797, 8, 8). Throws IOError, naming the file and what is wrong with it, for a file
/// that is missing, compressed, truncated, too long, or no IDX file.
Tensor read_idx(const std::string &path, IdxOptions options = {},
                std::source_location where = WEFT_HERE);

} // namespace weft::data

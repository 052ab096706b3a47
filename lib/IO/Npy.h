// The format .npy: its header, a Python dictionary literal with three known keys, and arrays in
// memory, as members of archives are.
#pragma once

#include <string>
#include <string_view>

#include "Support/Fault.h"
#include <weft/shape.h>
#include <weft/tensor.h>

namespace weft {

struct NpyHeader {
  TensorType type;
  bool fortran_order = false;
};

/// Parses "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }". Faults say what is wrong,
/// without the file's name.
Result<NpyHeader> parse_npy_header(std::string_view text);

/// The header of a contiguous tensor, with magic, version 1, length and padding: the elements start
/// at a multiple of 64 bytes.
std::string make_npy_header(const TensorType &type);

/// The array that is all of `bytes`. Throws IOError, which begins with `name`.
Tensor read_npy_bytes(std::string_view bytes, const std::string &name);

} // namespace weft

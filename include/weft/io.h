// Files of tensors: NumPy's .npy.
#pragma once

#include <string>

#include <weft/tensor.h>

namespace weft {

/// Reads a .npy file (versions 1 to 3; little-endian elements of Weft's dtypes, in C or Fortran
/// order). Throws IOError, naming the file and what is wrong with it, OutOfMemory if it does not
/// fit.
Tensor load_npy(const std::string &path);

/// Writes a tensor as a .npy file of version 1, in C order. The file appears as a whole or not at
/// all: it is written under another name beside, made durable, and renamed. Throws IOError.
void save_npy(const std::string &path, const Tensor &tensor);

} // namespace weft

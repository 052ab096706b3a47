// Files of tensors: NumPy's .npy.
#pragma once

#include <string>
#include <string_view>

#include <weft/tensor.h>

namespace weft {

/// Reads a .npy file (versions 1 to 3; little-endian elements of Weft's dtypes, in C or Fortran
/// order). Throws IOError, naming the file and what is wrong with it, or that it is no regular file
/// but a pipe, a device or a folder; OutOfMemory if it does not fit.
Tensor load_npy(const std::string &path, std::source_location where = WEFT_HERE);

/// Writes a tensor as a .npy file of version 1, in C order. The file appears as a whole or not at
/// all: it is written under another name beside, made durable, and renamed. A file that is there
/// already keeps its mode (other hard links of it keep the old content), a symbolic link stays, and
/// what it leads to is written; a device or a pipe is written to. Throws IOError, also for a file
/// that is read-only and beyond the process's limit on the size of files.
void save_npy(const std::string &path, const Tensor &tensor,
              std::source_location where = WEFT_HERE);

/// The array whose .npy file is all of `bytes`, such as the body of a request. Throws IOError that
/// says what is wrong with it, before memory is taken for more elements than follow.
Tensor decode_npy(std::string_view bytes, std::source_location where = WEFT_HERE);

/// The bytes of the file that `save_npy` would write. Throws StateError for a tensor without
/// elements of its own: an undefined or a traced one.
std::string encode_npy(const Tensor &tensor, std::source_location where = WEFT_HERE);

} // namespace weft

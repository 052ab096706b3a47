// The CUDA driver's functions, found at run time.
#pragma once

#include <string>

#include "Cuda/Driver.h"

namespace weft::cuda {

/// Pointers to them.
struct Functions {
#define WEFT_CUDA_FUNCTION(name, symbol, version, parameters) CUresult(*name) parameters = nullptr;
#include "Cuda/Functions.def"
#undef WEFT_CUDA_FUNCTION
};

} // namespace weft::cuda

namespace weft::device {

/// The lowest version that will do: it takes PTX 8.0.
inline constexpr int kLeastDriver = 12000;

/// A driver that was opened.
struct Driver : cuda::Functions {
  int version = 0; ///< 12040 for CUDA 12.4
  bool graphs = false, conditional_nodes = false, tensor_maps = false;
};

/// `libcuda.so.1`, or what the environment variable WEFT_CUDA_DRIVER names; opened by the first
/// call. Null if there is none or it is too old, or finds no GPU, with the reason in `why`.
const Driver *open_driver(std::string &why);

/// "CUDA_ERROR_INVALID_VALUE: invalid argument".
std::string words(const Driver &driver, cuda::CUresult result);

} // namespace weft::device

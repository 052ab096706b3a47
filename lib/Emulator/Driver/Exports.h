// The driver's functions as this library exports them.
#pragma once

#include "Cuda/Driver.h"

namespace weft::cuda {
extern "C" {
#define WEFT_CUDA_FUNCTION(name, symbol, version, parameters)                                      \
  __attribute__((visibility("default"))) CUresult symbol parameters;
#include "Cuda/Functions.def"
#undef WEFT_CUDA_FUNCTION
}
} // namespace weft::cuda
